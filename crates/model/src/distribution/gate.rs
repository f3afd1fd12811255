//! The common part of zero-inflated and hurdle counts: a logit of the zero probability beside the
//! counts' parameters.

use lehr_density::Family;
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::check::ParameterCheck;
use super::draw::sample_bernoulli;
use super::family::ScalarFamily;
use super::value::spread_parameters;
use super::{Distribution, ParameterError, Value};

/// Draws counts behind a gate, whose logit is the first parameter.
pub struct GateFamily {
    pub(super) name: &'static str,
    pub(super) base: &'static ScalarFamily,
    /// Draws a count, given a draw of the gate, which is 1 if it is closed, and the parameters of the base.
    pub(super) behind: fn(f64, &ScalarFamily, &[&[f64]], &mut dyn Rng) -> f64,
}

impl Family for GateFamily {
    fn name(&self) -> &str {
        self.name
    }

    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let zero = sample_bernoulli(parameters[0][0], rng);
        out[0] = (self.behind)(zero, self.base, &parameters[1..], rng);
    }
}

/// The families of counts behind a gate, and the trait by which the counts find theirs.
macro_rules! gate_families {
    (
        $trait:ident::$method:ident, $behind:ident,
        $($family:ident is $name:literal of $count:ident by $base:path;)+
    ) => {$(
        pub(super) static $family: GateFamily = GateFamily {
            name: $name,
            base: &$base,
            behind: $behind,
        };

        impl<'g> $trait<'g> for $count<'g> {
            fn $method(&self) -> &'static GateFamily {
                &$family
            }
        }
    )+};
}

/// The methods of [`super::Distribution`] that follow from the fields `base` and `gate`.
macro_rules! behind_gate {
    ($method:ident) => {
        fn value_shape(&self) -> lehr_graph::Shape {
            let base = self.base.value_shape();
            self.gate.shape().broadcast(base).unwrap_or(base)
        }

        fn outcome(&self) -> $crate::distribution::Outcome {
            let response = self.base.response_kind();
            $crate::distribution::Outcome::new(self.base.$method(), response, None)
        }

        fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
            gate::gate_parameters(&self.gate, &self.base, self.value_shape(), graph)
        }

        fn check_parameters(&self) -> Result<(), $crate::distribution::ParameterError> {
            gate::check_gate(self.name(), &self.gate, &self.base)
        }
    };
}

pub(super) use {behind_gate, gate_families};

/// The logit of the gate, then the parameters of the counts, all of one shape.
pub(super) fn gate_parameters<'g>(
    gate: &Value<'g>,
    base: &dyn Distribution<'g>,
    shape: Shape,
    graph: &'g Graph,
) -> Vec<(&'static str, Expr<'g>)> {
    let gate = std::iter::once(("gate", gate.on_graph(graph)));
    spread_parameters(gate.chain(base.named_parameters(graph)), shape)
}

/// Checks the counts, then whether the gate fits them.
pub(super) fn check_gate<'g>(
    name: &'static str,
    gate: &Value<'g>,
    base: &dyn Distribution<'g>,
) -> Result<(), ParameterError> {
    base.check_parameters()?;
    let check = ParameterCheck::for_distribution(name).require_finite("gate", gate);
    let (gate, base) = (gate.shape(), base.value_shape());
    match gate.broadcast(base) {
        Some(_) => check,
        None => check.add_error(
            format!("gate must fit the counts of shape {base}, found shape {gate}"),
            "shapes must be equal, or 1 where they differ",
        ),
    }
    .into_result()
}
