//! Gathers of rows by number and their transpose, scatters: random effects without a dense design
//! matrix.

use super::{Application, Event, Op};
use crate::expr::{Expr, Indices};
use crate::length::AxisLength;
use crate::shape::Shape;
use crate::simplify;

impl<'g> Expr<'g> {
    /// The rows of the leading axis that `indices` names, in that order.
    #[must_use]
    #[track_caller]
    pub fn at(self, indices: Indices<'g>) -> Expr<'g> {
        let shape = self.shape();
        if shape.is_scalar() {
            return self.graph().fail("at: expects rows, found a scalar".into());
        }
        if AxisLength(shape.dims()[0]).is_symbolic() {
            let message = format!("at: rows of shape {shape} cannot be read by number");
            return self.graph().fail(message);
        }
        let out = shape.with_dim(0, indices.len());
        if self.is_filled_with(0.0) {
            return self.graph().full(out, 0.0);
        }
        simplify::simplify_gather(self, out)
            .unwrap_or_else(|| self.graph().build(Op::Gather, &[self, indices.0], out))
    }

    /// An array of `rows` rows, row `i` the sum of those rows of `self` whose index is `i`.
    #[must_use]
    #[track_caller]
    pub fn scatter_add(self, indices: Indices<'g>, rows: usize) -> Expr<'g> {
        let shape = self.shape();
        if shape.is_scalar() || shape.dims()[0] != indices.len() {
            return self.graph().fail(format!(
                "scatter_add: expects one row per index, found shape {shape} and {} indices",
                AxisLength(indices.len())
            ));
        }
        let out = shape.with_dim(0, rows);
        if self.is_filled_with(0.0) {
            return self.graph().full(out, 0.0);
        }
        self.graph().build(Op::ScatterAdd, &[self, indices.0], out)
    }
}

pub(super) fn pullback<'g>(
    op: &Op,
    site: &Application<'_, 'g>,
    adjoint: Expr<'g>,
    k: usize,
) -> Option<Expr<'g>> {
    if k != 0 {
        return None;
    }
    let indices = site.inputs[1].as_indices();
    Some(match op {
        Op::Gather => adjoint.scatter_add(indices, site.inputs[0].shape().dims()[0]),
        _ => adjoint.at(indices),
    })
}

/// Row numbers reach the reference kernels as numbers.
fn index_rows(indices: Event<'_>) -> impl Iterator<Item = usize> {
    indices.values.iter().map(|&i| i as usize)
}

pub(super) fn gather_reference(inputs: &[Event<'_>], shape: Shape) -> Vec<f64> {
    let width = shape.inner_size(1);
    let row = |i: usize| inputs[0].values[i * width..(i + 1) * width].to_vec();
    index_rows(inputs[1]).flat_map(row).collect()
}

pub(super) fn scatter_reference(inputs: &[Event<'_>], shape: Shape) -> Vec<f64> {
    let width = shape.inner_size(1);
    let mut values = vec![0.0; shape.size()];
    for (n, i) in index_rows(inputs[1]).enumerate() {
        for j in 0..width {
            values[i * width + j] += inputs[0].values[n * width + j];
        }
    }
    values
}
