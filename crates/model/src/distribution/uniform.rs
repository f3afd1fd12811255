//! The uniform distribution.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

use super::check::ParameterCheck;
use super::draw::sample_uniform;
use super::family::ScalarFamily;
use super::{Distribution, Outcome, ParameterError, Value};

/// Equal density between two numbers.  The bounds are numbers and not expressions, because a
/// support must not depend on other sites. For variable bounds, sample the unit interval and scale
/// it.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    low: f64,
    high: f64,
}

impl Uniform {
    /// The uniform distribution from `low` to `high`.
    pub fn new(low: f64, high: f64) -> Uniform {
        Uniform { low, high }
    }
}

impl<'g> Distribution<'g> for Uniform {
    fn value_shape(&self) -> Shape {
        Shape::SCALAR
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(
            &FAMILY,
            ResponseKind::Within(self.low, self.high),
            Some(Support::Interval(self.low, self.high)),
        )
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        x.graph().full(x.shape(), -(self.high - self.low).ln())
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(graph.scalar(f64::midpoint(self.low, self.high)))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(graph.scalar((self.high - self.low).powi(2) / 12.0))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        vec![
            ("low", graph.scalar(self.low)),
            ("high", graph.scalar(self.high)),
        ]
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        let Uniform { low, high } = *self;
        let above = |x: f64| x > low;
        ParameterCheck::for_distribution("Uniform")
            .require_finite("low", &Value::Number(low))
            .require_finite("high", &Value::Number(high))
            .require_values("high", &high.into(), &format!("above low = {low}"), above)
            .into_result()
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Uniform",
    draw: |p, rng| p[0] + (p[1] - p[0]) * sample_uniform(rng),
};
