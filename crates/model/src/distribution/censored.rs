//! Censored numbers: observed exactly, or known to lie above, below or between bounds.

use lehr_density::{Family, ResponseKind};
use lehr_graph::{Expr, Graph, Shape};

use super::check::Check;
use super::tail::Tailed;
use super::value::joint_shape;
use super::{Distribution, ParameterError, Value};

/// A number that is observed exactly or known by bounds only. Draws and moments are those of the
/// uncensored number.
#[derive(Clone, Debug)]
pub struct Censored<'g, D> {
    base: D,
    status: Value<'g>,
    upper: Option<Value<'g>>,
}

impl<'g, D: Tailed<'g>> Censored<'g, D> {
    /// A censored draw of `base`. The `status` of a row tells how its observation `x` relates to
    /// the draw: 0 equal, −1 the draw is x or less, 1 the draw is more than x, 3 nothing is known.
    pub fn new(base: D, status: impl Into<Value<'g>>) -> Self {
        Censored {
            base,
            status: status.into(),
            upper: None,
        }
    }

    /// As [`Censored::new`], and a status of 2 means that the draw is more than x and at most
    /// `upper`.
    pub fn with_intervals(
        base: D,
        status: impl Into<Value<'g>>,
        upper: impl Into<Value<'g>>,
    ) -> Self {
        Censored {
            upper: Some(upper.into()),
            ..Censored::new(base, status)
        }
    }
}

impl<'g, D: Tailed<'g>> Distribution<'g> for Censored<'g, D> {
    fn shape(&self) -> Shape {
        let mut own = vec![&self.status];
        own.extend(&self.upper);
        let base = self.base.shape();
        joint_shape(&own).broadcast(base).unwrap_or(base)
    }

    fn kind(&self) -> ResponseKind {
        self.base.kind()
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let status = self.status.on(graph);
        let is = |code: f64| status.equal(graph.scalar(code));
        let mut value = is(3.0).select(graph.scalar(0.0), self.base.log_density(x));
        value = is(-1.0).select(self.base.log_below(x), value);
        value = is(1.0).select(self.base.log_above(x), value);
        let Some(upper) = &self.upper else {
            return value;
        };
        // The branch that is not taken gets a proper interval, too, so that its slopes are finite.
        let high = is(2.0).select(upper.on(graph), x + 1.0);
        is(2.0).select(self.base.log_between(x, high), value)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.base.mean(graph)?.broadcast(self.shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.base.variance(graph)?.broadcast(self.shape()))
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let mut parameters = self.base.parameters(graph);
        for (_, expr) in &mut parameters {
            *expr = expr.broadcast(self.shape());
        }
        parameters
    }

    fn family(&self) -> &'static dyn Family {
        &self.base.tails().censored
    }

    fn check(&self) -> Result<(), ParameterError> {
        self.base.check()?;
        let codes = [-1.0, 0.0, 1.0, 2.0, 3.0];
        let known = |code: f64| codes.contains(&code);
        let check = Check::of(self.name());
        let check = check.require("status", &self.status, "one of -1, 0, 1, 2, 3", known);
        match &self.upper {
            Some(upper) => check.finite("upper", upper),
            None => check,
        }
        .done()
    }
}
