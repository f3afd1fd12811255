//! Standardised columns as rows of a matrix, written on request.
#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatched function is compiled without its instructions"
)]

use std::borrow::Cow;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

/// Rows that are filled together, so that they stay in the first-level cache from column to column.
const ROWS: usize = 128;

/// Columns with the means and scales of the model.
#[derive(Default)]
pub struct ScaledMatrix<'s> {
    columns: Vec<ScaledValues<'s>>,
}

struct ScaledValues<'s> {
    mean: f64,
    scale: f64,
    values: Cow<'s, [f64]>,
}

impl<'s> ScaledMatrix<'s> {
    /// Adds a column with its mean and its scale.
    pub fn push(&mut self, (mean, scale): (f64, f64), values: Cow<'s, [f64]>) {
        self.columns.push(ScaledValues {
            mean,
            scale,
            values,
        });
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Writes some rows.
    ///
    /// # Panics
    /// If there are fewer rows, or the buffer is too small.
    pub fn fill(&self, rows: Range<usize>, to: &mut [f64]) {
        assert_eq!(to.len(), rows.len() * self.width(), "room for all rows");
        if self.width() > 0 {
            let first = rows.start;
            Arch::new().dispatch(MatrixFill {
                matrix: self,
                first,
                to,
            });
        }
    }
}

/// Rows that are being written, starting with `first`.
struct MatrixFill<'a, 's> {
    matrix: &'a ScaledMatrix<'s>,
    first: usize,
    to: &'a mut [f64],
}

impl WithSimd for MatrixFill<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let width = self.matrix.width();
        let mut scaled = [0.0; ROWS];
        for (block, to) in self.to.chunks_mut(ROWS * width).enumerate() {
            let first = self.first + block * ROWS;
            for (place, column) in self.matrix.columns.iter().enumerate() {
                let own = &column.values[first..first + to.len() / width];
                column.scale(own, &mut scaled);
                scatter(&scaled, (place, width), to);
            }
        }
    }
}

impl ScaledValues<'_> {
    /// Writes standardised values. Separately from the scatter, several are divided at a time.
    #[inline(always)]
    fn scale(&self, values: &[f64], to: &mut [f64; ROWS]) {
        for (to, value) in to.iter_mut().zip(values) {
            *to = (value - self.mean) / self.scale;
        }
    }
}

/// Writes values to one place of every row.
#[inline(always)]
fn scatter(values: &[f64; ROWS], (place, width): (usize, usize), rows: &mut [f64]) {
    for (row, value) in rows.chunks_exact_mut(width).zip(values) {
        row[place] = *value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_rows_are_those_of_the_definition() {
        let mut matrix = ScaledMatrix::default();
        let wave = |pace: f64| (0..500).map(move |k| (pace * f64::from(k)).sin());
        let columns: Vec<Vec<f64>> = [0.3, 0.7, 1.9].map(|pace| wave(pace).collect()).into();
        for (k, column) in columns.iter().enumerate() {
            let moved = (0.1 * k as f64, 0.5 + k as f64);
            matrix.push(moved, Cow::Borrowed(column));
        }
        for rows in [0..500, 3..4, 100..390, 128..256, 7..7] {
            let mut found = vec![f64::NAN; rows.len() * 3];
            matrix.fill(rows.clone(), &mut found);
            for (row, found) in rows.zip(found.chunks_exact(3)) {
                for (k, found) in found.iter().enumerate() {
                    let expected = (columns[k][row] - 0.1 * k as f64) / (0.5 + k as f64);
                    assert!((found - expected).abs() <= f64::EPSILON * expected.abs());
                }
            }
        }
    }
}
