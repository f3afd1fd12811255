//! The Laplace distribution.

use std::f64::consts::LN_2;

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::Distribution;
use super::draw::{sample_sign, standard_exponential};
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;

of_values! {
    /// Two exponential distributions back to back.
    Laplace,
    /// The Laplace distribution with mean `loc` and mean absolute deviation `scale`.
    new(loc, scale)
}

impl<'g> Distribution<'g> for Laplace<'g> {
    elementwise!(FAMILY, ResponseKind::Real, Some(Support::Real), loc: require_finite, scale: require_positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (graph, scale) = (x.graph(), self.scale.on_graph(x.graph()));
        -(x - self.loc.on_graph(graph)).abs() * scale.recip() - (scale.ln() + LN_2)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.loc.on_graph(graph).broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some((self.scale.on_graph(graph).square() * 2.0).broadcast(self.value_shape()))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Laplace",
    draw: |p, rng| p[0] + p[1] * sample_sign(rng) * standard_exponential(rng),
};
