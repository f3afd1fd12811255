//! Detects columns that others determine exactly.

use std::ops::Deref;

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatRef, Par};
use lehr_formula::Intercept;
use serde::{Deserialize, Serialize};

/// With more columns, looking for relations takes too long.
const MOST: usize = 200;
/// Rows that are multiplied at a time.
const BLOCK: usize = 4096;
/// The share of a column's variance below which the remainder after the other columns counts as
/// rounding.
const NOTHING: f64 = 1e-10;
/// The least coefficient, for columns of the same scale, that counts as part of a relation.
const PART: f64 = 1e-4;

/// Σ xᵢxⱼ of all columns, gathered block by block.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CrossProducts {
    intercept: Intercept,
    rows: f64,
    /// The first row, relative to which the others are measured if a mean is subtracted anyway.
    origin: Option<Vec<f64>>,
    sums: Vec<f64>,
    /// The lower half of the matrix.
    #[serde(with = "square")]
    products: Mat<f64>,
}

/// A square matrix as numbers, row-major.
mod square {
    use faer::Mat;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(matrix: &Mat<f64>, to: S) -> Result<S::Ok, S::Error> {
        let size = matrix.nrows();
        let entry = |k: usize| matrix[(k / size, k % size)];
        let entries: Vec<f64> = (0..size * size).map(entry).collect();
        (size, entries).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Mat<f64>, D::Error> {
        let (size, entries) = <(usize, Vec<f64>)>::deserialize(from)?;
        if size.checked_mul(size) != Some(entries.len()) {
            return Err(serde::de::Error::custom("a matrix that is not square"));
        }
        Ok(Mat::from_fn(size, size, |i, j| entries[i * size + j]))
    }
}

impl CrossProducts {
    /// The products of this many columns; `None` if they are too many.
    pub(crate) fn new(columns: usize, intercept: Intercept) -> Option<CrossProducts> {
        ((2..=MOST).contains(&columns)).then(|| CrossProducts {
            intercept,
            rows: 0.0,
            origin: None,
            sums: vec![0.0; columns],
            products: Mat::zeros(columns, columns),
        })
    }

    /// Adds rows, given column by column.
    pub(crate) fn add_rows<C: Deref<Target = [f64]>>(&mut self, columns: &[C]) {
        let rows = columns.first().map_or(0, |column| column.len());
        let intercept = self.intercept;
        let origin = self.origin.get_or_insert_with(|| {
            let first = columns.iter().map(|column| match intercept {
                Intercept::Present => column.first().copied().unwrap_or_default(),
                Intercept::Absent => 0.0,
            });
            first.collect()
        });
        self.rows += rows as f64;
        let mut room = Mat::<f64>::zeros(BLOCK.min(rows), columns.len());
        for start in (0..rows).step_by(BLOCK) {
            let own = start..rows.min(start + BLOCK);
            let mut block = room.as_mut().subrows_mut(0, own.len());
            for (j, sum) in self.sums.iter_mut().enumerate() {
                let to = block.rb_mut().col_mut(j).try_as_col_major_mut();
                let to = to.expect("columns are in one piece").as_slice_mut();
                for (to, value) in to.iter_mut().zip(&columns[j][own.clone()]) {
                    *to = value - origin[j];
                }
                *sum += block.rb().col(j).sum();
            }
            add_square(&mut self.products, block.as_ref());
        }
    }

    /// Adds the rows of another, measured from its own origin: with d from that origin to this one,
    /// Σ (x + d)(x + d)ᵀ = Σ xxᵀ + d Σxᵀ + Σx dᵀ + n ddᵀ.
    pub(crate) fn merge(&mut self, other: &CrossProducts) {
        let Some(theirs) = &other.origin else {
            return;
        };
        let own = self.origin.get_or_insert_with(|| theirs.clone());
        let moved: Vec<f64> = theirs.iter().zip(&*own).map(|(a, b)| a - b).collect();
        for (i, a) in moved.iter().enumerate() {
            for (j, b) in moved.iter().enumerate() {
                let crossed = a * other.sums[j] + other.sums[i] * b + other.rows * a * b;
                self.products[(i, j)] += other.products[(i, j)] + crossed;
            }
        }
        for ((sum, more), a) in self.sums.iter_mut().zip(&other.sums).zip(&moved) {
            *sum += more + other.rows * a;
        }
        self.rows += other.rows;
    }

    /// The relations among the columns at these places: each lists the columns that determine
    /// another, and then that column.
    pub(crate) fn relations(&self, places: &[usize]) -> Vec<Vec<usize>> {
        let mut known = IndependentColumns::default();
        let mut relations = Vec::new();
        // With as many columns as rows, all columns are related.
        if self.rows < 2.0 * places.len() as f64 {
            return relations;
        }
        for &place in places {
            let own = self.covariance(place, place);
            let scale = |other: usize| (own * self.covariance(other, other)).sqrt();
            let correlation = |&other: &usize| self.covariance(place, other) / scale(other);
            let correlations: Vec<f64> = known.places.iter().map(correlation).collect();
            if let Some(parts) = known.add(place, &correlations) {
                relations.push(parts.into_iter().chain([place]).collect());
            }
        }
        relations
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        let mean = match self.intercept {
            Intercept::Present => self.sums[i] * self.sums[j] / self.rows,
            Intercept::Absent => 0.0,
        };
        self.products[(i.max(j), i.min(j))] - mean
    }
}

/// Adds XᵀX to a matrix of which only the lower half is used.
fn add_square(to: &mut Mat<f64>, block: MatRef<'_, f64>) {
    triangular::matmul(
        to.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Add,
        block.transpose(),
        BlockStructure::Rectangular,
        block,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

/// Linearly independent columns, with the Cholesky factor of their correlations.
#[derive(Default)]
struct IndependentColumns {
    places: Vec<usize>,
    factor: Vec<Vec<f64>>,
}

impl IndependentColumns {
    /// Adds a column by its correlations with the others; returns the places of its parts if it
    /// depends on them.
    fn add(&mut self, place: usize, correlations: &[f64]) -> Option<Vec<usize>> {
        let mut row: Vec<f64> = Vec::with_capacity(correlations.len() + 1);
        for (own, correlation) in self.factor.iter().zip(correlations) {
            let known: f64 = own.iter().zip(&row).map(|(a, b)| a * b).sum();
            row.push((correlation - known) / own[own.len() - 1]);
        }
        let left = 1.0 - row.iter().map(|entry| entry * entry).sum::<f64>();
        if left > NOTHING {
            row.push(left.sqrt());
            self.factor.push(row);
            self.places.push(place);
            return None;
        }
        let coefficients = self.solve_transposed(row);
        let parts = self.places.iter().zip(coefficients);
        let is_part = |(_, coefficient): &(&usize, f64)| coefficient.abs() > PART;
        Some(parts.filter(is_part).map(|(place, _)| *place).collect())
    }

    /// L⁻ᵀ v
    fn solve_transposed(&self, mut v: Vec<f64>) -> Vec<f64> {
        for k in (0..v.len()).rev() {
            v[k] /= self.factor[k][k];
            let (before, solved) = v.split_at_mut(k);
            for (entry, own) in before.iter_mut().zip(&self.factor[k]) {
                *entry -= own * solved[0];
            }
        }
        v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(pace: f64) -> Vec<f64> {
        (0..50).map(|k| (pace * f64::from(k)).sin()).collect()
    }

    #[test]
    fn a_sum_of_other_columns_is_found_with_its_parts() {
        let (a, b, c) = (wave(0.7), wave(1.9), wave(2.3));
        let sum: Vec<f64> = a.iter().zip(&c).map(|(a, c)| 3.0 + a - 2.0 * c).collect();
        let near: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + 1e-3 * b * b).collect();
        let columns = [a, b, c, near, sum];
        for (intercept, expected) in [
            (Intercept::Present, vec![vec![0, 2, 4]]),
            (Intercept::Absent, vec![]),
        ] {
            let mut products = CrossProducts::new(5, intercept).unwrap();
            let half = |from: usize, to: usize| columns.iter().map(move |c| c[from..to].to_vec());
            products.add_rows(&half(0, 20).collect::<Vec<_>>());
            products.add_rows(&half(20, 50).collect::<Vec<_>>());
            assert_eq!(products.relations(&[0, 1, 2, 3, 4]), expected);
        }
    }
}
