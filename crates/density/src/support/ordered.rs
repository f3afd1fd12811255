//! Increasing numbers: the first is free, and each increment is an exponential.

use lehr_graph::Expr;

use super::{ConstrainedValue, with_last};

pub(super) fn constrain_values(free: Expr<'_>, n: usize) -> ConstrainedValue<'_> {
    let graph = free.graph();
    let axis = free.shape().rank() - 1;
    if n <= 1 {
        let log_jacobian = graph.full(with_last(free.shape(), &[]), 0.0);
        return ConstrainedValue {
            value: free,
            log_jacobian,
        };
    }
    let (first, steps) = (free.slice(axis, 0..1), free.slice(axis, 1..n));
    ConstrainedValue {
        value: graph.concat(&[first, steps.exp()], axis).cumulative_sum(),
        log_jacobian: steps.sum_axis(axis),
    }
}

pub(super) fn unconstrain_values(event: &[f64], free: &mut Vec<f64>) {
    free.extend(event.first());
    free.extend(event.windows(2).map(|pair| (pair[1] - pair[0]).ln()));
}

pub(super) fn contains_values(event: &[f64]) -> bool {
    event.iter().all(|x| x.is_finite()) && event.windows(2).all(|pair| pair[0] <= pair[1])
}
