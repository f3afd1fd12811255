//! Positive numbers that sum to one, by the isometric log-ratio: symmetric in the entries, so
//! that a uniform simplex is zero and independent errors stay independent (Egozcue et al. 2003).

use lehr_graph::Expr;

use super::{ConstrainedValue, with_last};

/// The tolerance for a sum of one.
const SLACK: f64 = 1e-8;

/// 1/√(k(k+1)) for k = 1..n−1, which makes the rows of the Helmert matrix orthonormal.
fn helmert_norm(k: usize) -> f64 {
    1.0 / ((k * (k + 1)) as f64).sqrt()
}

/// x = softmax(Hᵀu) with H the Helmert basis of the vectors that sum to zero; the Jacobian is
/// √n ∏ xᵢ.
pub(super) fn constrain_values(free: Expr<'_>, n: usize) -> ConstrainedValue<'_> {
    let graph = free.graph();
    let shape = free.shape();
    let axis = shape.rank() - 1;
    let batch = with_last(shape, &[]);
    if n == 1 {
        return ConstrainedValue {
            value: graph.full(with_last(shape, &[1]), 1.0),
            log_jacobian: graph.full(batch, 0.0),
        };
    }
    let lengths: Vec<f64> = (1..n).map(helmert_norm).collect();
    let ranks: Vec<f64> = (1..n).map(|k| k as f64).collect();
    let scaled = free * graph.constant([n - 1], &lengths);
    let zero = graph.full(with_last(shape, &[1]), 0.0);
    // Entry i is the sum of the rows from i on less (i − 1) times the row before it.
    let total = scaled.sum_axis(axis).reshape(with_last(shape, &[1]));
    let from_here_on = total - scaled.cumulative_sum() + scaled;
    let before = scaled * graph.constant([n - 1], &ranks);
    let logits = graph.concat(&[from_here_on, zero], axis) - graph.concat(&[zero, before], axis);
    let norm = logits.log_sum_exp(axis).reshape(with_last(shape, &[1]));
    let logs = logits - norm;
    ConstrainedValue {
        value: logs.exp(),
        log_jacobian: logs.sum_axis(axis) + 0.5 * (n as f64).ln(),
    }
}

pub(super) fn unconstrain_values(event: &[f64], free: &mut Vec<f64>) {
    let mut sum_before = 0.0;
    for k in 1..event.len() {
        sum_before += event[k - 1].ln();
        free.push((sum_before - k as f64 * event[k].ln()) * helmert_norm(k));
    }
}

pub(super) fn contains_values(event: &[f64]) -> bool {
    let sum: f64 = event.iter().sum();
    event.iter().all(|&x| x >= 0.0) && (sum - 1.0).abs() <= SLACK
}
