//! The gamma distribution, by its rate or by its mean.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

use super::check::ParameterCheck;
use super::draw::{log_gamma, positive};
use super::family::ScalarFamily;
use super::value::{joint_shape, spread_parameters};
use super::{Distribution, Outcome, ParameterError, Value};

/// Sums of waiting times, and positive responses of regressions.
#[derive(Clone, Debug)]
pub struct Gamma<'g> {
    shape: Value<'g>,
    by: GammaParameter<'g>,
}

/// The parameter that determines the rate, given the shape.
#[derive(Clone, Debug)]
enum GammaParameter<'g> {
    Rate(Value<'g>),
    Mean(Value<'g>),
    LogMean(Value<'g>),
}

impl<'g> Gamma<'g> {
    /// The gamma distribution with mean `shape`/`rate`.
    pub fn new(shape: impl Into<Value<'g>>, rate: impl Into<Value<'g>>) -> Self {
        Gamma::from_parameters(shape.into(), GammaParameter::Rate(rate.into()))
    }

    /// The gamma distribution with this mean and the variance mean²/`shape`.
    pub fn with_mean(mean: impl Into<Value<'g>>, shape: impl Into<Value<'g>>) -> Self {
        Gamma::from_parameters(shape.into(), GammaParameter::Mean(mean.into()))
    }

    /// As [`Gamma::with_mean`] with mean e to the power `log_mean`.
    pub fn with_log_mean(log_mean: impl Into<Value<'g>>, shape: impl Into<Value<'g>>) -> Self {
        Gamma::from_parameters(shape.into(), GammaParameter::LogMean(log_mean.into()))
    }

    fn from_parameters(shape: Value<'g>, by: GammaParameter<'g>) -> Self {
        Gamma { shape, by }
    }

    fn second_parameter(&self) -> &Value<'g> {
        match &self.by {
            GammaParameter::Rate(value)
            | GammaParameter::Mean(value)
            | GammaParameter::LogMean(value) => value,
        }
    }

    /// The rate and its logarithm.
    fn rate(&self, graph: &'g Graph) -> (Expr<'g>, Expr<'g>) {
        let shape = self.shape.on_graph(graph);
        match &self.by {
            GammaParameter::Rate(rate) => (rate.on_graph(graph), rate.on_graph(graph).ln()),
            GammaParameter::Mean(mean) => {
                let mean = mean.on_graph(graph);
                (shape * mean.recip(), shape.ln() - mean.ln())
            }
            GammaParameter::LogMean(log_mean) => {
                let log_mean = log_mean.on_graph(graph);
                (shape * (-log_mean).exp(), shape.ln() - log_mean)
            }
        }
    }
}

impl<'g> Distribution<'g> for Gamma<'g> {
    fn value_shape(&self) -> Shape {
        joint_shape(&[self.shape.shape(), self.second_parameter().shape()])
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, ResponseKind::Positive, Some(Support::Positive))
    }

    /// a ln b − ln Γ(a) + (a − 1) ln x − b x
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let shape = self.shape.on_graph(x.graph());
        let (rate, log_rate) = self.rate(x.graph());
        let constant = shape * log_rate - shape.lgamma();
        constant + (shape - 1.0) * x.ln() - rate * x
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let mean = match &self.by {
            GammaParameter::Rate(rate) => self.shape.on_graph(graph) / rate.on_graph(graph),
            GammaParameter::Mean(mean) => mean.on_graph(graph),
            GammaParameter::LogMean(log_mean) => log_mean.on_graph(graph).exp(),
        };
        Some(mean.broadcast(Distribution::value_shape(self)))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.mean(graph)?.square() / self.shape.on_graph(graph))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let (shape, (rate, _)) = (self.shape.on_graph(graph), self.rate(graph));
        spread_parameters(
            [("shape", shape), ("rate", rate)],
            Distribution::value_shape(self),
        )
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        let check =
            ParameterCheck::for_distribution(self.name()).require_positive("shape", &self.shape);
        match &self.by {
            GammaParameter::Rate(rate) => check.require_positive("rate", rate),
            GammaParameter::Mean(mean) => check.require_positive("mean", mean),
            GammaParameter::LogMean(log_mean) => check.require_finite("log_mean", log_mean),
        }
        .into_result()
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Gamma",
    draw: |p, rng| positive(log_gamma(p[0], rng).exp() / p[1]),
};
