//! The generalized Poisson distribution, by its mean.

use lehr_density::{Family, ResponseKind};
use lehr_graph::{Expr, Graph, Shape};

use super::check::Check;
use super::draw::poisson;
use super::family::ScalarFamily;
use super::value::joint_shape;
use super::{Distribution, ParameterError, Value};

/// Counts in which each event triggers a Poisson number of further events (Consul and Jain 1973).
#[derive(Clone, Debug)]
pub struct GeneralizedPoisson<'g> {
    log_mean: Value<'g>,
    dispersion: Value<'g>,
}

impl<'g> GeneralizedPoisson<'g> {
    /// Counts with mean m = e to the power `log_mean` and variance m/(1 − `dispersion`)². The
    /// dispersion, between 0 and 1, is the mean number of events that each event triggers.
    pub fn with_log_mean(log_mean: impl Into<Value<'g>>, dispersion: impl Into<Value<'g>>) -> Self {
        GeneralizedPoisson {
            log_mean: log_mean.into(),
            dispersion: dispersion.into(),
        }
    }

    /// ln θ, where the mean is θ/(1 − dispersion).
    fn log_rate(&self, graph: &'g Graph) -> Expr<'g> {
        self.log_mean.on(graph) + (-self.dispersion.on(graph)).log1p()
    }
}

impl<'g> Distribution<'g> for GeneralizedPoisson<'g> {
    fn shape(&self) -> Shape {
        joint_shape(&[&self.log_mean, &self.dispersion])
    }

    fn kind(&self) -> ResponseKind {
        ResponseKind::Count
    }

    /// ln θ + (y − 1) ln(θ + λy) − θ − λy − ln y!, which is −θ at zero
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (log_rate, own) = (self.log_rate(graph), self.dispersion.on(graph));
        let (rate, surplus) = (log_rate.exp(), own * x);
        // The branch that is not taken is kept away from the logarithm of a vanishing rate.
        let grown = (rate + surplus).max(graph.scalar(1e-300)).ln();
        let above = log_rate + (x - 1.0) * grown - surplus - (x + 1.0).lgamma();
        let zero = graph.scalar(0.0);
        x.equal(zero).select(zero, above) - rate
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.log_mean.on(graph).exp().broadcast(self.shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let rest = 1.0 - self.dispersion.on(graph);
        Some(self.log_mean.on(graph).exp() / rest.square())
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let shape = self.shape();
        vec![
            ("rate", self.log_rate(graph).exp().broadcast(shape)),
            ("dispersion", self.dispersion.on(graph).broadcast(shape)),
        ]
    }

    fn family(&self) -> &'static dyn Family {
        &FAMILY
    }

    fn check(&self) -> Result<(), ParameterError> {
        Check::of(self.name())
            .finite("log_mean", &self.log_mean)
            .probability("dispersion", &self.dispersion)
            .done()
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "GeneralizedPoisson",
    draw: |p, rng| {
        let (mut generation, mut all) = (poisson(p[0], rng), 0.0);
        while generation > 0.0 {
            all += generation;
            generation = poisson(p[1] * generation, rng);
        }
        all + generation
    },
};
