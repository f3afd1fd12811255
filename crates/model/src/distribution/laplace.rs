//! The Laplace distribution.

use std::f64::consts::LN_2;

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::draw::{sample_sign, standard_exponential};
use super::elementwise::elementwise;
use super::family::ScalarFamily;
use super::{Distribution, Value};

/// Two exponential distributions back to back.
#[derive(Clone, Debug)]
pub struct Laplace<'g> {
    loc: Value<'g>,
    scale: Value<'g>,
}

impl<'g> Laplace<'g> {
    /// The Laplace distribution with mean `loc` and mean absolute deviation `scale`.
    pub fn new(loc: impl Into<Value<'g>>, scale: impl Into<Value<'g>>) -> Self {
        Laplace {
            loc: loc.into(),
            scale: scale.into(),
        }
    }
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
