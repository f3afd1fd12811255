//! Stationary covariance functions and their spectral densities.

use std::f64::consts::PI;

use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

/// The correlation of a random function between two places, by their distance d² = Σ (xⱼ −
/// x′ⱼ)²/ℓⱼ².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kernel {
    /// exp(−½d²): functions with all derivatives.
    #[default]
    Rbf,
    /// (1 + √3 d) e^{−√3 d}: functions with one derivative.
    Matern32,
    /// (1 + √5 d + 5d²/3) e^{−√5 d}: functions with two derivatives.
    Matern52,
}

impl Kernel {
    /// The correlation at a distance in lengthscales.
    pub fn correlation(self, distance: f64) -> f64 {
        match self {
            Kernel::Rbf => (-0.5 * distance * distance).exp(),
            Kernel::Matern32 => {
                let r = 3_f64.sqrt() * distance;
                (1.0 + r) * (-r).exp()
            }
            Kernel::Matern52 => {
                let r = 5_f64.sqrt() * distance;
                (1.0 + r + r * r / 3.0) * (-r).exp()
            }
        }
    }

    /// The correlations at squared distances in lengthscales.  The square root has no slope at 0,
    /// but the correlation has one in d². The distance is therefore kept at 10⁻⁶ lengthscales or
    /// more, which changes the correlation by 10⁻¹².
    pub(super) fn correlations(self, squares: Expr<'_>) -> Expr<'_> {
        let Some(smoothness) = self.smoothness() else {
            return (squares * -0.5).exp();
        };
        let r = ((squares + 1e-12) * (2.0 * smoothness)).sqrt();
        let size = match self {
            Kernel::Matern52 => r + 1.0 + r.square() * (1.0 / 3.0),
            _ => r + 1.0,
        };
        size * (-r).exp()
    }

    /// ln G(ω)/s² − Σ ln ℓⱼ of a function of `columns` columns, where q = Σ ℓⱼ²ωⱼ²:
    ///
    /// ```text
    /// RBF        ½d ln 2π − ½q
    /// Matérn ν   ln 2^d π^{d/2} Γ(ν + d/2) (2ν)^ν/Γ(ν) − (ν + d/2) ln(2ν + q)
    /// ```
    pub fn log_spectrum(self, q: Expr<'_>, columns: usize) -> Expr<'_> {
        let half = 0.5 * columns as f64;
        let Some(smoothness) = self.smoothness() else {
            return q * -0.5 + half * (2.0 * PI).ln();
        };
        let power = smoothness + half;
        let constant = columns as f64 * 2_f64.ln()
            + half * PI.ln()
            + smoothness * (2.0 * smoothness).ln()
            + log_gamma_of_halves(power)
            - log_gamma_of_halves(smoothness);
        (q + 2.0 * smoothness).ln() * -power + constant
    }

    /// ν of a Matérn kernel.
    fn smoothness(self) -> Option<f64> {
        match self {
            Kernel::Rbf => None,
            Kernel::Matern32 => Some(1.5),
            Kernel::Matern52 => Some(2.5),
        }
    }

    /// The distance, in lengthscales, beyond which the correlation is below 10⁻³, halved: how far
    /// the boundary must be for a function not to be affected by its mirror image behind it.
    pub(super) fn correlation_reach(self) -> f64 {
        match self {
            // ½√(2 ln 10³)
            Kernel::Rbf => 1.858_461_3,
            Kernel::Matern32 => 2.665,
            Kernel::Matern52 => 2.436,
        }
    }

    /// The number of basis functions for a half width of one lengthscale. Beyond their frequencies
    /// the RBF spectrum holds a share of 10⁻³ of the variance; the others, whose tails are
    /// polynomial, hold 10⁻².
    pub(super) fn spectral_density(self) -> f64 {
        match self {
            // (2/π)√(2 ln 10³)
            Kernel::Rbf => 2.366_266,
            Kernel::Matern32 => 4.6,
            Kernel::Matern52 => 3.6,
        }
    }
}

/// ln Γ of a positive multiple of ½.
fn log_gamma_of_halves(x: f64) -> f64 {
    if x < 0.75 {
        0.5 * PI.ln()
    } else if x < 1.25 {
        0.0
    } else {
        (x - 1.0).ln() + log_gamma_of_halves(x - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use lehr_graph::Graph;
    use lehr_graph::reference::{InputValues, evaluate};

    use super::*;

    const KERNELS: [Kernel; 3] = [Kernel::Rbf, Kernel::Matern32, Kernel::Matern52];

    /// ∫ G(ω) dω/(2π)^d is the variance, here of unit scale and lengthscales, by the trapezoidal
    /// rule.
    #[test]
    fn a_spectrum_integrates_to_the_variance() {
        let (step, count) = (0.01, 60_000);
        let graph = Graph::new();
        let frequencies: Vec<f64> = (0..count).map(|k| step * f64::from(k)).collect();
        for kernel in KERNELS {
            for columns in [1, 2] {
                let q = graph.constant([frequencies.len()], &frequencies).square();
                let log = kernel.log_spectrum(q, columns);
                let values = evaluate(&[log], &InputValues::new(), 1).remove(0);
                let shell = |omega: f64| match columns {
                    1 => 1.0 / PI,
                    _ => omega / (2.0 * PI),
                };
                let sum: f64 = (frequencies.iter().zip(&values).enumerate())
                    .map(|(k, (omega, log))| {
                        let edge = if k == 0 { 0.5 } else { 1.0 };
                        edge * step * shell(*omega) * log.exp()
                    })
                    .sum();
                assert!((sum - 1.0).abs() < 1e-3, "{kernel:?}, {columns}: {sum}");
            }
        }
    }

    #[test]
    fn the_reach_is_where_correlations_vanish() {
        for kernel in KERNELS {
            let left = kernel.correlation(2.0 * kernel.correlation_reach());
            assert!((left / 1e-3 - 1.0).abs() < 0.05, "{kernel:?}: {left}");
        }
    }
}
