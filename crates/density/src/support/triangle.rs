//! The strict lower triangle of a matrix, row-major.

use lehr_graph::{Expr, Graph};

use super::with_last;

/// How many numbers are below the diagonal.
pub(super) fn strict_size(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

/// The rows and columns below the diagonal, in the order of the flat numbers.
pub(super) fn strict_places(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j)))
}

/// The flat numbers below the diagonal of an n × n matrix of zeros; batch axes are kept.
pub(super) fn below_diagonal(flat: Expr<'_>, n: usize) -> Expr<'_> {
    let (graph, shape) = (flat.graph(), flat.shape());
    let axis = shape.rank() - 1;
    if n <= 1 {
        return graph.full(with_last(shape, &[n, n]), 0.0);
    }
    let zeros = |count| graph.full(with_last(shape, &[count]), 0.0);
    // The zeros after row i and before row i + 1 are contiguous in memory: n − i of them.
    let mut parts = vec![zeros(n)];
    for i in 1..n {
        let start = strict_size(i);
        parts.push(flat.slice(axis, start..start + i));
        parts.push(zeros(n - i));
    }
    graph
        .concat(&parts, axis)
        .reshape(with_last(shape, &[n, n]))
}

/// The identity matrix.
pub(super) fn identity_matrix(graph: &Graph, n: usize) -> Expr<'_> {
    let values: Vec<f64> = (0..n * n)
        .map(|k| f64::from(u8::from(k / n == k % n)))
        .collect();
    graph.constant([n, n], &values)
}

/// Whether the matrix is zero above its diagonal and positive on it.
pub(super) fn is_factor(event: &[f64], n: usize) -> bool {
    let at = |i: usize, j: usize| event[i * n + j];
    (0..n).all(|i| at(i, i) >= 0.0 && (i + 1..n).all(|j| at(i, j) == 0.0))
        && event.iter().all(|x| x.is_finite())
}
