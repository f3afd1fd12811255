//! The half-normal distribution.

use std::f64::consts::PI;

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::Distribution;
use super::draw::standard_normal;
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;

of_values! {
    /// The absolute value of a draw of N(0, scale²).
    HalfNormal,
    /// The positive half of a normal distribution with standard deviation `scale` (of the whole).
    new(scale)
}

/// ½ ln(π/2).
const HALF_LN_HALF_PI: f64 = 0.225_791_352_644_727_43;

impl<'g> Distribution<'g> for HalfNormal<'g> {
    elementwise!(FAMILY, ResponseKind::NonNegative, Some(Support::Positive), scale: require_positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let scale = self.scale.on_graph(x.graph());
        let z = x * scale.recip();
        z.square() * -0.5 - (scale.ln() + HALF_LN_HALF_PI)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.scale.on_graph(graph) * (2.0 / PI).sqrt())
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.scale.on_graph(graph).square() * (1.0 - 2.0 / PI))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "HalfNormal",
    draw: |p, rng| p[0] * standard_normal(rng).abs(),
};
