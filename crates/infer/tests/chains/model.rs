//! Models with a known posterior.

use crate::exact_regression::{Gaussian, Regression};
use faer::{Mat, Side};
use lehr_infer::guide::Whitening;
use lehr_model::distribution::{Beta, Binomial, Distribution, Gamma, Normal, Poisson};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_table::Table;

/// Standard normal numbers.
pub(crate) fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut numbers = vec![0.0; count];
    Stream::new(seed, "chains", 0).fill_normal(&mut numbers);
    numbers
}

/// A regression whose posterior is a Gaussian.
pub(crate) struct Linear {
    pub(crate) regression: Regression,
    pub(crate) density: Bound,
}

impl Linear {
    /// As many rows as weights, whose posterior precision has eigenvalues from 1 to `condition`.
    pub(crate) fn conditioned(width: usize, condition: f64) -> Linear {
        let basis = Mat::from_fn(width, width, {
            let numbers = normals(width * width, 7);
            move |i, j| numbers[i * width + j]
        });
        let basis = basis.qr().compute_Q();
        let scale = |k: usize| (condition.powf(k as f64 / (width - 1) as f64) - 1.0).sqrt();
        let x = Mat::from_fn(width, width, |n, i| scale(n) * basis[(i, n)]);
        let y = normals(width, 8);
        Linear::new(x, Mat::from_fn(width, 1, |n, _| y[n]))
    }

    /// Rows with known noise of one, weights a priori standard normal.
    pub(crate) fn new(x: Mat<f64>, y: Mat<f64>) -> Linear {
        let (rows, width) = (x.nrows(), x.ncols());
        let flat = |m: &Mat<f64>| {
            let entries = (0..m.nrows()).flat_map(|n| (0..m.ncols()).map(move |i| (n, i)));
            entries.map(|at| m[at]).collect::<Vec<f64>>()
        };
        let table = Table::new()
            .with_matrix("x", rows, width, flat(&x))
            .and_then(|t| t.with_number("y", flat(&y)))
            .unwrap();
        let model = Model::new(move |m| {
            let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([width]));
            m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), 1.0)));
        });
        let prior = Gaussian {
            mean: Mat::zeros(width, 1),
            covariance: Mat::identity(width, width),
        };
        Linear {
            density: model.bind(&table).unwrap(),
            regression: Regression {
                x,
                y,
                noise_scale: 1.0,
                prior,
            },
        }
    }

    /// The frame in which the posterior is standard normal.
    pub(crate) fn whitening(&self) -> Whitening {
        let posterior = self.regression.posterior();
        let size = posterior.mean.nrows();
        let factor = posterior.covariance.llt(Side::Lower).unwrap();
        let entry = |at: usize| match (at / size, at % size) {
            (i, j) if j <= i => factor.L()[(i, j)],
            _ => 0.0,
        };
        Whitening::Dense {
            shift: (0..size).map(|i| posterior.mean[(i, 0)]).collect(),
            factor: (0..size * size).map(entry).collect(),
        }
    }
}

/// A row without information, for models that consist of a prior only.
fn one_row() -> Table {
    Table::new().with_number("y", vec![0.0]).unwrap()
}

/// N(0, 1) in `size` dimensions.
pub(crate) fn standard(size: usize) -> Bound {
    let model = Model::new(move |m| {
        m.sample("z", Normal::new(0.0, 1.0).expand([size]));
        m.rows(|row| row.observe("y", Normal::new(0.0, 1.0)));
    });
    model.bind(&one_row()).unwrap()
}

/// Neal's funnel: v ~ N(0, 3²), x ~ N(0, e^(v/2)), z = (v, x).
pub(crate) fn funnel(size: usize) -> Bound {
    let model = Model::new(move |m| {
        let v = m.sample("v", Normal::new(0.0, 3.0));
        m.sample("x", Normal::new(0.0, (0.5 * v).exp()).expand([size]));
        m.rows(|row| row.observe("y", Normal::new(0.0, 1.0)));
    });
    model.bind(&one_row()).unwrap()
}

/// p ~ Beta(2, 3) and 7 of 10: Beta(9, 6).
pub(crate) fn beta_binomial() -> Bound {
    let table = Table::new()
        .with_number("y", vec![7.0])
        .and_then(|t| t.with_number("trials", vec![10.0]))
        .unwrap();
    let model = Model::new(|m| {
        let p = m.sample("p", Beta::new(2.0, 3.0));
        m.rows(|row| {
            let logit = (p / (1.0 - p)).ln();
            row.observe("y", Binomial::with_logit(row.number("trials"), logit));
        });
    });
    model.bind(&table).unwrap()
}

/// λ ~ Gamma(2, 1) and counts 3, 5, 4: Gamma(14, 4).
pub(crate) fn gamma_poisson() -> Bound {
    let table = Table::new().with_number("y", vec![3.0, 5.0, 4.0]).unwrap();
    let model = Model::new(|m| {
        let rate = m.sample("rate", Gamma::new(2.0, 1.0));
        m.rows(|row| row.observe("y", Poisson::with_rate(rate)));
    });
    model.bind(&table).unwrap()
}
