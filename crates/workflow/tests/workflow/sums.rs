//! Sums over all rows of a model, by every job that needs no more than its log likelihood.

use lehr_density::Density;
use lehr_density::job::{HessianProducts, LikelihoodGradient, LogLikelihood};
use lehr_rows::{RowStore, fold};

/// At one point the value, its slopes and its curvature along three directions, and the values at 40 points.
pub(crate) fn sums(density: &dyn Density, rows: &dyn RowStore) -> [Vec<f64>; 3] {
    let size = density.latents().size();
    let z: Vec<f64> = (0..size).map(|k| 0.1 * (k as f64 + 1.0).sin()).collect();
    let many: Vec<f64> = (0..40 * size).map(|k| 0.1 * (k as f64).cos()).collect();
    let curved = HessianProducts::new(density, (&z, &[]), &many[..3 * size]);
    [
        gradient(density, rows, &z),
        fold(rows, &curved).unwrap(),
        fold(rows, &LogLikelihood::new(density, &many, &[])).unwrap(),
    ]
}

/// At one point the value and its slopes.
pub(crate) fn gradient(density: &dyn Density, rows: &dyn RowStore, z: &[f64]) -> Vec<f64> {
    let found = fold(rows, &LikelihoodGradient::new(density, z, &[])).unwrap();
    [vec![found.value], found.latents].concat()
}
