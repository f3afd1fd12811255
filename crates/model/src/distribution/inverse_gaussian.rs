//! The inverse Gaussian distribution, by its mean.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};
use rand::Rng;

use super::Distribution;
use super::draw::{positive, sample_uniform, standard_normal};
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;

of_values! {
    /// The first passage time of a Brownian motion with drift: positive numbers of heavy skew.
    InverseGaussian,
    /// Numbers with mean e to the power `log_mean` and variance mean³/`shape`.
    with_log_mean(log_mean, shape)
}

impl<'g> Distribution<'g> for InverseGaussian<'g> {
    elementwise!(
        FAMILY, ResponseKind::Positive, Some(Support::Positive),
        log_mean: require_finite, shape: require_positive,
    );

    /// ½ ln(λ/2π) − (3/2) ln x − ½ λ (x/μ − 1)²/x
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (graph, log) = (x.graph(), x.ln());
        let shape = self.shape.on_graph(graph);
        let apart = (log - self.log_mean.on_graph(graph)).exp() - 1.0;
        let constant = (shape.ln() - std::f64::consts::TAU.ln()) * 0.5;
        constant - log * 1.5 - shape * apart.square() / x * 0.5
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let mean = self.log_mean.on_graph(graph).exp();
        Some(mean.broadcast(Distribution::value_shape(self)))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some((self.log_mean.on_graph(graph) * 3.0).exp() / self.shape.on_graph(graph))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "InverseGaussian",
    draw: |p, rng| positive(sample_inverse_gaussian(p[0].exp(), p[1], rng)),
};

/// Michael, Schucany & Haas (1976): the two roots of a quadratic are reciprocal in units of the
/// mean, and the larger is taken with probability in inverse proportion to its size.
fn sample_inverse_gaussian(mean: f64, shape: f64, rng: &mut dyn Rng) -> f64 {
    let square = standard_normal(rng).powi(2);
    let ratio = shape / mean;
    let root = (square * (square + 4.0 * ratio)).sqrt();
    let larger = 1.0 + (square + root) / (2.0 * ratio);
    if sample_uniform(rng) * (1.0 + larger.recip()) <= 1.0 {
        mean / larger
    } else {
        mean * larger
    }
}
