//! Counts whose zeros have a separate probability.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::draw::bernoulli;
use super::gate;
use super::value::joint_shape;
use super::{Distribution, NegativeBinomial, ParameterError, Poisson, Value};
use super::{negative_binomial, poisson};

/// How often a count above 0 is drawn before it is set to 1, which it then almost surely is.
const MOST_DRAWS: usize = 10_000;

/// Counts that can be truncated at zero.
pub trait Hurdled<'g>: Distribution<'g> {
    /// The family of the hurdle form.
    fn hurdled(&self) -> &'static HurdleFamily;
}

/// Draws zeros separately from positive counts of another family.
pub struct HurdleFamily {
    name: &'static str,
    base: &'static dyn Family,
}

macro_rules! hurdled {
    ($count:ident, $hurdled:ident, $name:literal, $base:path) => {
        pub(super) static $hurdled: HurdleFamily = HurdleFamily {
            name: $name,
            base: &$base,
        };

        impl<'g> Hurdled<'g> for $count<'g> {
            fn hurdled(&self) -> &'static HurdleFamily {
                &$hurdled
            }
        }
    };
}

hurdled!(Poisson, POISSON, "Hurdle Poisson", poisson::FAMILY);
hurdled!(
    NegativeBinomial,
    NEGATIVE_BINOMIAL,
    "Hurdle NegativeBinomial",
    negative_binomial::FAMILY
);

/// Zero with a separate probability, else a positive count.
#[derive(Clone, Debug)]
pub struct Hurdle<'g, D> {
    base: D,
    gate: Value<'g>,
}

impl<'g, D: Hurdled<'g>> Hurdle<'g, D> {
    /// Zero with probability 1/(1 + e^−gate), else a count of `base` that is above 0.
    pub fn with_gate_logit(base: D, gate: impl Into<Value<'g>>) -> Self {
        Hurdle {
            base,
            gate: gate.into(),
        }
    }

    /// ln P(base > 0)
    fn log_above(&self, graph: &'g Graph) -> Expr<'g> {
        let at_zero = self.base.log_density(graph.full(self.base.shape(), 0.0));
        (-at_zero.expm1()).ln()
    }
}

impl<'g, D: Hurdled<'g>> Distribution<'g> for Hurdle<'g, D> {
    fn name(&self) -> &'static str {
        self.base.hurdled().name
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

    /// gate − softplus(gate) at zero, else ln p(y) − ln P(base > 0) − softplus(gate)
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let gate = self.gate.on(graph);
        let above = self.base.log_density(x) - self.log_above(graph);
        let zero = x.equal(graph.scalar(0.0));
        zero.select(gate, above) - gate.softplus()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let share = (-self.gate.on(graph)).sigmoid() / self.log_above(graph).exp();
        Some(self.base.mean(graph)? * share)
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let share = (-self.gate.on(graph)).sigmoid() / self.log_above(graph).exp();
        let mean = self.base.mean(graph)?;
        let squares = (self.base.variance(graph)? + mean.square()) * share;
        Some(squares - (mean * share).square())
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        gate::parameters(&self.gate, &self.base, self.shape(), graph)
    }

    fn family(&self) -> &'static dyn Family {
        self.base.hurdled()
    }

    fn check(&self) -> Result<(), ParameterError> {
        gate::check(self.name(), &self.gate, &self.base)
    }
}

impl Family for HurdleFamily {
    fn name(&self) -> &str {
        self.name
    }

    fn draw(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let zero = bernoulli(parameters[0][0], rng);
        if zero != 0.0 {
            out[0] = if zero == 1.0 { 0.0 } else { f64::NAN };
            return;
        }
        for _ in 0..MOST_DRAWS {
            self.base.draw(&parameters[1..], rng, out);
            if out[0] != 0.0 {
                return;
            }
        }
        out[0] = 1.0;
    }
}
