//! Cholesky factors of covariance matrices: exponentials on the diagonal, free numbers below.

use lehr_graph::Expr;

use super::triangle::{below_diagonal, identity_matrix, is_factor, strict_places, strict_size};
use super::{ConstrainedValue, with_last};

/// The first n numbers are the logarithms of the diagonal, the others stand below it.
pub(super) fn constrain_values(free: Expr<'_>, n: usize) -> ConstrainedValue<'_> {
    let (graph, shape) = (free.graph(), free.shape());
    let axis = shape.rank() - 1;
    let logs = free.slice(axis, 0..n);
    let below = free.slice(axis, n..n + strict_size(n));
    let column = logs.exp().reshape(with_last(shape, &[n, 1]));
    ConstrainedValue {
        value: below_diagonal(below, n) + column * identity_matrix(graph, n),
        log_jacobian: logs.sum_axis(axis),
    }
}

pub(super) fn unconstrain_values(event: &[f64], n: usize, free: &mut Vec<f64>) {
    free.extend((0..n).map(|i| event[i * n + i].ln()));
    free.extend(strict_places(n).map(|(i, j)| event[i * n + j]));
}

pub(super) fn contains_values(event: &[f64], n: usize) -> bool {
    is_factor(event, n)
}
