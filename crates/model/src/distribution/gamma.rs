//! The gamma distribution, by its rate or by its mean.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

use super::check::Check;
use super::draw::{log_gamma, positive};
use super::family::ScalarFamily;
use super::value::joint_shape;
use super::{Distribution, ParameterError, Value};

/// Sums of waiting times, and positive responses of regressions.
#[derive(Clone, Debug)]
pub struct Gamma<'g> {
    shape: Value<'g>,
    by: By<'g>,
}

/// The parameter that determines the rate, given the shape.
#[derive(Clone, Debug)]
enum By<'g> {
    Rate(Value<'g>),
    Mean(Value<'g>),
    LogMean(Value<'g>),
}

impl<'g> Gamma<'g> {
    /// The gamma distribution with mean `shape`/`rate`.
    pub fn new(shape: impl Into<Value<'g>>, rate: impl Into<Value<'g>>) -> Self {
        Gamma {
            shape: shape.into(),
            by: By::Rate(rate.into()),
        }
    }

    /// The gamma distribution with this mean and the variance mean²/`shape`.
    pub fn with_mean(mean: impl Into<Value<'g>>, shape: impl Into<Value<'g>>) -> Self {
        Gamma {
            shape: shape.into(),
            by: By::Mean(mean.into()),
        }
    }

    /// As [`Gamma::with_mean`] with mean e to the power `log_mean`.
    pub fn with_log_mean(log_mean: impl Into<Value<'g>>, shape: impl Into<Value<'g>>) -> Self {
        Gamma {
            shape: shape.into(),
            by: By::LogMean(log_mean.into()),
        }
    }

    fn second(&self) -> &Value<'g> {
        match &self.by {
            By::Rate(value) | By::Mean(value) | By::LogMean(value) => value,
        }
    }

    /// The rate and its logarithm.
    fn rate(&self, graph: &'g Graph) -> (Expr<'g>, Expr<'g>) {
        let shape = self.shape.on(graph);
        match &self.by {
            By::Rate(rate) => (rate.on(graph), rate.on(graph).ln()),
            By::Mean(mean) => {
                let mean = mean.on(graph);
                (shape * mean.recip(), shape.ln() - mean.ln())
            }
            By::LogMean(log_mean) => {
                let log_mean = log_mean.on(graph);
                (shape * (-log_mean).exp(), shape.ln() - log_mean)
            }
        }
    }
}

impl<'g> Distribution<'g> for Gamma<'g> {
    fn shape(&self) -> Shape {
        joint_shape(&[&self.shape, self.second()])
    }

    fn kind(&self) -> ResponseKind {
        ResponseKind::Positive
    }

    fn support(&self) -> Option<Support> {
        Some(Support::Positive)
    }

    /// a ln b − ln Γ(a) + (a − 1) ln x − b x
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let shape = self.shape.on(x.graph());
        let (rate, log_rate) = self.rate(x.graph());
        let constant = shape * log_rate - shape.lgamma();
        constant + (shape - 1.0) * x.ln() - rate * x
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let mean = match &self.by {
            By::Rate(rate) => self.shape.on(graph) / rate.on(graph),
            By::Mean(mean) => mean.on(graph),
            By::LogMean(log_mean) => log_mean.on(graph).exp(),
        };
        Some(mean.broadcast(Distribution::shape(self)))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.mean(graph)?.square() / self.shape.on(graph))
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let joint = Distribution::shape(self);
        let (rate, _) = self.rate(graph);
        vec![
            ("shape", self.shape.on(graph).broadcast(joint)),
            ("rate", rate.broadcast(joint)),
        ]
    }

    fn family(&self) -> &'static dyn Family {
        &FAMILY
    }

    fn check(&self) -> Result<(), ParameterError> {
        let check = Check::of(self.name()).positive("shape", &self.shape);
        match &self.by {
            By::Rate(rate) => check.positive("rate", rate),
            By::Mean(mean) => check.positive("mean", mean),
            By::LogMean(log_mean) => check.finite("log_mean", log_mean),
        }
        .done()
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Gamma",
    draw: |p, rng| positive(log_gamma(p[0], rng).exp() / p[1]),
};
