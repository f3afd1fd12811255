//! Linear regression with known noise: posterior, evidence and chains in closed form.

use std::ops::{Deref, DerefMut};

pub(crate) use crate::exact_regression::Gaussian;
use crate::exact_regression::Regression;
use faer::Mat;
use lehr_model::distribution::{Distribution, Normal};
use lehr_model::{Bound, Model};
pub(crate) use lehr_numeric::dense::{inverse, log_determinant, quadratic_form};
use lehr_table::Table;

use crate::normals;

pub(crate) const NOISE: f64 = 0.8;
pub(crate) const PRIOR_MEAN: f64 = 0.4;
pub(crate) const PRIOR_SCALE: f64 = 1.5;

/// A regression with its rows, which can be bound to a model.
pub(crate) struct Linear(Regression);

impl Deref for Linear {
    type Target = Regression;

    fn deref(&self) -> &Regression {
        &self.0
    }
}

impl DerefMut for Linear {
    fn deref_mut(&mut self) -> &mut Regression {
        &mut self.0
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
        let prior = Gaussian {
            mean: Mat::from_fn(width, 1, |_, _| PRIOR_MEAN),
            covariance: Mat::<f64>::identity(width, width) * faer::Scale(PRIOR_SCALE.powi(2)),
        };
        Linear(Regression {
            x,
            y,
            noise_scale: NOISE,
            prior,
        })
    }

    /// Σ log N(yₙ | xₙ·w, noise²)
    pub(crate) fn log_likelihood(&self, weight: &[f64]) -> f64 {
        let row = |n: usize| {
            let terms = weight.iter().enumerate();
            let mean: f64 = terms.map(|(k, w)| self.x[(n, k)] * w).sum();
            let apart = (self.y[(n, 0)] - mean) / NOISE;
            -0.5 * apart * apart - NOISE.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
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
}
