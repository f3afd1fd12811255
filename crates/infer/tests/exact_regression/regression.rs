//! The regression: prior, rows, posterior, evidence.

use faer::{Mat, Scale};
use lehr_numeric::dense::inverse;

use super::gaussian::Gaussian;

/// Precision of a likelihood in z, and precision times its mean.
pub(crate) type Information = (Mat<f64>, Mat<f64>);

/// yₙ ~ N(xₙ·z, noise²), z ~ prior.
#[derive(Clone, Debug)]
pub(crate) struct Regression {
    /// Covariates, a row each.
    pub(crate) x: Mat<f64>,
    /// Responses, a column.
    pub(crate) y: Mat<f64>,
    /// Standard deviation of the noise.
    pub(crate) noise_scale: f64,
    /// The prior.
    pub(crate) prior: Gaussian,
}

impl Regression {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.x.nrows()
    }

    /// How many weights there are.
    pub(crate) fn width(&self) -> usize {
        self.x.ncols()
    }

    /// Every row.
    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.rows()).collect()
    }

    /// The information in some rows, each counted `share` times.
    pub(crate) fn information(&self, rows: &[usize], share: f64) -> Information {
        let weight = share / self.noise_scale.powi(2);
        let width = self.width();
        let sum = |f: &dyn Fn(usize) -> f64| rows.iter().map(|&n| f(n)).sum::<f64>() * weight;
        let precision = Mat::from_fn(width, width, |i, j| {
            sum(&|n| self.x[(n, i)] * self.x[(n, j)])
        });
        let product = Mat::from_fn(width, 1, |i, _| sum(&|n| self.x[(n, i)] * self.y[(n, 0)]));
        (precision, product)
    }

    /// The posterior under a likelihood with this information.
    pub(crate) fn posterior_of(&self, (precision, product): &Information) -> Gaussian {
        let prior_precision = inverse(&self.prior.covariance);
        let covariance = inverse(&(&prior_precision + precision));
        Gaussian {
            mean: &covariance * (&prior_precision * &self.prior.mean + product),
            covariance,
        }
    }

    /// The posterior.
    pub(crate) fn posterior(&self) -> Gaussian {
        self.posterior_of(&self.information(&self.all(), 1.0))
    }

    /// log p(D)
    pub(crate) fn log_evidence(&self) -> f64 {
        let rows = self.rows();
        let noise = Mat::<f64>::identity(rows, rows) * Scale(self.noise_scale.powi(2));
        let marginal = Gaussian {
            mean: &self.x * &self.prior.mean,
            covariance: &self.x * &self.prior.covariance * self.x.transpose() + noise,
        };
        let point = Gaussian {
            mean: self.y.clone(),
            covariance: Mat::zeros(rows, rows),
        };
        marginal.expected_log_density(&point)
    }
}
