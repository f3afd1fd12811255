//! The closed-form study: one linear regression, with its chains computed exactly and by our
//! sampler.

use std::sync::Arc;

use faer::{Mat, Scale};
use lehr_infer::annealed::{AnnealedGuide, AnnealedStart, Drive, Momentum};
use lehr_infer::draw::evaluate;
use lehr_infer::fit::FitError;
use lehr_infer::guide::{Guide, LearnedBlocks, MeanField, WhitenedDensity, Whitening};
use lehr_infer::posterior::Estimate;
use lehr_model::distribution::{Distribution, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::dense::{inverse, trace};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, sd};
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::paper::error::PaperError;
use crate::paper::exact_regression::{Gaussian, Information, Regression, Walk};

/// Rows of the regression.
pub(crate) const ROWS: usize = 12;
/// Its weights.
pub(crate) const WIDTH: usize = 3;
/// Rows of the surrogate that stands on random rows with equal weights.
pub(crate) const SURROGATE_ROWS: usize = 6;
/// Standard deviation of its noise.
const NOISE: f64 = 1.0;
/// Longer chains are not sampled: their exact bound is as good.
const LONGEST_SAMPLED: usize = 64;

/// A linear regression with a N(0, 1) prior.
pub(crate) struct Study {
    regression: Regression,
    log_evidence: f64,
    posterior: Gaussian,
    /// √ of the largest eigenvalue of the posterior's precision, about: no stable step is longer
    /// than twice its inverse.
    stiffness: f64,
}

/// Exact gaps of chains of one length to the log evidence.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Gaps {
    /// K
    pub(crate) steps: usize,
    /// On all rows with η ∝ K^(−1/4), as the paper assumes.
    pub(crate) falling: f64,
    /// On all rows with the η that is best for this K, as it would be learned.
    pub(crate) best: f64,
    /// On `SURROGATE_ROWS` random rows of equal weight, η ∝ K^(−1/4).
    pub(crate) surrogate: f64,
    /// `falling` by sampling our own chain.
    pub(crate) sampled: Option<Estimate>,
}

/// The effect of a surrogate with wrong curvature.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Wrong {
    /// Size of the error in the curvature, relative to the curvature.
    pub(crate) error: f64,
    /// |Tr Λ⁻¹δB|, the paper's bound on the remaining gap.
    pub(crate) stated: f64,
    /// KL of the surrogate's posterior from the posterior.
    pub(crate) divergence: f64,
    /// The gap of a long chain with the best η.
    pub(crate) gap: f64,
    /// The gap of a chain of that length on all rows.
    pub(crate) without: f64,
}

impl Default for Study {
    fn default() -> Self {
        Study::new()
    }
}

impl Study {
    /// The regression of the study.
    pub(crate) fn new() -> Study {
        let regression = regression();
        let posterior = regression.posterior();
        let precision = inverse(&posterior.covariance);
        Study {
            log_evidence: regression.log_evidence(),
            stiffness: largest_eigenvalue(&precision).sqrt(),
            regression,
            posterior,
        }
    }

    /// The gap of the best independent Gaussian; a full-rank one has none.
    pub(crate) fn mean_field_gap(&self) -> f64 {
        self.posterior.mean_field_divergence()
    }

    /// The limit of long chains on the surrogate of random rows.
    pub(crate) fn surrogate_divergence(&self) -> f64 {
        let own = self.regression.posterior_of(&self.random_rows());
        own.divergence_from(&self.posterior)
    }

    /// All gaps of chains of `steps`; short chains are also sampled with `draws`.
    pub(crate) fn gaps(&self, steps: usize, draws: usize) -> Result<Gaps, PaperError> {
        let exact = self.information();
        let sampled = (steps <= LONGEST_SAMPLED).then(|| self.sampled(steps, draws));
        Ok(Gaps {
            steps,
            falling: self.gap(steps, self.falling(steps), &exact),
            best: self.best(steps, &exact),
            surrogate: self.gap(steps, self.falling(steps), &self.random_rows()),
            sampled: sampled.transpose()?,
        })
    }

    /// The effect of a surrogate with δB = error·S, where S is symmetric and of the size of B.
    pub(crate) fn wrong(&self, error: f64, steps: usize) -> Wrong {
        let (precision, product) = self.information();
        let off = skewed(&precision) * Scale(error);
        let covariance = &self.posterior.covariance;
        let information = (&precision + &off, &product + &off * &self.posterior.mean);
        let own = self.regression.posterior_of(&information);
        Wrong {
            error,
            stated: trace(&(covariance * &off)).abs(),
            divergence: own.divergence_from(&self.posterior),
            gap: self.best(steps, &information),
            without: self.best(steps, &(precision, product)),
        }
    }

    fn information(&self) -> Information {
        self.regression.information(&self.regression.all(), 1.0)
    }

    fn random_rows(&self) -> Information {
        let rows: Vec<usize> = (0..SURROGATE_ROWS).collect();
        let share = ROWS as f64 / SURROGATE_ROWS as f64;
        self.regression.information(&rows, share)
    }

    /// η = 1.8 K^(−1/4)/√λ: stable from one step on.
    fn falling(&self, steps: usize) -> f64 {
        1.8 * (steps as f64).powf(-0.25) / self.stiffness
    }

    fn gap(&self, steps: usize, step_size: f64, information: &Information) -> f64 {
        let walk = Walk::plain(steps, step_size, WIDTH);
        let (z, weight) = walk.propagate(&self.regression, information);
        -(weight + self.posterior.expected_log_density(&z))
    }

    /// The smallest gap over step sizes: golden sections in ln η below the stable limit.
    fn best(&self, steps: usize, information: &Information) -> f64 {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        const LOOKS: usize = 24;
        let at = |x: f64| self.gap(steps, x.exp(), information);
        let top = (1.99 / self.stiffness).ln();
        let (mut low, mut high) = (top - 5.0, top);
        let mut inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
        let mut values = inner.map(at);
        for _ in 0..LOOKS {
            if values[0] < values[1] {
                high = inner[1];
                inner = [high - GOLDEN * (high - low), inner[0]];
                values = [at(inner[0]), values[0]];
            } else {
                low = inner[0];
                inner = [inner[1], low + GOLDEN * (high - low)];
                values = [values[1], at(inner[1])];
            }
        }
        values[0].min(values[1])
    }

    /// The gap of our own chain, by sampling it.
    fn sampled(&self, steps: usize, draws: usize) -> Result<Estimate, PaperError> {
        let step_size = self.falling(steps);
        let guide = AnnealedGuide {
            // The prior, as it stands.
            base: Arc::new(MeanField { start_scale: 1.0 }),
            drive: Drive::FullData,
            steps,
            momentum: Momentum::Diagonal,
            start: AnnealedStart {
                step_size,
                refreshment: 0.0,
                max_step_size: 2.0 * step_size,
                ..AnnealedStart::default()
            },
        };
        let density = bind(&self.regression)?;
        let learned = LearnedBlocks::new(guide.blocks(&density));
        let place = WhitenedDensity::new(&density, &Whitening::Identity);
        let found = evaluate(place, &guide, &learned, (draws, 1));
        let weights = found.map_err(|error| PaperError::Fit {
            cell: format!("chain of {steps} steps"),
            source: Box::new(FitError::Train(error)),
        })?;
        let weights = weights.log_weights;
        Ok(Estimate {
            mean: self.log_evidence - mean(&weights),
            error: sd(&weights) / (weights.len() as f64).sqrt(),
        })
    }
}

/// A symmetric matrix of the size of B whose trace against Λ⁻¹ does not vanish.
fn skewed(precision: &Mat<f64>) -> Mat<f64> {
    let size = trace(precision) / WIDTH as f64;
    let mut stream = Stream::new(5, "surrogate error", 0);
    let noise: Vec<f64> = (0..WIDTH * WIDTH).map(|_| stream.normal()).collect();
    Mat::from_fn(WIDTH, WIDTH, |i, j| {
        let own = if i == j { 1.0 } else { 0.0 };
        size * (own + 0.2 * (noise[i * WIDTH + j] + noise[j * WIDTH + i]))
    })
}

/// Correlated covariates and responses from known weights.
fn regression() -> Regression {
    let mut stream = Stream::new(3, "convergence", 0);
    let numbers: Vec<f64> = (0..ROWS * WIDTH).map(|_| stream.normal()).collect();
    let x = Mat::from_fn(ROWS, WIDTH, |n, i| {
        let own = numbers[n * WIDTH + i];
        0.3 * own + 0.24 * numbers[n * WIDTH] * f64::from(i > 0)
    });
    let y = Mat::from_fn(ROWS, 1, |n, _| {
        let fit: f64 = (0..WIDTH).map(|i| x[(n, i)] * (1.0 - 0.5 * i as f64)).sum();
        fit + NOISE * stream.normal()
    });
    Regression {
        x,
        y,
        noise_scale: NOISE,
        prior: Gaussian {
            mean: Mat::zeros(WIDTH, 1),
            covariance: Mat::identity(WIDTH, WIDTH),
        },
    }
}

fn bind(regression: &Regression) -> Result<Bound, PaperError> {
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([WIDTH]));
        m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), NOISE)));
    });
    let x = (0..ROWS * WIDTH).map(|k| regression.x[(k / WIDTH, k % WIDTH)]);
    let y = (0..ROWS).map(|n| regression.y[(n, 0)]);
    let table = Table::new()
        .with_matrix("x", ROWS, WIDTH, x.collect())?
        .with_number("y", y.collect())?;
    Ok(model.bind(&table)?)
}

/// By power iteration.
fn largest_eigenvalue(matrix: &Mat<f64>) -> f64 {
    let mut x = Mat::from_fn(matrix.nrows(), 1, |i, _| 1.0 + 0.1 * i as f64);
    let mut size = 0.0;
    for _ in 0..200 {
        x = matrix * &x;
        size = x.norm_l2();
        x *= Scale(1.0 / size);
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_chain_has_the_exact_gap() {
        let study = Study::new();
        for steps in [1, 8] {
            let gaps = study.gaps(steps, 3000).unwrap();
            let found = gaps.sampled.unwrap();
            let off = (found.mean - gaps.falling).abs();
            assert!(
                off < 4.0 * found.error,
                "{steps}: {found:?} for {}",
                gaps.falling
            );
            assert!(gaps.best <= gaps.falling && gaps.best > 0.0);
        }
    }

    #[test]
    fn a_surrogate_s_error_is_left_at_second_order() {
        let study = Study::new();
        let [small, large] = [0.01, 0.1].map(|error| study.wrong(error, 4));
        let ratio = large.divergence / small.divergence;
        assert!(ratio > 70.0 && ratio < 110.0, "{ratio}");
        assert!((large.stated / small.stated - 10.0).abs() < 1e-9);
        assert!(large.divergence < large.stated);
    }
}
