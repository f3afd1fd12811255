//! The von Mises distribution of angles.

use std::f64::consts::{PI, TAU};

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};
use rand::Rng;

use super::Distribution;
use super::draw::{sample_sign, sample_uniform, standard_normal};
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;

of_values! {
    /// Angles from −π to π around a direction: the normal distribution of the circle.
    VonMises,
    /// Angles around `direction`, in radians. Their variance is about 1/`concentration` if that is
    /// large; at 0 the distribution is uniform.
    new(direction, concentration)
}

impl<'g> Distribution<'g> for VonMises<'g> {
    elementwise!(
        FAMILY, ResponseKind::Within(-PI, PI), Some(Support::Interval(-PI, PI)),
        direction: require_finite, concentration: require_positive
    );

    /// κ cos(x − μ) − ln 2π − ln I₀(κ), with 1 − cos(x − μ) = 2 sin²(½(x − μ)), which does not
    /// cancel.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let concentration = self.concentration.on_graph(graph);
        let apart = (x - self.direction.on_graph(graph)) * 0.5;
        let scaled = concentration.log_bessel_i0e();
        concentration * apart.sin().square() * -2.0 - scaled - TAU.ln()
    }

    /// The mean direction, which is the mean of the angles if few are far from it.
    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let direction = self.direction.on_graph(graph);
        Some(direction.broadcast(Distribution::value_shape(self)))
    }

    /// The square of the circular standard deviation, −2 ln R, where R is the mean of cos(x − μ).
    /// It is about the variance of the angles if few are far from the direction.
    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let spread = self.concentration.on_graph(graph).bessel_ratio().ln() * -2.0;
        Some(spread.broadcast(Distribution::value_shape(self)))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "VonMises",
    draw: |p, rng| wrap_angle(p[0] + sample_deviation(p[1], rng)),
};

/// From here on the angles are normal to double precision.
const NARROW: f64 = 1e8;
/// Up to here the angles are uniform to double precision.
const WIDE: f64 = 1e-8;

/// An angle around 0. Best & Fisher (1979): rejection from a wrapped Cauchy distribution.
fn sample_deviation(concentration: f64, rng: &mut dyn Rng) -> f64 {
    if concentration.is_nan() {
        return f64::NAN;
    }
    if concentration > NARROW {
        return standard_normal(rng) / concentration.sqrt();
    }
    if concentration < WIDE {
        return PI * (2.0 * sample_uniform(rng) - 1.0);
    }
    let root = 1.0 + (1.0 + 4.0 * concentration * concentration).sqrt();
    let rho = (root - (2.0 * root).sqrt()) / (2.0 * concentration);
    let scale = (1.0 + rho * rho) / (2.0 * rho);
    loop {
        let turn = (PI * sample_uniform(rng)).cos();
        let cosine = (1.0 + scale * turn) / (scale + turn);
        let excess = concentration * (scale - cosine);
        let height = sample_uniform(rng);
        if excess * (2.0 - excess) > height || (excess / height).ln() + 1.0 >= excess {
            return sample_sign(rng) * cosine.clamp(-1.0, 1.0).acos();
        }
    }
}

/// The angle from −π to π.
fn wrap_angle(angle: f64) -> f64 {
    (angle - TAU * (angle / TAU).round()).clamp(-PI, PI)
}
