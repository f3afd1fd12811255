//! The error function and the logarithm of the normal distribution function.

use std::f64::consts::FRAC_1_SQRT_2;

/// ½ ln 2π.
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;
/// From here on the expansion of the tail has converged to double precision.
const TAIL_BELOW: f64 = -20.0;

/// erf x = 2/√π ∫₀ˣ e^(−t²) dt.
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// 1 − erf x, without cancellation for large x.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// ln Φ(x), the logarithm of the standard normal distribution function, to full relative
/// precision in both tails.
pub fn normal_log_cdf(x: f64) -> f64 {
    if x < TAIL_BELOW {
        let inverse_square = 1.0 / (x * x);
        return -0.5 * x * x - (-x).ln() - HALF_LN_2_PI + tail_excess(inverse_square).ln_1p();
    }
    let below = 0.5 * erfc(-x * FRAC_1_SQRT_2);
    if x < 0.0 {
        return below.ln();
    }
    (-0.5 * erfc(x * FRAC_1_SQRT_2)).ln_1p()
}

/// −x Φ(x)/φ(x) − 1 for very negative x, with u = 1/x²: −u + 3u² − 15u³ + … (Abramowitz and
/// Stegun 26.2.12).
fn tail_excess(u: f64) -> f64 {
    let mut sum = 0.0;
    for odd in [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = -odd * u * (1.0 + sum);
    }
    sum
}
