//! Linear regression with known noise: posterior, evidence and chains in closed form.

use std::f64::consts::PI;

use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use lehr_model::distribution::{Distribution, Normal};
use lehr_model::{Bound, Model};
use lehr_table::Table;

use crate::normals;

pub(crate) const NOISE: f64 = 0.8;
pub(crate) const PRIOR_MEAN: f64 = 0.4;
pub(crate) const PRIOR_SCALE: f64 = 1.5;

/// A regression with its rows.
pub(crate) struct Linear {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Mat<f64>,
}

/// N(mean, covariance)
#[derive(Clone)]
pub(crate) struct Gaussian {
    pub(crate) mean: Mat<f64>,
    pub(crate) covariance: Mat<f64>,
}

pub(crate) fn inverse(matrix: &Mat<f64>) -> Mat<f64> {
    matrix.llt(Side::Lower).unwrap().inverse()
}

pub(crate) fn log_determinant(matrix: &Mat<f64>) -> f64 {
    let factor = matrix.llt(Side::Lower).unwrap();
    let diagonal = (0..matrix.nrows()).map(|i| factor.L()[(i, i)].ln());
    2.0 * diagonal.sum::<f64>()
}

pub(crate) fn trace(matrix: &Mat<f64>) -> f64 {
    (0..matrix.nrows()).map(|i| matrix[(i, i)]).sum()
}

/// xᵀ A x
pub(crate) fn form(matrix: &Mat<f64>, x: &Mat<f64>) -> f64 {
    (x.transpose() * matrix * x)[(0, 0)]
}

impl Gaussian {
    /// E ln N(z) over z of another Gaussian.
    pub(crate) fn expected_log_density(&self, over: &Gaussian) -> f64 {
        let precision = inverse(&self.covariance);
        let apart = &over.mean - &self.mean;
        let spread = trace(&(&precision * &over.covariance)) + form(&precision, &apart);
        let size = self.mean.nrows() as f64;
        -0.5 * (spread + log_determinant(&self.covariance) + size * (2.0 * PI).ln())
    }

    /// KL(self ‖ other)
    pub(crate) fn divergence_from(&self, other: &Gaussian) -> f64 {
        self.expected_log_density(self) - other.expected_log_density(self)
    }
}

impl Linear {
    /// Rows with correlated covariates and responses from known weights.
    pub(crate) fn new(rows: usize, width: usize, seed: u64) -> Linear {
        let numbers = normals(rows * width, seed);
        let noise = normals(rows, seed + 1000);
        let x = Mat::from_fn(rows, width, |n, i| {
            let own = numbers[n * width + i];
            if i == 0 {
                own
            } else {
                0.8 * own + 0.5 * numbers[n * width]
            }
        });
        let y = Mat::from_fn(rows, 1, |n, _| {
            let fit: f64 = (0..width).map(|i| x[(n, i)] * (1.0 - 0.7 * i as f64)).sum();
            fit + NOISE * noise[n]
        });
        Linear { x, y }
    }

    pub(crate) fn rows(&self) -> usize {
        self.x.nrows()
    }

    pub(crate) fn width(&self) -> usize {
        self.x.ncols()
    }

    /// Σ log N(yₙ | xₙ·w, noise²)
    pub(crate) fn log_likelihood(&self, weight: &[f64]) -> f64 {
        let row = |n: usize| {
            let terms = weight.iter().enumerate();
            let mean: f64 = terms.map(|(k, w)| self.x[(n, k)] * w).sum();
            let apart = (self.y[(n, 0)] - mean) / NOISE;
            -0.5 * apart * apart - NOISE.ln() - 0.5 * (2.0 * PI).ln()
        };
        (0..self.rows()).map(row).sum()
    }

    pub(crate) fn bind(&self) -> Bound {
        let width = self.width();
        let model = Model::new(move |m| {
            let prior = Normal::new(PRIOR_MEAN, PRIOR_SCALE).expand([width]);
            let weight = m.sample("weight", prior);
            m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), NOISE)));
        });
        let x = (0..self.rows() * width).map(|k| self.x[(k / width, k % width)]);
        let y = (0..self.rows()).map(|n| self.y[(n, 0)]);
        let table = Table::new()
            .with_number("y", y.collect())
            .and_then(|t| t.with_matrix("x", self.rows(), width, x.collect()))
            .unwrap();
        model.bind(&table).unwrap()
    }

    pub(crate) fn prior(&self) -> Gaussian {
        let width = self.width();
        Gaussian {
            mean: Mat::from_fn(width, 1, |_, _| PRIOR_MEAN),
            covariance: Mat::<f64>::identity(width, width) * faer::Scale(PRIOR_SCALE.powi(2)),
        }
    }

    /// Precision and its product with the mean of the likelihood of some rows, each counted
    /// `share` times.
    pub(crate) fn information(&self, rows: &[usize], share: f64) -> (Mat<f64>, Mat<f64>) {
        let weight = share / NOISE.powi(2);
        let width = self.width();
        let sum = |f: &dyn Fn(usize) -> f64| rows.iter().map(|&n| f(n)).sum::<f64>() * weight;
        let precision = Mat::from_fn(width, width, |i, j| {
            sum(&|n| self.x[(n, i)] * self.x[(n, j)])
        });
        let product = Mat::from_fn(width, 1, |i, _| sum(&|n| self.x[(n, i)] * self.y[(n, 0)]));
        (precision, product)
    }

    /// The posterior under a likelihood with this information.
    pub(crate) fn posterior_of(&self, (precision, product): &(Mat<f64>, Mat<f64>)) -> Gaussian {
        let prior = self.prior();
        let prior_precision = inverse(&prior.covariance);
        let covariance = inverse(&(&prior_precision + precision));
        Gaussian {
            mean: &covariance * (&prior_precision * &prior.mean + product),
            covariance,
        }
    }

    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.rows()).collect()
    }

    pub(crate) fn posterior(&self) -> Gaussian {
        self.posterior_of(&self.information(&self.all(), 1.0))
    }

    /// log p(D)
    pub(crate) fn log_evidence(&self) -> f64 {
        let rows = self.rows();
        let prior = self.prior();
        let noise = Mat::<f64>::identity(rows, rows) * faer::Scale(NOISE.powi(2));
        let marginal = Gaussian {
            mean: &self.x * &prior.mean,
            covariance: &self.x * &prior.covariance * self.x.transpose() + noise,
        };
        let point = Gaussian {
            mean: self.y.clone(),
            covariance: Mat::zeros(rows, rows),
        };
        marginal.expected_log_density(&point)
    }
}
