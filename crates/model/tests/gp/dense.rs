//! Dense linear algebra by simple loops, as a reference.

/// A symmetric matrix, row after row.
#[derive(Clone)]
pub(crate) struct Dense {
    pub(crate) size: usize,
    pub(crate) values: Vec<f64>,
}

impl Dense {
    pub(crate) fn new(size: usize, entry: impl Fn(usize, usize) -> f64) -> Dense {
        let cells = (0..size * size).map(|cell| entry(cell / size, cell % size));
        Dense {
            size,
            values: cells.collect(),
        }
    }

    pub(crate) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    /// The lower triangle L with LLᵀ = self.
    pub(crate) fn factor(&self) -> Dense {
        let mut lower = Dense::new(self.size, |_, _| 0.0);
        for row in 0..self.size {
            for column in 0..=row {
                let sum: f64 = (0..column)
                    .map(|k| lower.at(row, k) * lower.at(column, k))
                    .sum();
                let rest = self.at(row, column) - sum;
                lower.values[row * self.size + column] = if row == column {
                    rest.sqrt()
                } else {
                    rest / lower.at(column, column)
                };
            }
        }
        lower
    }

    /// L⁻¹b for a lower triangular matrix.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = Vec::with_capacity(self.size);
        for (row, right) in b.iter().enumerate() {
            let sum: f64 = (0..row).map(|k| self.at(row, k) * x[k]).sum();
            x.push((right - sum) / self.at(row, row));
        }
        x
    }

    /// L⁻ᵀb for a lower triangular matrix.
    pub(crate) fn solve_transposed(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for row in (0..self.size).rev() {
            let sum: f64 = (row + 1..self.size).map(|k| self.at(k, row) * x[k]).sum();
            x[row] = (x[row] - sum) / self.at(row, row);
        }
        x
    }

    /// ln N(y; 0, self).
    pub(crate) fn log_normal_density(&self, y: &[f64]) -> f64 {
        let lower = self.factor();
        let white = lower.solve(y);
        let squares: f64 = white.iter().map(|v| v * v).sum();
        let logs: f64 = (0..self.size).map(|k| lower.at(k, k).ln()).sum();
        -0.5 * squares - logs - 0.5 * self.size as f64 * (2.0 * std::f64::consts::PI).ln()
    }
}
