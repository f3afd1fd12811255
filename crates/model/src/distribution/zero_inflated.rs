//! Counts with excess zeros.

use lehr_graph::{Expr, Graph};
use rand::Rng;

use super::family::ScalarFamily;
use super::gate::{self, GateFamily, behind_gate, gate_families};
use super::{Binomial, Distribution, NegativeBinomial, Poisson, Value};
use super::{binomial, negative_binomial, poisson};

/// A distribution of counts that may be zero-inflated.
pub trait ZeroInflatable<'g>: Distribution<'g> {
    /// The family of the zero-inflated form.
    fn inflated_family(&self) -> &'static GateFamily;
}

gate_families! {
    ZeroInflatable::inflated_family, or_zero,
    BINOMIAL is "ZeroInflated Binomial" of Binomial by binomial::FAMILY;
    POISSON is "ZeroInflated Poisson" of Poisson by poisson::FAMILY;
    NEGATIVE_BINOMIAL is "ZeroInflated NegativeBinomial" of NegativeBinomial by negative_binomial::FAMILY;
}

/// Zero with the gate's probability, else a count of the base.
#[derive(Clone, Debug)]
pub struct ZeroInflated<'g, D> {
    base: D,
    gate: Value<'g>,
}

impl<'g, D: ZeroInflatable<'g>> ZeroInflated<'g, D> {
    /// Excess zeros with probability 1/(1 + e^−gate), else a count of `base`.
    pub fn with_gate_logit(base: D, gate: impl Into<Value<'g>>) -> Self {
        ZeroInflated {
            base,
            gate: gate.into(),
        }
    }
}

impl<'g, D: ZeroInflatable<'g>> Distribution<'g> for ZeroInflated<'g, D> {
    behind_gate!(inflated_family);

    /// ln p(y) − softplus(gate), and at zero ln(e^gate + p(0)) − softplus(gate)
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (base, gate) = (self.base.log_density(x), self.gate.on_graph(x.graph()));
        let at_zero = gate + (base - gate).softplus();
        let zero = x.equal(x.graph().scalar(0.0));
        zero.select(at_zero, base) - gate.softplus()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let open = (-self.gate.on_graph(graph)).sigmoid();
        Some(self.base.mean(graph)? * open)
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (gate, mean) = (self.gate.on_graph(graph), self.base.mean(graph)?);
        let within = self.base.variance(graph)? + mean.square() * gate.sigmoid();
        Some(within * (-gate).sigmoid())
    }
}

/// Zero if the gate is closed, else a count of the base.
fn or_zero(zero: f64, base: &ScalarFamily, own: &[&[f64]], rng: &mut dyn Rng) -> f64 {
    let count = base.number(own, rng);
    if zero == 1.0 {
        0.0
    } else if zero.is_nan() {
        f64::NAN
    } else {
        count
    }
}
