//! Counts with excess zeros.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::draw::bernoulli;
use super::gate;
use super::value::joint_shape;
use super::{Binomial, Distribution, NegativeBinomial, ParameterError, Poisson, Value};
use super::{binomial, negative_binomial, poisson};

/// A distribution of counts that may be zero-inflated.
pub trait Count<'g>: Distribution<'g> {
    /// The family of the zero-inflated form.
    fn inflated(&self) -> &'static InflatedFamily;
}

/// Draws of a zero-inflated distribution of counts.
pub struct InflatedFamily {
    name: &'static str,
    base: &'static dyn Family,
}

macro_rules! inflated {
    ($count:ident, $inflated:ident, $name:literal, $base:path) => {
        pub(super) static $inflated: InflatedFamily = InflatedFamily {
            name: $name,
            base: &$base,
        };

        impl<'g> Count<'g> for $count<'g> {
            fn inflated(&self) -> &'static InflatedFamily {
                &$inflated
            }
        }
    };
}

inflated!(
    Binomial,
    BINOMIAL,
    "ZeroInflated Binomial",
    binomial::FAMILY
);
inflated!(Poisson, POISSON, "ZeroInflated Poisson", poisson::FAMILY);
inflated!(
    NegativeBinomial,
    NEGATIVE_BINOMIAL,
    "ZeroInflated NegativeBinomial",
    negative_binomial::FAMILY
);

/// Zero with the gate's probability, else a count of the base.
#[derive(Clone, Debug)]
pub struct ZeroInflated<'g, D> {
    base: D,
    gate: Value<'g>,
}

impl<'g, D: Count<'g>> ZeroInflated<'g, D> {
    /// Excess zeros with probability 1/(1 + e^−gate), else a count of `base`.
    pub fn with_gate_logit(base: D, gate: impl Into<Value<'g>>) -> Self {
        ZeroInflated {
            base,
            gate: gate.into(),
        }
    }
}

impl<'g, D: Count<'g>> Distribution<'g> for ZeroInflated<'g, D> {
    fn name(&self) -> &'static str {
        self.base.inflated().name
    }

    fn shape(&self) -> Shape {
        let base = self.base.shape();
        joint_shape(&[&self.gate]).broadcast(base).unwrap_or(base)
    }

    fn kind(&self) -> ResponseKind {
        self.base.kind()
    }

    fn support(&self) -> Option<Support> {
        None
    }

    /// ln p(y) − softplus(gate), and at zero ln(e^gate + p(0)) − softplus(gate)
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (base, gate) = (self.base.log_density(x), self.gate.on(x.graph()));
        let at_zero = gate + (base - gate).softplus();
        let zero = x.equal(x.graph().scalar(0.0));
        zero.select(at_zero, base) - gate.softplus()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let open = (-self.gate.on(graph)).sigmoid();
        Some(self.base.mean(graph)? * open)
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (gate, mean) = (self.gate.on(graph), self.base.mean(graph)?);
        let within = self.base.variance(graph)? + mean.square() * gate.sigmoid();
        Some(within * (-gate).sigmoid())
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        gate::parameters(&self.gate, &self.base, self.shape(), graph)
    }

    fn family(&self) -> &'static dyn Family {
        self.base.inflated()
    }

    fn check(&self) -> Result<(), ParameterError> {
        gate::check(self.name(), &self.gate, &self.base)
    }
}

impl Family for InflatedFamily {
    fn name(&self) -> &str {
        self.name
    }

    fn draw(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let surplus = bernoulli(parameters[0][0], rng);
        self.base.draw(&parameters[1..], rng, out);
        if surplus == 1.0 {
            out[0] = 0.0;
        } else if surplus.is_nan() {
            out[0] = f64::NAN;
        }
    }
}
