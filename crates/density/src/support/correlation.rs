//! Cholesky factors of correlation matrices, by canonical partial correlations (Lewandowski,
//! Kurowicka & Joe 2009).

use lehr_graph::Expr;

use super::triangle::{below_diagonal, identity_matrix, is_factor, strict_places};
use super::{ConstrainedValue, with_last};

/// The tolerance for a row of unit length.
const SLACK: f64 = 1e-8;

/// With r = tanh u, each entry is r times the rest of the row's unit length that the entries to its
/// left leave, ∏ √(1 − r²) over them, and the diagonal is the remaining length. The entry
/// contributes a factor 1 − r² to the Jacobian for itself and half a factor for every later column.
pub(super) fn constrain_values(free: Expr<'_>, n: usize) -> ConstrainedValue<'_> {
    let (graph, shape) = (free.graph(), free.shape());
    let batch = with_last(shape, &[]);
    if n <= 1 {
        return ConstrainedValue {
            value: graph.full(with_last(shape, &[n, n]), 1.0),
            log_jacobian: graph.full(batch, 0.0),
        };
    }
    let log_rest = log_squared_sech(free);
    let used = below_diagonal(log_rest, n);
    let length_left = ((used.cumulative_sum() - used) * 0.5).exp();
    let shares: Vec<f64> = strict_places(n)
        .map(|(i, j)| 1.0 + 0.5 * (i - j - 1) as f64)
        .collect();
    let weighted = log_rest * graph.constant([shares.len()], &shares);
    ConstrainedValue {
        value: (below_diagonal(free.tanh(), n) + identity_matrix(graph, n)) * length_left,
        log_jacobian: weighted.sum_axis(shape.rank() - 1),
    }
}

/// ln(1 − tanh² u) = 2(ln 2 − u − softplus(−2u)), exact where the square rounds to one.
fn log_squared_sech(free: Expr<'_>) -> Expr<'_> {
    (std::f64::consts::LN_2 - free - (free * -2.0).softplus()) * 2.0
}

pub(super) fn unconstrain_values(event: &[f64], n: usize, free: &mut Vec<f64>) {
    for i in 0..n {
        let row = &event[i * n..=i * n + i];
        for j in 0..i {
            // The remaining length of the row, computed from the remaining entries. One minus the
            // squares before it would cancel.
            let rest = row[j + 1..].iter().fold(0.0, |sum: f64, x| sum.hypot(*x));
            free.push((row[j] / rest).asinh());
        }
    }
}

pub(super) fn contains_values(event: &[f64], n: usize) -> bool {
    let unit = |row: &[f64]| (row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() <= SLACK;
    is_factor(event, n) && event.chunks_exact(n).all(unit)
}
