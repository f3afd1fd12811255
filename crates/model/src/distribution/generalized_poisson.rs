//! The generalized Poisson distribution, by its mean.

use lehr_density::ResponseKind;
use lehr_graph::{Expr, Graph};

use super::draw::sample_poisson;
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;
use super::value::spread_parameters;
use super::{Distribution, Outcome};

of_values! {
    /// Counts in which each event triggers a Poisson number of further events (Consul and Jain 1973).
    GeneralizedPoisson,
    /// Counts with mean m = e to the power `log_mean` and variance m/(1 − `dispersion`)². The
    /// dispersion, between 0 and 1, is the mean number of events that each event triggers.
    with_log_mean(log_mean, dispersion)
}

impl<'g> GeneralizedPoisson<'g> {
    /// ln θ, where the mean is θ/(1 − dispersion).
    fn log_rate(&self, graph: &'g Graph) -> Expr<'g> {
        self.log_mean.on_graph(graph) + (-self.dispersion.on_graph(graph)).log1p()
    }
}

impl<'g> Distribution<'g> for GeneralizedPoisson<'g> {
    elementwise!(derived log_mean: require_finite, dispersion: require_probability);

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, ResponseKind::Count, None)
    }

    /// ln θ + (y − 1) ln(θ + λy) − θ − λy − ln y!, which is −θ at zero
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (log_rate, own) = (self.log_rate(graph), self.dispersion.on_graph(graph));
        let (rate, surplus) = (log_rate.exp(), own * x);
        // The branch that is not taken is kept away from the logarithm of a vanishing rate.
        let grown = (rate + surplus).max(graph.scalar(1e-300)).ln();
        let above = log_rate + (x - 1.0) * grown - surplus - (x + 1.0).lgamma();
        let zero = graph.scalar(0.0);
        x.equal(zero).select(zero, above) - rate
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let mean = self.log_mean.on_graph(graph).exp();
        Some(mean.broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let rest = 1.0 - self.dispersion.on_graph(graph);
        Some(self.log_mean.on_graph(graph).exp() / rest.square())
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let (rate, dispersion) = (self.log_rate(graph).exp(), self.dispersion.on_graph(graph));
        spread_parameters(
            [("rate", rate), ("dispersion", dispersion)],
            self.value_shape(),
        )
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "GeneralizedPoisson",
    draw: |p, rng| {
        let (mut generation, mut all) = (sample_poisson(p[0], rng), 0.0);
        while generation > 0.0 {
            all += generation;
            generation = sample_poisson(p[1] * generation, rng);
        }
        all + generation
    },
};
