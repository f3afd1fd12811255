//! The inverse gamma distribution.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::Distribution;
use super::draw::{log_gamma, positive};
use super::elementwise::{defined, elementwise, of_values};
use super::family::ScalarFamily;

of_values! {
    /// The reciprocal of a draw of Gamma(shape, scale).
    InverseGamma,
    /// The inverse gamma distribution; its mean is `scale`/(`shape` − 1).
    new(shape, scale)
}

impl<'g> Distribution<'g> for InverseGamma<'g> {
    elementwise!(
        FAMILY, ResponseKind::Positive, Some(Support::Positive),
        shape: require_positive, scale: require_positive,
    );

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (shape, scale) = (self.shape.on_graph(graph), self.scale.on_graph(graph));
        let constant = shape * scale.ln() - shape.lgamma();
        constant - (shape + 1.0) * x.ln() - scale * x.recip()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let shape = self.shape.on_graph(graph);
        let mean = self.scale.on_graph(graph) / (shape - 1.0);
        defined(graph.scalar(1.0).less(shape), mean)
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let shape = self.shape.on_graph(graph);
        let variance = self.mean(graph)?.square() / (shape - 2.0);
        defined(graph.scalar(2.0).less(shape), variance)
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "InverseGamma",
    draw: |p, rng| positive(p[1] * (-log_gamma(p[0], rng)).exp()),
};
