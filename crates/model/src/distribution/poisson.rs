//! The Poisson distribution.

use lehr_density::ResponseKind;
use lehr_graph::{Expr, Graph};

use super::draw::sample_poisson;
use super::elementwise::elementwise;
use super::family::ScalarFamily;
use super::tail::{CumulativeDistribution, Limits, log_difference};
use super::tail_family::{TailFamilies, poisson_within};
use super::value::PositiveValue;
use super::{Distribution, Outcome, Value};

/// Counts of rare events.
#[derive(Clone, Debug)]
pub struct Poisson<'g> {
    rate: PositiveValue<'g>,
}

impl<'g> Poisson<'g> {
    /// Counts with mean e to the power `log_rate`.
    pub fn with_log_rate(log_rate: impl Into<Value<'g>>) -> Self {
        Poisson {
            rate: PositiveValue::Log(log_rate.into()),
        }
    }

    /// Counts with mean `rate`.
    pub fn with_rate(rate: impl Into<Value<'g>>) -> Self {
        Poisson {
            rate: PositiveValue::Number(rate.into()),
        }
    }
}

impl<'g> Distribution<'g> for Poisson<'g> {
    elementwise!(derived rate: require_positive_value);

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, ResponseKind::Count, None)
    }

    /// y ln λ − λ − ln y!
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let [rate, log_rate] = self.rate.with_log(x.graph());
        x * log_rate - rate - (x + 1.0).lgamma()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.rate.with_log(graph)[0])
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        self.mean(graph)
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        vec![("rate", self.rate.with_log(graph)[0])]
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Poisson",
    draw: |p, rng| sample_poisson(p[0], rng),
};

impl<'g> CumulativeDistribution<'g> for Poisson<'g> {
    fn log_below(&self, x: Expr<'g>) -> Expr<'g> {
        let [_, log_rate] = self.rate.with_log(x.graph());
        (x + 1.0).gamma_log_above(log_rate)
    }

    fn log_above(&self, x: Expr<'g>) -> Expr<'g> {
        let [_, log_rate] = self.rate.with_log(x.graph());
        (x + 1.0).gamma_log_below(log_rate)
    }

    /// A difference in the tail in which both terms are small; there is no mass below 0.
    fn log_between(&self, low: Expr<'g>, high: Expr<'g>) -> Expr<'g> {
        let graph = low.graph();
        let [rate, _] = self.rate.with_log(graph);
        let zero = graph.scalar(0.0);
        let inside = low.max(zero);
        // If the difference is empty, the branch that is not taken gets a proper one.
        let end = high.max(inside + 1.0);
        let is_upper = rate.less((inside + end) * 0.5);
        let near = is_upper.select(self.log_above(inside), self.log_below(end));
        let far = is_upper.select(self.log_above(end), self.log_below(inside));
        (low.less(zero)).select(self.log_below(high), log_difference(near, far))
    }

    fn below_bound(&self, bound: Expr<'g>) -> Expr<'g> {
        bound - 1.0
    }

    /// E y = λ P(low − 1 ≤ y ≤ high − 1)/P(within), and similarly for y (y − 1).
    fn moments_within(&self, graph: &'g Graph, limits: &Limits<'g>) -> [Expr<'g>; 2] {
        let [_, log_rate] = self.rate.with_log(graph);
        let log_mass = limits.log_mass(graph, self);
        let moment = |k: f64| {
            let moved = limits.map(graph, |end| end - k);
            (log_rate * k + moved.log_mass(graph, self) - log_mass).exp()
        };
        let mean = moment(1.0);
        let spread = moment(2.0) + mean - mean.square();
        [mean, spread.max(graph.scalar(0.0))]
    }

    fn tails(&self) -> &'static TailFamilies {
        &TAILS
    }
}

pub(super) static TAILS: TailFamilies = TailFamilies::of(
    &FAMILY,
    ["Censored Poisson", "Truncated Poisson"],
    |own, ends, rng| poisson_within(own[0][0], ends, rng),
);
