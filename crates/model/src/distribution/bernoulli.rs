//! The Bernoulli distribution.

use lehr_density::ResponseKind;
use lehr_graph::{Expr, Graph, Shape};

use super::check::ParameterCheck;
use super::draw::sample_bernoulli;
use super::family::ScalarFamily;
use super::{Distribution, Outcome, ParameterError, Value};

/// Outcomes 1 and 0.
#[derive(Clone, Debug)]
pub struct Bernoulli<'g> {
    parameter: SuccessParameter<'g>,
}

#[derive(Clone, Debug)]
enum SuccessParameter<'g> {
    Logit(Value<'g>),
    Probability(Value<'g>),
}

impl<'g> Bernoulli<'g> {
    /// An outcome that is 1 with probability 1/(1 + e^−logit).
    ///
    /// The log density is y·logit − softplus(logit), safe at any logit; its slope is
    /// y − sigmoid(logit).
    pub fn with_logit(logit: impl Into<Value<'g>>) -> Self {
        let parameter = SuccessParameter::Logit(logit.into());
        Bernoulli { parameter }
    }

    /// An outcome that is 1 with this probability.
    pub fn with_probability(probability: impl Into<Value<'g>>) -> Self {
        let parameter = SuccessParameter::Probability(probability.into());
        Bernoulli { parameter }
    }

    fn parameter_value(&self) -> &Value<'g> {
        match &self.parameter {
            SuccessParameter::Logit(value) | SuccessParameter::Probability(value) => value,
        }
    }

    fn probability(&self, graph: &'g Graph) -> Expr<'g> {
        match &self.parameter {
            SuccessParameter::Logit(logit) => logit.on_graph(graph).sigmoid(),
            SuccessParameter::Probability(probability) => probability.on_graph(graph),
        }
    }

    fn logit(&self, graph: &'g Graph) -> Expr<'g> {
        match &self.parameter {
            SuccessParameter::Logit(logit) => logit.on_graph(graph),
            SuccessParameter::Probability(probability) => {
                let p = probability.on_graph(graph);
                p.ln() - (-p).log1p()
            }
        }
    }
}

/// ln p if y is 1, ln(1 − p) if y is 0. The branches are kept apart so that neither has an infinite
/// slope at the pole of the other.
fn log_probability<'g>(y: Expr<'g>, p: Expr<'g>) -> Expr<'g> {
    let graph = y.graph();
    let hit = y.select(p, graph.scalar(1.0)).ln();
    let miss = -y.select(graph.scalar(0.0), p);
    y.select(hit, miss.log1p())
}

impl<'g> Distribution<'g> for Bernoulli<'g> {
    fn value_shape(&self) -> Shape {
        self.parameter_value().shape()
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, ResponseKind::Binary, None)
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        match &self.parameter {
            SuccessParameter::Logit(logit) => {
                let logit = logit.on_graph(x.graph());
                x * logit - logit.softplus()
            }
            SuccessParameter::Probability(probability) => {
                log_probability(x, probability.on_graph(x.graph()))
            }
        }
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.probability(graph))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let p = self.probability(graph);
        Some(p * (1.0 - p))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        vec![("logit", self.logit(graph))]
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        let check = ParameterCheck::for_distribution(self.name());
        match &self.parameter {
            SuccessParameter::Logit(logit) => check.require_finite("logit", logit),
            SuccessParameter::Probability(probability) => {
                check.require_probability("probability", probability)
            }
        }
        .into_result()
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Bernoulli",
    draw: |p, rng| sample_bernoulli(p[0], rng),
};
