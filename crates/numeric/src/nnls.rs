//! Nonnegative least squares (Lawson & Hanson 1974).

/// The reasons why a least-squares problem is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LeastSquaresError {
    /// The matrix does not fill whole columns as long as the target.
    #[error(
        "non-negative least squares: expected columns of {rows} values, found {values} values in \
         all\n  \
         hint: the matrix is column-major, with as many rows as the target"
    )]
    Shape {
        /// Values of the matrix.
        values: usize,
        /// Length of the target.
        rows: usize,
    },
    /// A value is NaN or infinite.
    #[error(
        "non-negative least squares: expected finite values, found another in the {place}\n  \
         hint: look for overflow where they were computed"
    )]
    Value {
        /// `matrix` or `target`.
        place: &'static str,
    },
}

/// The solution of min‖A·w − b‖ over w ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct NonNegative {
    /// One weight per column; exactly zero outside the support of the solution.
    pub weights: Vec<f64>,
    /// ‖A·w − b‖.
    pub residual: f64,
    /// Largest cosine between the residual and a column of zero weight. At a solution it is at most
    /// rounding error, since a positive one means that the column would reduce the residual.
    pub violation: f64,
    /// Columns added.
    pub iterations: usize,
}

/// Cosine of a column with the residual below which the column does not help.
const TOLERANCE: f64 = 1e-11;
/// A column whose part outside the span of the others is this share of its square is dependent.
const DEPENDENT: f64 = 1e-12;

/// Solves min‖A·w − b‖ over w ≥ 0 for column-major A.  The active set of Lawson & Hanson with a
/// Cholesky factor of the normal equations that grows with the set, each solve refined once against
/// A itself. Columns that depend linearly on the active ones are skipped, so duplicated columns are
/// allowed.
pub fn solve_nonnegative(matrix: &[f64], target: &[f64]) -> Result<NonNegative, LeastSquaresError> {
    let rows = target.len();
    if rows == 0 || !matrix.len().is_multiple_of(rows) {
        let values = matrix.len();
        return Err(LeastSquaresError::Shape { values, rows });
    }
    for (values, place) in [(matrix, "matrix"), (target, "target")] {
        if values.iter().any(|x| !x.is_finite()) {
            return Err(LeastSquaresError::Value { place });
        }
    }
    let mut active = Active::new(matrix, target);
    // Each outer round reduces the residual, so sets do not repeat; the bound guards against
    // rounding.
    while active.iterations < 3 * active.weights.len() + 10 {
        let Some(column) = active.most_helpful() else {
            break;
        };
        active.take_in(column);
    }
    Ok(active.into_solution())
}

struct Active<'a> {
    matrix: &'a [f64],
    target: &'a [f64],
    norms: Vec<f64>,
    gram: Vec<f64>,
    weights: Vec<f64>,
    residual: Vec<f64>,
    /// Columns of positive weight, in the order of the factor.
    support: Vec<usize>,
    /// Lower triangle of the factor of the support's Gram matrix, row by row.
    factor: Vec<Vec<f64>>,
    /// Columns that did not help since the support last changed.
    passed: Vec<bool>,
    iterations: usize,
}

impl<'a> Active<'a> {
    fn new(matrix: &'a [f64], target: &'a [f64]) -> Self {
        let columns: Vec<&[f64]> = matrix.chunks(target.len()).collect();
        let count = columns.len();
        let mut gram = vec![0.0; count * count];
        for i in 0..count {
            for j in 0..=i {
                let product = dot(columns[i], columns[j]);
                gram[i * count + j] = product;
                gram[j * count + i] = product;
            }
        }
        Self {
            matrix,
            target,
            norms: (0..count).map(|i| gram[i * count + i].sqrt()).collect(),
            gram,
            weights: vec![0.0; count],
            residual: target.to_vec(),
            support: Vec::new(),
            factor: Vec::new(),
            passed: vec![false; count],
            iterations: 0,
        }
    }

    fn column(&self, column: usize) -> &'a [f64] {
        &self.matrix[column * self.target.len()..][..self.target.len()]
    }

    /// Cosine of a column with the residual, relative to the target's length.
    fn cosine_with(&self, column: usize) -> f64 {
        let length = self.norms[column] * dot(self.target, self.target).sqrt();
        if length > 0.0 {
            dot(self.column(column), &self.residual) / length
        } else {
            0.0
        }
    }

    /// The column of zero weight that reduces the residual fastest, if any does.
    fn most_helpful(&self) -> Option<usize> {
        (0..self.weights.len())
            .filter(|&column| !self.passed[column] && !self.support.contains(&column))
            .map(|column| (column, self.cosine_with(column)))
            .filter(|(_, cosine)| *cosine > TOLERANCE)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(column, _)| column)
    }

    /// Adds a column to the support, and drops those whose weights would become negative.
    fn take_in(&mut self, column: usize) {
        self.iterations += 1;
        if !self.append_column(column) {
            self.passed[column] = true;
            return;
        }
        let mut wanted = self.least_squares();
        if wanted.last().is_some_and(|weight| *weight <= 0.0) {
            // Only rounding can give a helpful column a negative weight.
            self.remove_column(self.support.len() - 1);
            self.passed[column] = true;
            return;
        }
        while wanted.iter().any(|weight| *weight <= 0.0) {
            self.step_toward(&wanted);
            wanted = self.least_squares();
        }
        for (&column, weight) in self.support.iter().zip(&wanted) {
            self.weights[column] = *weight;
        }
        self.residual = self.residual_of(&wanted);
        self.passed.fill(false);
    }

    /// Moves from the present weights toward others until the first reaches zero, and drops it.
    fn step_toward(&mut self, wanted: &[f64]) {
        let weight = |place: usize| self.weights[self.support[place]];
        // A weight already at zero is dropped first; the guard avoids 0/0.
        let share =
            |place: usize| weight(place) / (weight(place) - wanted[place]).max(f64::MIN_POSITIVE);
        let falling = (0..wanted.len()).filter(|&place| wanted[place] <= 0.0);
        let Some(first) = falling.min_by(|&a, &b| share(a).total_cmp(&share(b))) else {
            return;
        };
        let step = share(first);
        for (&column, wanted) in self.support.iter().zip(wanted) {
            self.weights[column] += step * (wanted - self.weights[column]);
        }
        self.remove_column(first);
    }

    /// Extends the factor by a column; false if the column depends on the support.
    fn append_column(&mut self, column: usize) -> bool {
        let count = self.weights.len();
        let support = self.support.iter();
        let mut row: Vec<f64> = support
            .map(|&other| self.gram[column * count + other])
            .collect();
        substitute_forward(&self.factor, &mut row);
        let square = self.gram[column * count + column];
        let left = square - dot(&row, &row);
        if left <= DEPENDENT * square {
            return false;
        }
        row.push(left.sqrt());
        self.factor.push(row);
        self.support.push(column);
        true
    }

    /// Removes a column from the support and rebuilds the factor from its place on.
    fn remove_column(&mut self, place: usize) {
        self.weights[self.support[place]] = 0.0;
        let later = self.support.split_off(place);
        self.factor.truncate(place);
        for column in later.into_iter().skip(1) {
            // A subset of independent columns is independent up to rounding.
            if !self.append_column(column) {
                self.weights[column] = 0.0;
            }
        }
    }

    /// Unconstrained least squares on the support: corrected seminormal equations.
    fn least_squares(&self) -> Vec<f64> {
        let mut weights = self.normal_equations(self.target);
        let correction = self.normal_equations(&self.residual_of(&weights));
        for (weight, correction) in weights.iter_mut().zip(correction) {
            *weight += correction;
        }
        weights
    }

    fn normal_equations(&self, target: &[f64]) -> Vec<f64> {
        let support = self.support.iter();
        let mut weights: Vec<f64> = support.map(|&one| dot(self.column(one), target)).collect();
        substitute_forward(&self.factor, &mut weights);
        substitute_backward(&self.factor, &mut weights);
        weights
    }

    fn residual_of(&self, weights: &[f64]) -> Vec<f64> {
        let mut residual = self.target.to_vec();
        for (&column, weight) in self.support.iter().zip(weights) {
            for (left, x) in residual.iter_mut().zip(self.column(column)) {
                *left -= weight * x;
            }
        }
        residual
    }

    fn into_solution(self) -> NonNegative {
        let idle = (0..self.weights.len()).filter(|&column| self.weights[column] == 0.0);
        let violation = idle
            .map(|column| self.cosine_with(column))
            .fold(0.0, f64::max);
        NonNegative {
            residual: dot(&self.residual, &self.residual).sqrt(),
            violation,
            iterations: self.iterations,
            weights: self.weights,
        }
    }
}

/// Solves L·x = b in place.
fn substitute_forward(factor: &[Vec<f64>], b: &mut [f64]) {
    for (place, row) in factor.iter().enumerate() {
        let known = dot(&row[..place], &b[..place]);
        b[place] = (b[place] - known) / row[place];
    }
}

/// Solves Lᵀ·x = b in place.
fn substitute_backward(factor: &[Vec<f64>], b: &mut [f64]) {
    for (place, row) in factor.iter().enumerate().rev() {
        b[place] /= row[place];
        let solved = b[place];
        for (left, entry) in b[..place].iter_mut().zip(row) {
            *left -= solved * entry;
        }
    }
}

/// Inner product in four running sums.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (lefts, left_rest) = left.as_chunks::<4>();
    let (rights, right_rest) = right.as_chunks::<4>();
    for (a, b) in lefts.iter().zip(rights) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests;
