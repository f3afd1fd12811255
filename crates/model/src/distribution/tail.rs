//! Distributions of numbers with closed-form distribution functions, as censoring and truncation
//! need.

use lehr_graph::{Expr, Graph};

use super::tail_family::TailFamilies;
use super::{Distribution, Value};

/// A distribution of single numbers with a distribution function.
pub trait CumulativeDistribution<'g>: Distribution<'g> {
    /// ln P(y ≤ x).
    fn log_below(&self, x: Expr<'g>) -> Expr<'g>;

    /// ln P(y > x).
    fn log_above(&self, x: Expr<'g>) -> Expr<'g>;

    /// ln P(low < y ≤ high), where low < high.
    fn log_between(&self, low: Expr<'g>, high: Expr<'g>) -> Expr<'g>;

    /// The number that y must exceed for y ≥ `bound`: the bound itself for continuous
    /// distributions, one less for counts.
    fn below_bound(&self, bound: Expr<'g>) -> Expr<'g> {
        bound
    }

    /// The mean and the variance between limits.
    fn moments_within(&self, graph: &'g Graph, limits: &Limits<'g>) -> [Expr<'g>; 2];

    /// The families of the censored and the truncated form.
    fn tails(&self) -> &'static TailFamilies;
}

/// The limits of a number; `None` means no limit.
#[derive(Clone, Debug)]
pub struct Limits<'g> {
    /// The lower limit.
    pub low: Option<Value<'g>>,
    /// The upper limit.
    pub high: Option<Value<'g>>,
}

impl<'g> Limits<'g> {
    /// Infinite numbers mean no limit.
    pub(super) fn new(low: Value<'g>, high: Value<'g>) -> Limits<'g> {
        let finite = |value: Value<'g>| match value.constant_values()[..] {
            [only] if only.is_infinite() => None,
            _ => Some(value),
        };
        let [low, high] = [low, high].map(finite);
        Limits { low, high }
    }

    /// Both limits as arrays.
    pub(super) fn on_graph(&self, graph: &'g Graph) -> [Option<Expr<'g>>; 2] {
        let one = |value: &Option<Value<'g>>| value.as_ref().map(|value| value.on_graph(graph));
        [one(&self.low), one(&self.high)]
    }

    /// The logarithm of the probability between them.
    pub(super) fn log_mass(
        &self,
        graph: &'g Graph,
        base: &impl CumulativeDistribution<'g>,
    ) -> Expr<'g> {
        match self.on_graph(graph) {
            [None, None] => graph.scalar(0.0),
            [Some(low), None] => base.log_above(base.below_bound(low)),
            [None, Some(high)] => base.log_below(high),
            [Some(low), Some(high)] => base.log_between(base.below_bound(low), high),
        }
    }

    /// The limits moved by a change of variable.
    pub(super) fn map(&self, graph: &'g Graph, change: impl Fn(Expr<'g>) -> Expr<'g>) -> Self {
        let moved = |limit: Option<Expr<'g>>| limit.map(|limit| Value::Expr(change(limit)));
        let [low, high] = self.on_graph(graph).map(moved);
        Limits { low, high }
    }
}

/// ln(eᵃ − eᵇ) for a > b. It and its slopes stay finite even if rounding leaves no difference.
pub(super) fn log_difference<'g>(a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    let gap = (a - b).max(a.graph().scalar(1e-300));
    a + (-(-gap).expm1()).ln()
}

/// ln(1 − exp(−eˢ)), accurate for tiny and huge eˢ, with finite slopes.
pub(super) fn log_hit(s: Expr<'_>) -> Expr<'_> {
    let graph = s.graph();
    let zero = graph.scalar(0.0);
    // Each branch is clamped to the range where it is finite.
    let little = s.min(zero).exp().max(graph.scalar(1e-300));
    let low = s + (-(-little).expm1() / little).ln();
    let much = s.max(zero).min(graph.scalar(600.0)).exp();
    let high = (-(-much).exp()).log1p();
    s.less(zero).select(low, high)
}
