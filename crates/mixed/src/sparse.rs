//! Sparse symmetric matrices.

use lehr_numeric::lanczos::{LANES, LaneMoments, add_scaled};

use crate::elimination_order::{EliminationOrder, sort_by_code, starts};

/// The lower triangle of a symmetric matrix, column by column, the diagonal first.
#[derive(Clone, Default)]
pub(crate) struct Sparse {
    /// The first entry of each column, and the end.
    first: Vec<usize>,
    rows: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Sparse {
    /// The matrix with these entries of its lower triangle, in column order: column, row and value.
    pub(crate) fn of(size: usize, entries: &[(u32, u32, f64)]) -> Sparse {
        Sparse {
            first: starts(entries.iter().map(|entry| entry.0), size),
            rows: entries.iter().map(|entry| entry.1).collect(),
            values: entries.iter().map(|entry| entry.2).collect(),
        }
    }

    /// Σ ω r rᵀ over all rows; the pattern includes every diagonal entry and the pairs
    /// within a group.
    pub(crate) fn squares(order: &EliminationOrder, weights: &[f64]) -> Sparse {
        let columns = order.read_columns();
        let (size, entries) = (order.rest, order.entries);
        let (readers, first) = sort_by_code(&columns, size);
        let mut found = Sparse::default();
        let mut sums = vec![0.0; size];
        let mut seen = vec![false; size];
        let mut rows: Vec<u32> = Vec::new();
        for column in 0..size {
            rows.extend(order.beside(column));
            for row in &rows {
                seen[*row as usize] = true;
            }
            for &entry in &readers[first[column]..first[column + 1]] {
                let (row, from) = (entry / entries, entry % entries);
                let r = &order.others[row * entries..][..entries];
                let scaled = weights[row] * r[from];
                let read = &columns[row * entries..][..entries];
                for (at, r) in read[from..].iter().zip(&r[from..]) {
                    if !seen[*at as usize] {
                        seen[*at as usize] = true;
                        rows.push(*at);
                    }
                    sums[*at as usize] += scaled * r;
                }
            }
            rows.sort_unstable();
            found.first.push(found.rows.len());
            for row in rows.drain(..) {
                found.rows.push(row);
                found.values.push(std::mem::take(&mut sums[row as usize]));
                seen[row as usize] = false;
            }
        }
        found.first.push(found.rows.len());
        found
    }

    fn column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.first[column]..self.first[column + 1];
        let rows = self.rows[range.clone()].iter().map(|row| *row as usize);
        rows.zip(self.values[range].iter().copied())
    }

    /// Sets this matrix to a multiple of another with the same pattern.
    pub(crate) fn scale(&mut self, share: f64, other: &Sparse) {
        if self.first.len() != other.first.len() {
            self.first.clone_from(&other.first);
            self.rows.clone_from(&other.rows);
        }
        self.values.clear();
        self.values.extend(other.values.iter().map(|v| share * v));
    }

    /// Adds to an entry of the lower triangle.
    ///
    /// # Panics
    /// If the entry is not in the pattern.
    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        let range = self.first[column]..self.first[column + 1];
        let found = self.rows[range.clone()].binary_search(&(row as u32));
        let place = found.expect("a place of the pattern");
        self.values[range.start + place] += value;
    }

    /// The diagonal of the first `size` columns.
    pub(crate) fn diagonal(&self, size: usize) -> Vec<f64> {
        (0..size).map(|k| self.values[self.first[k]]).collect()
    }

    /// The entries in rows from `from` on.
    pub(crate) fn each_beyond(&self, from: usize, mut see: impl FnMut(usize, usize, f64)) {
        for column in 0..self.first.len() - 1 {
            for (row, value) in self.column(column).filter(|(row, _)| *row >= from) {
                see(row, column, value);
            }
        }
    }

    /// The product with some vectors, restricted to as many rows and columns as they have.
    pub(crate) fn apply(&self, x: &[LaneMoments], into: &mut [LaneMoments]) {
        into.fill([0.0; LANES]);
        for column in 0..x.len() {
            for (row, value) in self.column(column).filter(|(row, _)| *row < x.len()) {
                add_scaled(&mut into[row], value, &x[column]);
                if row != column {
                    add_scaled(&mut into[column], value, &x[row]);
                }
            }
        }
    }
}
