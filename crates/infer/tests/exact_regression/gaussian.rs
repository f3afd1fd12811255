//! Gaussians by mean and covariance.

use std::f64::consts::PI;

use faer::Mat;
use lehr_numeric::dense::{inverse, log_determinant, quadratic_form, trace};

/// N(mean, covariance)
#[derive(Clone, Debug)]
pub(crate) struct Gaussian {
    /// A column.
    pub(crate) mean: Mat<f64>,
    /// Symmetric and positive definite.
    pub(crate) covariance: Mat<f64>,
}

impl Gaussian {
    /// E ln N(z) over z of another Gaussian.
    pub(crate) fn expected_log_density(&self, over: &Gaussian) -> f64 {
        let precision = inverse(&self.covariance);
        let apart = &over.mean - &self.mean;
        let spread = trace(&(&precision * &over.covariance)) + quadratic_form(&precision, &apart);
        let size = self.mean.nrows() as f64;
        -0.5 * (spread + log_determinant(&self.covariance) + size * (2.0 * PI).ln())
    }

    /// KL(self ‖ other)
    pub(crate) fn divergence_from(&self, other: &Gaussian) -> f64 {
        self.expected_log_density(self) - other.expected_log_density(self)
    }

    /// KL(q ‖ self) of the closest q with independent coordinates: it has the same mean, and for
    /// each coordinate the conditional variance given the others.
    pub(crate) fn mean_field_divergence(&self) -> f64 {
        let precision = inverse(&self.covariance);
        let own: f64 = (0..self.mean.nrows()).map(|i| precision[(i, i)].ln()).sum();
        0.5 * (own - log_determinant(&precision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_independent_gaussian_has_the_stated_divergence() {
        let covariance = Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 0.6 });
        let mean = Mat::from_fn(2, 1, |i, _| i as f64);
        let whole = Gaussian { mean, covariance };
        let with_variance = |variance: f64| Gaussian {
            mean: whole.mean.clone(),
            covariance: Mat::from_fn(2, 2, |i, j| if i == j { variance } else { 0.0 }),
        };
        let best = with_variance(1.0 - 0.36).divergence_from(&whole);
        assert!((best - whole.mean_field_divergence()).abs() < 1e-12);
        assert!(best < with_variance(0.7).divergence_from(&whole));
        assert!(best < with_variance(0.6).divergence_from(&whole));
    }
}
