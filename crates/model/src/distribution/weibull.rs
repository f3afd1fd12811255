//! The Weibull distribution, by its mean.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

use super::check::Check;
use super::draw::{positive, standard_exponential};
use super::family::ScalarFamily;
use super::value::joint_shape;
use super::{Distribution, ParameterError, Value};

/// Waiting times whose risk grows like time to the power `shape` − 1.
#[derive(Clone, Debug)]
pub struct Weibull<'g> {
    log_mean: Value<'g>,
    shape: Value<'g>,
}

impl<'g> Weibull<'g> {
    /// Waiting times whose mean is e to the power `log_mean`.
    pub fn with_log_mean(log_mean: impl Into<Value<'g>>, shape: impl Into<Value<'g>>) -> Self {
        Weibull {
            log_mean: log_mean.into(),
            shape: shape.into(),
        }
    }

    /// ln λ, where the mean is λ Γ(1 + 1/k).
    fn log_scale(&self, graph: &'g Graph) -> Expr<'g> {
        let shape = self.shape.on(graph);
        self.log_mean.on(graph) - (shape.recip() + 1.0).lgamma()
    }
}

impl<'g> Distribution<'g> for Weibull<'g> {
    fn name(&self) -> &'static str {
        FAMILY.name
    }

    fn shape(&self) -> Shape {
        joint_shape(&[&self.log_mean, &self.shape])
    }

    fn kind(&self) -> ResponseKind {
        ResponseKind::Positive
    }

    fn support(&self) -> Option<Support> {
        Some(Support::Positive)
    }

    /// ln k − ln x + k t − eᵏᵗ, with t = ln(x/λ)
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let shape = self.shape.on(x.graph());
        let log = x.ln();
        let power = shape * (log - self.log_scale(x.graph()));
        shape.ln() - log + power - power.exp()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let mean = self.log_mean.on(graph).exp();
        Some(mean.broadcast(Distribution::shape(self)))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let inverse = self.shape.on(graph).recip();
        let ratio = (inverse * 2.0 + 1.0).lgamma() - (inverse + 1.0).lgamma() * 2.0;
        Some((self.log_mean.on(graph) * 2.0).exp() * ratio.expm1())
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let joint = Distribution::shape(self);
        vec![
            ("scale", self.log_scale(graph).exp().broadcast(joint)),
            ("shape", self.shape.on(graph).broadcast(joint)),
        ]
    }

    fn family(&self) -> &'static dyn Family {
        &FAMILY
    }

    fn check(&self) -> Result<(), ParameterError> {
        Check::of(self.name())
            .finite("log_mean", &self.log_mean)
            .positive("shape", &self.shape)
            .done()
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Weibull",
    draw: |p, rng| positive(p[0] * standard_exponential(rng).powf(p[1].recip())),
};
