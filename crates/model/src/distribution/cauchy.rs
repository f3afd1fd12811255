//! The Cauchy distribution.

use std::f64::consts::PI;

use lehr_density::{ResponseKind, Support};
use lehr_graph::Expr;

use super::Distribution;
use super::draw::standard_cauchy;
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;

of_values! {
    /// Student's t with one degree of freedom.
    Cauchy,
    /// The Cauchy distribution with median `loc`, half of whose mass lies within `scale` of it.
    new(loc, scale)
}

impl<'g> Distribution<'g> for Cauchy<'g> {
    elementwise!(FAMILY, ResponseKind::Real, Some(Support::Real), loc: require_finite, scale: require_positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (graph, scale) = (x.graph(), self.scale.on_graph(x.graph()));
        let z = (x - self.loc.on_graph(graph)) * scale.recip();
        -z.square().log1p() - (scale.ln() + PI.ln())
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Cauchy",
    draw: |p, rng| p[0] + p[1] * standard_cauchy(rng),
};
