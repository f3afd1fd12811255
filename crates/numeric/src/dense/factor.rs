//! Cholesky factors, inverses and determinants, by faer.

use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Side};

/// A lower-triangular matrix in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct CholeskyFactor {
    /// The side.
    pub size: usize,
    /// All entries, zeros above the diagonal.
    pub values: Vec<f64>,
}

impl CholeskyFactor {
    /// ln |det|
    pub fn log_volume(&self) -> f64 {
        let places = (0..self.size).map(|i| i * (self.size + 1));
        places.map(|at| self.values[at].abs().ln()).sum()
    }
}

/// The lower factor of a symmetric matrix, or `None` if it is not positive definite.
pub fn cholesky(matrix: &[f64], size: usize) -> Option<CholeskyFactor> {
    let a = Mat::from_fn(size, size, |i, j| matrix[i * size + j]);
    let factor = a.llt(Side::Lower).ok()?;
    let l = factor.L();
    let at = |k: usize| match (k / size, k % size) {
        (row, column) if column <= row => l[(row, column)],
        _ => 0.0,
    };
    let values: Vec<f64> = (0..size * size).map(at).collect();
    let is_finite = values.iter().all(|value| value.is_finite());
    is_finite.then_some(CholeskyFactor { size, values })
}

/// A lower factor of (L Lᵀ)⁻¹.
pub fn inverse_factor(l: &CholeskyFactor) -> Option<CholeskyFactor> {
    let size = l.size;
    let lower = Mat::from_fn(size, size, |i, j| l.values[i * size + j]);
    let mut inverse = Mat::<f64>::identity(size, size);
    lower.solve_lower_triangular_in_place(&mut inverse);
    let covariance = inverse.transpose() * &inverse;
    let flat = (0..size * size).map(|k| covariance[(k / size, k % size)]);
    cholesky(&flat.collect::<Vec<f64>>(), size)
}

/// The inverse of a symmetric positive definite matrix.
///
/// # Panics
/// If the matrix is not positive definite.
pub fn inverse(matrix: &Mat<f64>) -> Mat<f64> {
    factor_definite(matrix).inverse()
}

/// The inverse of a symmetric matrix, or `None` if it is not positive definite.
pub fn checked_inverse(matrix: &Mat<f64>) -> Option<Mat<f64>> {
    Some(matrix.llt(Side::Lower).ok()?.inverse())
}

/// ln |A| of a symmetric positive definite matrix.
///
/// # Panics
/// If the matrix is not positive definite.
pub fn log_determinant(matrix: &Mat<f64>) -> f64 {
    let factor = factor_definite(matrix);
    let diagonal = (0..matrix.nrows()).map(|i| factor.L()[(i, i)].ln());
    2.0 * diagonal.sum::<f64>()
}

fn factor_definite(matrix: &Mat<f64>) -> Llt<f64> {
    let factor = matrix.llt(Side::Lower);
    factor.expect("covariances and precisions are positive definite")
}

/// Tr A
pub fn trace(matrix: &Mat<f64>) -> f64 {
    (0..matrix.nrows()).map(|i| matrix[(i, i)]).sum()
}

/// xᵀ A x
pub fn quadratic_form(matrix: &Mat<f64>, x: &Mat<f64>) -> f64 {
    (x.transpose() * matrix * x)[(0, 0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_factor_inverts() {
        let matrix = [4.0, 2.0, 2.0, 3.0];
        let f = inverse_factor(&cholesky(&matrix, 2).unwrap()).unwrap();
        let covariance = |i: usize, j: usize| -> f64 {
            (0..2)
                .map(|k| f.values[i * 2 + k] * f.values[j * 2 + k])
                .sum()
        };
        for (i, j, expected) in [(0, 0, 0.375), (0, 1, -0.25), (1, 1, 0.5)] {
            assert!((covariance(i, j) - expected).abs() < 1e-15);
        }
        assert!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
