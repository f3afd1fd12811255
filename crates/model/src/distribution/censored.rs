//! Censored numbers: observed exactly, or known to lie above, below or between bounds.

use lehr_graph::{Expr, Graph, Shape};

use super::check::ParameterCheck;
use super::tail::CumulativeDistribution;
use super::value::{joint_shape, spread_parameters};
use super::{Distribution, Outcome, ParameterError, Value};

/// A number that is observed exactly or known by bounds only. Draws and moments are those of the
/// uncensored number.
#[derive(Clone, Debug)]
pub struct CensoredDistribution<'g, D> {
    base: D,
    status: Value<'g>,
    upper: Option<Value<'g>>,
}

impl<'g, D: CumulativeDistribution<'g>> CensoredDistribution<'g, D> {
    /// A censored draw of `base`. The `status` of a row tells how its observation `x` relates to
    /// the draw: 0 equal, −1 the draw is x or less, 1 the draw is more than x, 3 nothing is known.
    pub fn new(base: D, status: impl Into<Value<'g>>) -> Self {
        CensoredDistribution {
            base,
            status: status.into(),
            upper: None,
        }
    }

    /// As [`CensoredDistribution::new`], and a status of 2 means that the draw is more than x and at most
    /// `upper`.
    pub fn with_intervals(
        base: D,
        status: impl Into<Value<'g>>,
        upper: impl Into<Value<'g>>,
    ) -> Self {
        CensoredDistribution {
            upper: Some(upper.into()),
            ..CensoredDistribution::new(base, status)
        }
    }
}

impl<'g, D: CumulativeDistribution<'g>> Distribution<'g> for CensoredDistribution<'g, D> {
    fn value_shape(&self) -> Shape {
        let (base, status) = (self.base.value_shape(), self.status.shape());
        let upper = self.upper.as_ref().map_or(Shape::SCALAR, Value::shape);
        joint_shape(&[status, upper])
            .broadcast(base)
            .unwrap_or(base)
    }

    fn outcome(&self) -> Outcome {
        let family = &self.base.tails().censored;
        Outcome::new(family, self.base.response_kind(), None)
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let status = self.status.on_graph(graph);
        let is = |code: f64| status.equal(graph.scalar(code));
        let mut value = is(3.0).select(graph.scalar(0.0), self.base.log_density(x));
        value = is(-1.0).select(self.base.log_below(x), value);
        value = is(1.0).select(self.base.log_above(x), value);
        let Some(upper) = &self.upper else {
            return value;
        };
        // The branch that is not taken gets a proper interval, too, so that its slopes are finite.
        let high = is(2.0).select(upper.on_graph(graph), x + 1.0);
        is(2.0).select(self.base.log_between(x, high), value)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.base.mean(graph)?.broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.base.variance(graph)?.broadcast(self.value_shape()))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        spread_parameters(self.base.named_parameters(graph), self.value_shape())
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        self.base.check_parameters()?;
        let codes = [-1.0, 0.0, 1.0, 2.0, 3.0];
        let known = |code: f64| codes.contains(&code);
        let check = ParameterCheck::for_distribution(self.name());
        let check = check.require_values("status", &self.status, "one of -1, 0, 1, 2, 3", known);
        match &self.upper {
            Some(upper) => check.require_finite("upper", upper),
            None => check,
        }
        .into_result()
    }
}
