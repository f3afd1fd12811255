//! The slopes of all rows as one matrix, for products by faer.

use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, ColRef, Mat, MatRef, Par, unzip, zip};
use lehr_density::Density;
use rayon::prelude::*;

use super::pass::{DIRECTIONS, along};
use crate::start::linear::Factor;
use lehr_numeric::hessian::unit_vectors;

/// Rows of a block: with 64 latents half of a second-level cache.
const BLOCK: usize = 512;
/// Sums over blocks that may be taken side by side. Fixed, so that the bits do not depend on the
/// number of threads.
const STRIPS: usize = 16;

/// A matrix of one row per row of the table, in blocks of rows; each block column by column.
pub(super) struct Design {
    size: usize,
    values: Vec<f64>,
}

impl Design {
    pub(super) fn new(density: &dyn Density) -> Design {
        let (size, rows) = (density.latents().size(), density.n_rows());
        let mut design = Design {
            size,
            values: vec![0.0; rows * size],
        };
        let lanes = DIRECTIONS.min(size);
        let mut pass = along(density, lanes, |slope| slope);
        let origin = vec![0.0; size];
        for first in (0..size).step_by(lanes) {
            let directions = unit_vectors(size, first, lanes);
            // A predictor without latents has slopes without lanes.
            let found = &pass.run(&[&origin, &directions])[0];
            for lane in 0..lanes.min(size - first) {
                let start = if found.len() == rows { 0 } else { lane * rows };
                design.set_column(first + lane, &found[start..start + rows]);
            }
        }
        design
    }

    fn set_column(&mut self, column: usize, numbers: &[f64]) {
        let blocks = self.values.chunks_mut(BLOCK * self.size);
        for (block, numbers) in blocks.zip(numbers.chunks(BLOCK)) {
            let start = column * numbers.len();
            block[start..start + numbers.len()].copy_from_slice(numbers);
        }
    }

    /// |Fᵀaₙ|
    pub(super) fn deviations(&self, factor: &Factor) -> Vec<f64> {
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
