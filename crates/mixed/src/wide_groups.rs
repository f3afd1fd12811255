//! Linear algebra on groups of many effects, by blocked kernels.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};
use lehr_numeric::dense::small;

use crate::cross_products::CrossProducts;
use crate::elimination_order::EliminationOrder;
use crate::schur::SchurFactor;

/// Rows that are processed together.
const TOGETHER: usize = 256;

/// The covariance of one group of A, and L⁻ᵀV S⁻¹, column-major.
pub(crate) struct GroupCovariance {
    pub(crate) covariance: Vec<f64>,
    pub(crate) mixed: Vec<f64>,
}

impl SchurFactor {
    /// C = KᵀK + M S⁻¹Mᵀ with K = L_g⁻¹ and M = Kᵀ V_g; requires the inverse of S.
    pub(crate) fn wide_spread(&self, group: usize) -> GroupCovariance {
        let width = self.order.width;
        let (columns, lines) = (self.order.columns_of(group), self.lines(group));
        let count = columns.len();
        let mut inverse = small::identity(width);
        let lower = MatRef::from_row_major_slice(self.own_factor(group), width, width);
        let into = MatMut::from_column_major_slice_mut(&mut inverse, width, width);
        solve_lower_triangular_in_place(lower, into, Par::Seq);
        let inverse = MatRef::from_column_major_slice(&inverse, width, width);
        let mut covariance = vec![0.0; width * width];
        let mut into = MatMut::from_column_major_slice_mut(&mut covariance, width, width);
        multiply(into.rb_mut(), Accum::Replace, inverse.transpose(), inverse);
        let mut mixed = Vec::new();
        if count > 0 {
            let mut turned = vec![0.0; width * count];
            let own = MatRef::from_row_major_slice(lines, width, count);
            let to = MatMut::from_row_major_slice_mut(&mut turned, width, count);
            multiply(to, Accum::Replace, inverse.transpose(), own);
            let mut solved = Vec::new();
            self.solve_lines(columns, &turned, &mut solved);
            let left = MatRef::from_row_major_slice(&solved, width, count);
            let right = MatRef::from_row_major_slice(&turned, width, count);
            multiply(into, Accum::Add, left, right.transpose());
            let entry = |k: usize| solved[k % width * count + k / width];
            mixed.extend((0..solved.len()).map(entry));
        }
        GroupCovariance { covariance, mixed }
    }

    /// sₙ² of the rows of one group: zᵀCz − 2 zᵀ(L⁻ᵀV S⁻¹)r + rᵀS⁻¹r, whose last term has been
    /// added already.
    pub(crate) fn add_wide_variances(&self, group: usize, into: &mut [f64]) {
        let (order, width) = (&*self.order, self.order.width);
        let GroupCovariance { covariance, mixed } = self.wide_spread(group);
        let covariance = MatRef::from_row_major_slice(&covariance, width, width);
        let first = order.first[group];
        let mut products = vec![0.0; TOGETHER * width];
        for (chunk, into) in into.chunks_mut(TOGETHER).enumerate() {
            let from = first + chunk * TOGETHER;
            let z = &order.own[from * width..][..into.len() * width];
            let own = MatRef::from_row_major_slice(z, into.len(), width);
            let products = &mut products[..z.len()];
            let to = MatMut::from_row_major_slice_mut(products, into.len(), width);
            multiply(to, Accum::Replace, own, covariance);
            let rows = z.chunks_exact(width).zip(products.chunks_exact(width));
            for (k, ((z, product), sum)) in rows.zip(into).enumerate() {
                let (r, at) = order.others_of(from + k);
                let crossed = r.iter().zip(at);
                let crossed = crossed
                    .map(|(r, at)| r * small::dot(z, &mixed[*at as usize * width..][..width]));
                *sum += small::dot(z, product) - 2.0 * crossed.sum::<f64>();
                *sum = sum.max(0.0);
            }
        }
    }
}

impl CrossProducts {
    /// Adds Σ ω z zᵀ over the rows of one group of A.
    pub(crate) fn add_wide(&mut self, order: &EliminationOrder, group: usize, weights: &[f64]) {
        let width = order.width;
        let own = &mut self.own[group * width * width..][..width * width];
        let mut into = MatMut::from_column_major_slice_mut(own, width, width);
        let rows = order.rows_of(group);
        let z = &order.own[rows.start * width..rows.end * width];
        let mut scaled: Vec<f64> = Vec::with_capacity(TOGETHER * width);
        let chunks = z.chunks(TOGETHER * width);
        for (z, weights) in chunks.zip(weights[rows].chunks(TOGETHER)) {
            scaled.clear();
            for (row, weight) in z.chunks_exact(width).zip(weights) {
                scaled.extend(row.iter().map(|entry| weight * entry));
            }
            let left = MatRef::from_row_major_slice(z, weights.len(), width);
            let right = MatRef::from_row_major_slice(&scaled, weights.len(), width);
            multiply(into.rb_mut(), Accum::Add, left.transpose(), right);
        }
    }
}

fn multiply(into: MatMut<'_, f64>, how: Accum, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    matmul(into, how, left, right, 1.0, Par::Seq);
}
