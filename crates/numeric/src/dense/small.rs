//! Linear algebra on small row-major matrices in slices.

pub use crate::vector::{dot, quadratic_form};

/// The lower Cholesky factor of a symmetric matrix, in place, with the upper triangle set to zero;
/// `None` unless the matrix is positive definite.
#[inline]
pub fn cholesky(matrix: &mut [f64], size: usize) -> Option<()> {
    if let [a, b, c, d] = matrix {
        // The most common case: groups with an intercept and a slope.
        let (first, side) = (a.sqrt(), *c / a.sqrt());
        let rest = *d - side * side;
        let is_sound = *a > 0.0 && rest > 0.0 && first.is_finite() && rest.is_finite();
        (*a, *b, *c, *d) = (first, 0.0, side, rest.sqrt());
        return is_sound.then_some(());
    }
    for j in 0..size {
        let mut pivot = matrix[j * size + j];
        for k in 0..j {
            pivot -= matrix[j * size + k].powi(2);
        }
        // NaN is not positive either.
        if pivot.is_nan() || pivot <= 0.0 || pivot.is_infinite() {
            return None;
        }
        let root = pivot.sqrt();
        matrix[j * size + j] = root;
        for i in j + 1..size {
            let mut sum = matrix[i * size + j];
            for k in 0..j {
                sum -= matrix[i * size + k] * matrix[j * size + k];
            }
            matrix[i * size + j] = sum / root;
            matrix[j * size + i] = 0.0;
        }
    }
    Some(())
}

/// L⁻¹x in place.
#[inline]
pub fn solve_lower(factor: &[f64], x: &mut [f64]) {
    if let ([a, _, c, d], [x, y]) = (factor, &mut *x) {
        *x /= a;
        *y = (*y - c * *x) / d;
        return;
    }
    let size = x.len();
    for i in 0..size {
        let known = (0..i).map(|k| factor[i * size + k] * x[k]);
        x[i] = (x[i] - known.sum::<f64>()) / factor[i * size + i];
    }
}

/// L⁻ᵀx in place.
#[inline]
pub fn solve_lower_transposed(factor: &[f64], x: &mut [f64]) {
    if let ([a, _, c, d], [x, y]) = (factor, &mut *x) {
        *y /= d;
        *x = (*x - c * *y) / a;
        return;
    }
    let size = x.len();
    for i in (0..size).rev() {
        let known = (i + 1..size).map(|k| factor[k * size + i] * x[k]);
        x[i] = (x[i] - known.sum::<f64>()) / factor[i * size + i];
    }
}

/// L⁻ᵀX in place for a square matrix.
pub fn solve_columns_transposed(factor: &[f64], x: &mut [f64]) {
    let size = x.len().isqrt();
    for column in 0..size {
        for i in (0..size).rev() {
            let known = (i + 1..size).map(|k| factor[k * size + i] * x[k * size + column]);
            let known: f64 = known.sum();
            x[i * size + column] = (x[i * size + column] - known) / factor[i * size + i];
        }
    }
}

/// (L Lᵀ)⁻¹ of a triangular matrix.
pub fn inverse_of_factor(factor: &[f64], size: usize) -> Vec<f64> {
    let mut found = identity(size);
    for row in found.chunks_exact_mut(size.max(1)) {
        solve_lower(factor, row);
        solve_lower_transposed(factor, row);
    }
    found
}

/// Σ ln x over many numbers, by logarithms of a few of their products.
pub struct LogSum {
    product: f64,
    sum: f64,
}

impl Default for LogSum {
    fn default() -> LogSum {
        LogSum::new()
    }
}

impl LogSum {
    /// The sum over no numbers.
    #[inline]
    pub fn new() -> LogSum {
        LogSum {
            product: 1.0,
            sum: 0.0,
        }
    }

    /// Adds a number; those between 1e-100 and 1e100 lose no precision.
    #[inline]
    pub fn push(&mut self, x: f64) {
        const FAR: f64 = 1e100;
        self.product *= x;
        if !(FAR.recip()..FAR).contains(&self.product) {
            self.sum += self.product.ln();
            self.product = 1.0;
        }
    }

    /// The sum so far.
    pub fn value(&self) -> f64 {
        self.sum + self.product.ln()
    }
}

/// ln |L| of a triangular matrix.
pub fn log_diagonal(factor: &[f64], size: usize) -> f64 {
    (0..size).map(|i| factor[i * size + i].ln()).sum()
}

/// A⁻¹ and ln |det A|, by elimination with pivots; `None` if it is singular.
pub fn inverse(matrix: &[f64], size: usize) -> Option<(Vec<f64>, f64)> {
    let mut left = matrix.to_vec();
    let mut right = identity(size);
    let mut log_det = 0.0;
    for j in 0..size {
        let largest = (j..size).max_by(|a, b| {
            let height = |i: &usize| left[i * size + j].abs();
            height(a).total_cmp(&height(b))
        })?;
        for k in 0..size {
            left.swap(j * size + k, largest * size + k);
            right.swap(j * size + k, largest * size + k);
        }
        let pivot = left[j * size + j];
        if pivot == 0.0 || !pivot.is_finite() {
            return None;
        }
        log_det += pivot.abs().ln();
        for k in 0..size {
            left[j * size + k] /= pivot;
            right[j * size + k] /= pivot;
        }
        for i in (0..size).filter(|i| *i != j) {
            let share = left[i * size + j];
            for k in 0..size {
                left[i * size + k] -= share * left[j * size + k];
                right[i * size + k] -= share * right[j * size + k];
            }
        }
    }
    Some((right, log_det))
}

/// I
pub fn identity(size: usize) -> Vec<f64> {
    let entry = |k: usize| f64::from(u8::from(k / size.max(1) == k % size.max(1)));
    (0..size * size).map(entry).collect()
}

/// The matrix with this diagonal.
pub fn diagonal(entries: &[f64]) -> Vec<f64> {
    let size = entries.len();
    let mut found = vec![0.0; size * size];
    let places = found.iter_mut().step_by(size + 1).zip(entries);
    places.for_each(|(place, entry)| *place = *entry);
    found
}

/// The diagonal of a matrix.
pub fn diagonal_of(matrix: &[f64], size: usize) -> Vec<f64> {
    matrix.iter().step_by(size + 1).copied().collect()
}

/// AB
pub fn product(a: &[f64], b: &[f64], size: usize) -> Vec<f64> {
    let entry = |place: usize| {
        let (i, j) = (place / size, place % size);
        (0..size).map(|k| a[i * size + k] * b[k * size + j]).sum()
    };
    (0..size * size).map(entry).collect()
}

/// Aᵀ
pub fn transposed(a: &[f64], size: usize) -> Vec<f64> {
    let entry = |k: usize| a[(k % size) * size + k / size];
    (0..size * size).map(entry).collect()
}

/// Ax
pub fn apply(a: &[f64], x: &[f64]) -> Vec<f64> {
    let rows = a.chunks_exact(x.len().max(1));
    rows.map(|row| dot(row, x)).collect()
}

/// Adds a multiple of one vector to another.
#[inline]
pub fn add(into: &mut [f64], share: f64, more: &[f64]) {
    let pairs = into.iter_mut().zip(more);
    pairs.for_each(|(sum, more)| *sum += share * more);
}

/// Adds a multiple of the outer product x yᵀ.
#[inline]
pub fn add_outer(into: &mut [f64], share: f64, x: &[f64], y: &[f64]) {
    for (line, x) in into.chunks_exact_mut(y.len().max(1)).zip(x) {
        add(line, share * x, y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_solved_for_as_more_are() {
        let a = [4.0, 1.0, 1.0, 3.0];
        let padded = [4.0, 1.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 1.0];
        let (mut small, mut large) = (a, padded);
        cholesky(&mut small, 2).unwrap();
        cholesky(&mut large, 3).unwrap();
        for (k, entry) in small.iter().enumerate() {
            assert!((entry - large[k / 2 * 3 + k % 2]).abs() < 1e-15);
        }
        let (mut x, mut y) = ([1.0, -2.0], [1.0, -2.0, 0.0]);
        solve_lower(&small, &mut x);
        solve_lower(&large, &mut y);
        assert!((x[0] - y[0]).abs() + (x[1] - y[1]).abs() < 1e-15);
        solve_lower_transposed(&small, &mut x);
        solve_lower_transposed(&large, &mut y);
        assert!((x[0] - y[0]).abs() + (x[1] - y[1]).abs() < 1e-15);
        assert!(cholesky(&mut [1.0, f64::NAN, f64::NAN, 1.0], 2).is_none());
        assert!(cholesky(&mut [-1.0, 0.0, 0.0, 1.0], 2).is_none());
        assert!(cholesky(&mut [f64::INFINITY, 0.0, 0.0, 1.0], 2).is_none());
    }

    #[test]
    fn factors_solve_and_inverses_invert() {
        let a = [4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0];
        let mut factor = a;
        cholesky(&mut factor, 3).unwrap();
        let mut x = [1.0, -2.0, 0.3];
        solve_lower(&factor, &mut x);
        solve_lower_transposed(&factor, &mut x);
        for (found, wanted) in apply(&a, &x).iter().zip([1.0, -2.0, 0.3]) {
            assert!((found - wanted).abs() < 1e-14);
        }
        let (inverted, log_det) = inverse(&a, 3).unwrap();
        assert!((log_det - 2.0 * log_diagonal(&factor, 3)).abs() < 1e-14);
        for (found, wanted) in product(&inverted, &a, 3).iter().zip(identity(3)) {
            assert!((found - wanted).abs() < 1e-14);
        }
        let mut logs = LogSum::new();
        let numbers = (0..500).map(|k| (f64::from(k) - 200.0).exp());
        numbers.for_each(|x| logs.push(x));
        assert!((logs.value() - 24_750.0).abs() < 1e-8);
        let own = inverse_of_factor(&factor, 3);
        for (found, wanted) in own.iter().zip(&inverted) {
            assert!((found - wanted).abs() < 1e-14);
        }
        let mut turned = a;
        for row in turned.chunks_exact_mut(3) {
            solve_lower_transposed(&factor, row);
        }
        solve_columns_transposed(&factor, &mut turned);
        // Solving for the columns and then the rows of A = L Lᵀ gives L⁻ᵀA L⁻¹.
        let flipped = transposed(&factor, 3);
        let (upper, _) = inverse(&flipped, 3).unwrap();
        let wanted = product(&product(&upper, &a, 3), &transposed(&upper, 3), 3);
        for (found, wanted) in turned.iter().zip(&wanted) {
            assert!((found - wanted).abs() < 1e-13);
        }
        let mut outer = [1.0; 4];
        add_outer(&mut outer, 2.0, &[1.0, -1.0], &[3.0, 0.5]);
        assert_eq!(outer, [7.0, 2.0, -5.0, 0.0]);
        assert!(inverse(&[1.0, 2.0, 2.0, 4.0], 2).is_none());
        assert!(cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
