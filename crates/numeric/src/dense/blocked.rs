//! Large matrices in slices, by blocked kernels.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::{MatMut, MatRef, Par, Spec};

use super::small;

/// The Cholesky factor of a column-major matrix, in place. Only the lower triangle is read and
/// written.
pub fn factor_block(matrix: &mut [f64], size: usize) -> Option<()> {
    if size == 0 {
        return Some(());
    }
    let into = MatMut::from_column_major_slice_mut(matrix, size, size);
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(size, Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let found = llt::factor::cholesky_in_place(
        into,
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    found.ok().map(|_| ())
}

/// The lower Cholesky factor of a symmetric row-major matrix, in place, with the upper triangle set
/// to zero; `None` unless the matrix is positive definite.
pub fn cholesky(matrix: &mut [f64], size: usize) -> Option<()> {
    // A symmetric matrix is its own transpose, so the column-major kernel applies.
    factor_block(matrix, size)?;
    for i in 0..size {
        for j in 0..i {
            matrix[i * size + j] = matrix[j * size + i];
            matrix[j * size + i] = 0.0;
        }
    }
    let mut diagonal = matrix.iter().step_by(size + 1);
    diagonal.all(|entry| entry.is_finite()).then_some(())
}

/// (L Lᵀ)⁻¹, column-major, of which the lower triangle is written; `factor` is the result of
/// [`factor_block`].
pub fn inverse_of_factor(factor: &[f64], into: &mut [f64], size: usize) {
    if size == 0 {
        return;
    }
    let lower = MatRef::from_column_major_slice(factor, size, size);
    let into = MatMut::from_column_major_slice_mut(into, size, size);
    let mut memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(size, Par::Seq));
    llt::inverse::inverse(into, lower, Par::Seq, MemStack::new(&mut memory));
}

/// L⁻ᵀx in place, along the rows of L.
#[inline]
pub fn solve_lower_transposed(factor: &[f64], x: &mut [f64]) {
    let size = x.len();
    for i in (0..size).rev() {
        let row = &factor[i * size..][..=i];
        x[i] /= row[i];
        let (before, own) = x.split_at_mut(i);
        let pairs = before.iter_mut().zip(row);
        pairs.for_each(|(entry, l)| *entry -= l * own[0]);
    }
}

/// aᵀb by four independent sums.
#[inline]
pub fn parallel_dot(a: &[f64], b: &[f64]) -> f64 {
    let ((fours, rest), (others, more)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in fours.iter().zip(others) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f64>() + small::dot(rest, more)
}
