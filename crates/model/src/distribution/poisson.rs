//! The Poisson distribution.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

use super::check::Check;
use super::draw::poisson;
use super::family::ScalarFamily;
use super::{Distribution, ParameterError, Value};

/// Counts of rare events.
#[derive(Clone, Debug)]
pub struct Poisson<'g> {
    by: By<'g>,
}

#[derive(Clone, Debug)]
enum By<'g> {
    LogRate(Value<'g>),
    Rate(Value<'g>),
}

impl<'g> Poisson<'g> {
    /// Counts with mean e to the power `log_rate`.
    pub fn with_log_rate(log_rate: impl Into<Value<'g>>) -> Self {
        Poisson {
            by: By::LogRate(log_rate.into()),
        }
    }

    /// Counts with mean `rate`.
    pub fn with_rate(rate: impl Into<Value<'g>>) -> Self {
        Poisson {
            by: By::Rate(rate.into()),
        }
    }

    /// The rate and its logarithm.
    fn rate(&self, graph: &'g Graph) -> (Expr<'g>, Expr<'g>) {
        match &self.by {
            By::LogRate(log_rate) => (log_rate.on(graph).exp(), log_rate.on(graph)),
            By::Rate(rate) => (rate.on(graph), rate.on(graph).ln()),
        }
    }
}

impl<'g> Distribution<'g> for Poisson<'g> {
    fn name(&self) -> &'static str {
        FAMILY.name
    }

    fn shape(&self) -> Shape {
        match &self.by {
            By::LogRate(value) | By::Rate(value) => value.shape(),
        }
    }

    fn kind(&self) -> ResponseKind {
        ResponseKind::Count
    }

    fn support(&self) -> Option<Support> {
        None
    }

    /// y ln λ − λ − ln y!
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (rate, log_rate) = self.rate(x.graph());
        x * log_rate - rate - (x + 1.0).lgamma()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.rate(graph).0)
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        self.mean(graph)
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        vec![("rate", self.rate(graph).0)]
    }

    fn family(&self) -> &'static dyn Family {
        &FAMILY
    }

    fn check(&self) -> Result<(), ParameterError> {
        let check = Check::of(self.name());
        match &self.by {
            By::LogRate(log_rate) => check.finite("log_rate", log_rate),
            By::Rate(rate) => check.positive("rate", rate),
        }
        .done()
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Poisson",
    draw: |p, rng| poisson(p[0], rng),
};
