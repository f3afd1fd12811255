//! A chain on a linear regression as its exact means and covariances.

use faer::{Mat, Scale};
use lehr_numeric::dense::{inverse, trace};

use super::gaussian::Gaussian;
use super::regression::{Information, Regression};

/// A chain from the prior with γ = 0 and equal increments of β: K, η, and R with drift ½ηRp and
/// kick ηRᵀg for p ~ N(0, 1).
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// K
    pub(crate) steps: usize,
    /// η
    pub(crate) step_size: f64,
    /// R, with RRᵀ = M⁻¹.
    pub(crate) root: Mat<f64>,
}

impl Walk {
    /// A chain with unit mass.
    pub(crate) fn plain(steps: usize, step_size: f64, size: usize) -> Walk {
        Walk {
            steps,
            step_size,
            root: Mat::identity(size, size),
        }
    }

    /// `z_K`, and E[−log q₀(z₀) + Σ log N(v̂) − log N(v)], of the chain on a likelihood with this
    /// information.
    pub(crate) fn propagate(
        &self,
        regression: &Regression,
        (precision, product): &Information,
    ) -> (Gaussian, f64) {
        let prior = &regression.prior;
        let prior_precision = inverse(&prior.covariance);
        let prior_product = &prior_precision * &prior.mean;
        let mut z = prior.clone();
        let mut weight = -prior.expected_log_density(prior);
        for k in 1..=self.steps {
            let beta = k as f64 / self.steps as f64;
            let bend = &prior_precision + precision * Scale(beta);
            let pull = &prior_product + product * Scale(beta);
            let (next, gained) = self.step(&z, (&bend, &pull));
            z = next;
            weight += gained;
        }
        (z, weight)
    }

    /// The exact mean of the log weight of the chain run backwards from the posterior. A backward
    /// step is a step with reversed momentum, which has the same distribution.
    pub(crate) fn upper_bound(
        &self,
        regression: &Regression,
        (precision, product): &Information,
    ) -> f64 {
        let prior = &regression.prior;
        let prior_precision = inverse(&prior.covariance);
        let prior_product = &prior_precision * &prior.mean;
        let posterior = regression.posterior();
        let mut z = posterior.clone();
        let mut weight = regression.log_evidence() + posterior.expected_log_density(&posterior);
        for k in (1..=self.steps).rev() {
            let beta = k as f64 / self.steps as f64;
            let bend = &prior_precision + precision * Scale(beta);
            let pull = &prior_product + product * Scale(beta);
            let (next, gained) = self.step(&z, (&bend, &pull));
            z = next;
            weight -= gained;
        }
        weight - prior.expected_log_density(&z)
    }

    /// One step under a force pull − bend·z: the next z, and E[log N(p̂) − log N(p)].
    fn step(&self, z: &Gaussian, (bend, pull): (&Mat<f64>, &Mat<f64>)) -> (Gaussian, f64) {
        let size = z.mean.nrows();
        let half = &self.root * Scale(0.5 * self.step_size);
        let kick = self.root.transpose() * Scale(self.step_size);
        // (z, p) ↦ p̂ = p + ηRᵀ(pull − bend ẑ), ẑ = z + ½ηRp, both affine in (z, p).
        let p_of_z = &kick * bend * Scale(-1.0);
        let p_of_p = Mat::<f64>::identity(size, size) + &p_of_z * &half;
        let p_mean = &p_of_z * &z.mean + &kick * pull;
        let p_covariance =
            &p_of_z * &z.covariance * p_of_z.transpose() + &p_of_p * p_of_p.transpose();
        let length = (p_mean.transpose() * &p_mean)[(0, 0)];
        let z_of_z = Mat::<f64>::identity(size, size) + &half * &p_of_z;
        let z_of_p = &half + &half * &p_of_p;
        let next = Gaussian {
            mean: &z.mean + &half * &p_mean,
            covariance: &z_of_z * &z.covariance * z_of_z.transpose() + &z_of_p * z_of_p.transpose(),
        };
        (next, 0.5 * (size as f64 - length - trace(&p_covariance)))
    }

    /// The exact bound, scored on all rows, and `z_K`.
    pub(crate) fn bound(
        &self,
        regression: &Regression,
        information: &Information,
    ) -> (f64, Gaussian) {
        let (z, weight) = self.propagate(regression, information);
        let joint = regression.log_evidence() + regression.posterior().expected_log_density(&z);
        (weight + joint, z)
    }
}
