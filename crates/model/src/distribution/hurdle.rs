//! Counts whose zeros have a separate probability.

use lehr_graph::{Expr, Graph};
use rand::Rng;

use super::family::ScalarFamily;
use super::gate::{self, GateFamily, behind_gate, gate_families};
use super::{Distribution, NegativeBinomial, Poisson, Value};
use super::{negative_binomial, poisson};

/// How often a count above 0 is drawn before it is set to 1, which it then almost surely is.
const MOST_DRAWS: usize = 10_000;

/// Counts that can be truncated at zero.
pub trait ZeroTruncatable<'g>: Distribution<'g> {
    /// The family of the hurdle form.
    fn hurdle_family(&self) -> &'static GateFamily;
}

gate_families! {
    ZeroTruncatable::hurdle_family, above_zero,
    POISSON is "Hurdle Poisson" of Poisson by poisson::FAMILY;
    NEGATIVE_BINOMIAL is "Hurdle NegativeBinomial" of NegativeBinomial by negative_binomial::FAMILY;
}

/// Zero with a separate probability, else a positive count.
#[derive(Clone, Debug)]
pub struct Hurdle<'g, D> {
    base: D,
    gate: Value<'g>,
}

impl<'g, D: ZeroTruncatable<'g>> Hurdle<'g, D> {
    /// Zero with probability 1/(1 + e^−gate), else a count of `base` that is above 0.
    pub fn with_gate_logit(base: D, gate: impl Into<Value<'g>>) -> Self {
        Hurdle {
            base,
            gate: gate.into(),
        }
    }

    /// ln P(base > 0)
    fn log_above(&self, graph: &'g Graph) -> Expr<'g> {
        let zeros = graph.full(self.base.value_shape(), 0.0);
        let at_zero = self.base.log_density(zeros);
        (-at_zero.expm1()).ln()
    }
}

impl<'g, D: ZeroTruncatable<'g>> Distribution<'g> for Hurdle<'g, D> {
    behind_gate!(hurdle_family);

    /// gate − softplus(gate) at zero, else ln p(y) − ln P(base > 0) − softplus(gate)
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let gate = self.gate.on_graph(graph);
        let above = self.base.log_density(x) - self.log_above(graph);
        let zero = x.equal(graph.scalar(0.0));
        zero.select(gate, above) - gate.softplus()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let share = (-self.gate.on_graph(graph)).sigmoid() / self.log_above(graph).exp();
        Some(self.base.mean(graph)? * share)
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let share = (-self.gate.on_graph(graph)).sigmoid() / self.log_above(graph).exp();
        let mean = self.base.mean(graph)?;
        let squares = (self.base.variance(graph)? + mean.square()) * share;
        Some(squares - (mean * share).square())
    }
}

/// Zero if the gate is closed, else a positive count of the base.
fn above_zero(zero: f64, base: &ScalarFamily, own: &[&[f64]], rng: &mut dyn Rng) -> f64 {
    if zero != 0.0 {
        return if zero == 1.0 { 0.0 } else { f64::NAN };
    }
    for _ in 0..MOST_DRAWS {
        let count = base.number(own, rng);
        if count != 0.0 {
            return count;
        }
    }
    1.0
}
