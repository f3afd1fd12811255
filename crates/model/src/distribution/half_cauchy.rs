//! The half-Cauchy distribution.

use std::f64::consts::FRAC_PI_2;

use lehr_density::{ResponseKind, Support};
use lehr_graph::Expr;

use super::Distribution;
use super::draw::standard_cauchy;
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;

of_values! {
    /// The absolute value of a draw of Cauchy(0, scale).
    HalfCauchy,
    /// The positive half of a Cauchy distribution; its median is `scale`.
    new(scale)
}

impl<'g> Distribution<'g> for HalfCauchy<'g> {
    elementwise!(FAMILY, ResponseKind::NonNegative, Some(Support::Positive), scale: require_positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let scale = self.scale.on_graph(x.graph());
        let z = x * scale.recip();
        -z.square().log1p() - (scale.ln() + FRAC_PI_2.ln())
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "HalfCauchy",
    draw: |p, rng| p[0] * standard_cauchy(rng).abs(),
};
