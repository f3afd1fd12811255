//! The slopes of many rows as one matrix, for products by faer.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, ColRef, Mat, MatRef, Par, unzip, zip};
use lehr_numeric::dense::CholeskyFactor;
use rayon::prelude::*;

/// Rows of a block: with 64 latents it fills half of a second-level cache.
pub(super) const BLOCK: usize = 512;
/// The number of sums over blocks that may be computed in parallel. It is fixed, so that the bits
/// do not depend on the number of threads.
const STRIPS: usize = 16;

/// A matrix with one row per row of the table or of a part of it, in blocks of rows; each block is
/// column-major.
pub(super) struct Design {
    size: usize,
    values: Vec<f64>,
}

impl Design {
    /// A matrix of zeros.
    pub(super) fn zeros(rows: usize, size: usize) -> Design {
        Design {
            size,
            values: vec![0.0; rows * size],
        }
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.values.len() / self.size
    }

    /// Numbers per row.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Sets a column from the given row on, with which a block begins.
    pub(super) fn set_column(&mut self, column: usize, first: usize, numbers: &[f64]) {
        let blocks = self.values.chunks_mut(BLOCK * self.size);
        for (block, numbers) in blocks.skip(first / BLOCK).zip(numbers.chunks(BLOCK)) {
            let start = column * numbers.len();
            block[start..start + numbers.len()].copy_from_slice(numbers);
        }
    }

    /// |Fᵀaₙ|
    pub(super) fn deviations(&self, factor: &CholeskyFactor) -> Vec<f64> {
        let mut squares = vec![0.0; self.values.len() / self.size];
        let factor = MatRef::from_row_major_slice(&factor.values, self.size, self.size);
        let blocks = self.values.par_chunks(BLOCK * self.size);
        (squares.par_chunks_mut(BLOCK), blocks)
            .into_par_iter()
            .for_each(|(squares, block)| {
                let block = MatRef::from_column_major_slice(block, squares.len(), self.size);
                let mut turned = Mat::zeros(squares.len(), self.size);
                let (all, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
                let replace = Accum::Replace;
                matmul(
                    &mut turned,
                    all,
                    replace,
                    block,
                    all,
                    factor,
                    lower,
                    1.0,
                    Par::Seq,
                );
                for column in 0..self.size {
                    let entries = turned.col_as_slice(column);
                    for (square, entry) in squares.iter_mut().zip(entries) {
                        *square += entry * entry;
                    }
                }
                for square in squares {
                    *square = square.sqrt();
                }
            });
        squares
    }

    /// aₙ·v
    pub(super) fn project(&self, direction: &[f64]) -> Vec<f64> {
        let mut found = vec![0.0; self.values.len() / self.size];
        let blocks = self.values.par_chunks(BLOCK * self.size);
        (found.par_chunks_mut(BLOCK), blocks)
            .into_par_iter()
            .for_each(|(found, block)| {
                for (column, number) in block.chunks(found.len()).zip(direction) {
                    for (to, entry) in found.iter_mut().zip(column) {
                        *to += entry * number;
                    }
                }
            });
        found
    }

    /// Σ gₙ aₙ
    pub(super) fn pull(&self, numbers: &[f64]) -> Vec<f64> {
        let sum = self.sum(numbers, (self.size, 1), |block, numbers, sum| {
            *sum += block.transpose() * ColRef::from_slice(numbers).as_mat();
        });
        sum.col_as_slice(0).to_vec()
    }

    /// Σ cₙ aₙ aₙᵀ
    pub(super) fn gram(&self, numbers: &[f64]) -> Vec<f64> {
        let size = self.size;
        let (all, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
        let sum = self.sum(numbers, (size, size), |block, numbers, sum| {
            let mut scaled = Mat::zeros(numbers.len(), size);
            for (column, from) in scaled.col_iter_mut().zip(block.col_iter()) {
                zip!(column, from, ColRef::from_slice(numbers))
                    .for_each(|unzip!(to, from, number)| *to = from * number);
            }
            matmul(
                sum,
                lower,
                Accum::Add,
                block.transpose(),
                all,
                &scaled,
                all,
                1.0,
                Par::Seq,
            );
        });
        let entry = |k: usize| sum[((k / size).max(k % size), (k / size).min(k % size))];
        (0..size * size).map(entry).collect()
    }

    /// A sum over blocks, strip by strip.
    fn sum(
        &self,
        numbers: &[f64],
        (rows, columns): (usize, usize),
        add: impl Fn(MatRef<'_, f64>, &[f64], &mut Mat<f64>) + Sync,
    ) -> Mat<f64> {
        let strip = numbers.len().div_ceil(BLOCK).div_ceil(STRIPS) * BLOCK;
        let strips: Vec<Mat<f64>> = (numbers.par_chunks(strip))
            .zip(self.values.par_chunks(strip * self.size))
            .map(|(numbers, values)| {
                let mut sum = Mat::zeros(rows, columns);
                let blocks = values.chunks(BLOCK * self.size);
                for (numbers, block) in numbers.chunks(BLOCK).zip(blocks) {
                    let block = MatRef::from_column_major_slice(block, numbers.len(), self.size);
                    add(block, numbers, &mut sum);
                }
                sum
            })
            .collect();
        let mut total = Mat::zeros(rows, columns);
        for strip in strips {
            total += strip;
        }
        total
    }
}
