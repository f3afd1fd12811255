//! The beta distribution, by its two shapes or by its mean.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

use super::check::ParameterCheck;
use super::draw::{beta_logit, inside_unit, sigmoid};
use super::family::ScalarFamily;
use super::value::{joint_shape, spread_parameters};
use super::{Distribution, Outcome, ParameterError, Value};

/// Proportions, and responses between 0 and 1 of regressions.
#[derive(Clone, Debug)]
pub struct Beta<'g> {
    by: BetaParametrisation,
    first: Value<'g>,
    second: Value<'g>,
}

/// The parametrisation.
#[derive(Clone, Copy, Debug)]
enum BetaParametrisation {
    Shapes,
    Mean,
    LogitMean,
}

/// The shapes a and b and their logarithms.
struct BetaShapes<'g> {
    a: Expr<'g>,
    b: Expr<'g>,
    log_a: Expr<'g>,
    log_b: Expr<'g>,
}

impl<'g> Beta<'g> {
    /// Density proportional to x^(a − 1) (1 − x)^(b − 1).
    pub fn new(a: impl Into<Value<'g>>, b: impl Into<Value<'g>>) -> Self {
        Beta::from_parameters(BetaParametrisation::Shapes, a.into(), b.into())
    }

    /// The beta distribution with this mean and the variance mean(1 − mean)/(precision + 1).
    pub fn with_mean(mean: impl Into<Value<'g>>, precision: impl Into<Value<'g>>) -> Self {
        Beta::from_parameters(BetaParametrisation::Mean, mean.into(), precision.into())
    }

    /// As [`Beta::with_mean`], the mean being 1/(1 + e^−logit); safe at any logit.
    pub fn with_logit_mean(logit: impl Into<Value<'g>>, precision: impl Into<Value<'g>>) -> Self {
        let by = BetaParametrisation::LogitMean;
        Beta::from_parameters(by, logit.into(), precision.into())
    }

    fn from_parameters(by: BetaParametrisation, first: Value<'g>, second: Value<'g>) -> Self {
        Beta { by, first, second }
    }

    fn shape_parameters(&self, graph: &'g Graph) -> BetaShapes<'g> {
        let (first, second) = (self.first.on_graph(graph), self.second.on_graph(graph));
        let (a, b) = match self.by {
            BetaParametrisation::Shapes => (first, second),
            BetaParametrisation::Mean => (first * second, (1.0 - first) * second),
            BetaParametrisation::LogitMean => {
                (first.sigmoid() * second, (-first).sigmoid() * second)
            }
        };
        let (log_a, log_b) = match self.by {
            // A mean of e^−1000 underflows to zero, but its logarithm does not.
            BetaParametrisation::LogitMean => {
                let log = second.ln();
                (log - (-first).softplus(), log - first.softplus())
            }
            _ => (a.ln(), b.ln()),
        };
        BetaShapes { a, b, log_a, log_b }
    }

    fn parameter_names(&self) -> [&'static str; 2] {
        match self.by {
            BetaParametrisation::Shapes => ["a", "b"],
            BetaParametrisation::Mean => ["mean", "precision"],
            BetaParametrisation::LogitMean => ["logit", "precision"],
        }
    }
}

/// ln B(a, b), with Γ(x) = Γ(x + 1)/x so that a vanishing shape enters through its logarithm.
fn log_beta<'g>(s: &BetaShapes<'g>) -> Expr<'g> {
    let above = (s.a + 1.0).lgamma() + (s.b + 1.0).lgamma() - (s.a + s.b).lgamma();
    above - (s.log_a + s.log_b)
}

impl<'g> Distribution<'g> for Beta<'g> {
    fn value_shape(&self) -> Shape {
        joint_shape(&[self.first.shape(), self.second.shape()])
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, ResponseKind::Unit, Some(Support::UnitInterval))
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let s = self.shape_parameters(x.graph());
        let kernel = (s.a - 1.0) * x.ln() + (s.b - 1.0) * (-x).log1p();
        kernel - log_beta(&s)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (first, second) = (self.first.on_graph(graph), self.second.on_graph(graph));
        let mean = match self.by {
            BetaParametrisation::Shapes => first / (first + second),
            BetaParametrisation::Mean => first,
            BetaParametrisation::LogitMean => first.sigmoid(),
        };
        Some(mean.broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (mean, s) = (self.mean(graph)?, self.shape_parameters(graph));
        Some(mean * (1.0 - mean) / (s.a + s.b + 1.0))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let s = self.shape_parameters(graph);
        spread_parameters([("a", s.a), ("b", s.b)], self.value_shape())
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        let [first, second] = self.parameter_names();
        let check = ParameterCheck::for_distribution(self.name());
        match self.by {
            BetaParametrisation::Shapes => check.require_positive(first, &self.first),
            BetaParametrisation::Mean => check.require_probability(first, &self.first),
            BetaParametrisation::LogitMean => check.require_finite(first, &self.first),
        }
        .require_positive(second, &self.second)
        .into_result()
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Beta",
    draw: |p, rng| inside_unit(sigmoid(beta_logit(p[0], p[1], rng))),
};
