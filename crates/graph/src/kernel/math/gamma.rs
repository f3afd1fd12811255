//! The logarithm of the gamma function and its derivatives of every order.

use std::f64::consts::PI;

/// B₂ₖ, the Bernoulli numbers of even index from the second.
const BERNOULLI: [f64; 12] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174_611.0 / 330.0,
    854_513.0 / 138.0,
    -236_364_091.0 / 2730.0,
];

/// From here on the expansion of order zero has converged to double precision; an order n needs n
/// more.
const LARGE: f64 = 12.0;

/// The zero of the digamma function, in two parts, and the reach of the expansion around it.
const ZERO: f64 = 0.0;
const ZERO_REST: f64 = 0.0;

/// ln|Γ(x)|; +∞ at the poles 0, −1, −2, …
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}
