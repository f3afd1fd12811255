//! Bijections of single numbers: the half lines by exp, the intervals by the logistic curve.

use lehr_graph::Expr;

use super::{ConstrainedValue, Support};

pub(super) fn constrain_values(support: Support, free: Expr<'_>) -> ConstrainedValue<'_> {
    let (value, log_jacobian) = match support {
        Support::Positive => (free.exp(), free),
        Support::Lower(low) => (low + free.exp(), free),
        Support::Upper(high) => (high - free.exp(), free),
        Support::UnitInterval => (free.sigmoid(), log_logistic_slope(free)),
        Support::Interval(low, high) => (
            low + free.sigmoid() * (high - low),
            log_logistic_slope(free) + (high - low).ln(),
        ),
        _ => (free, free.graph().full(free.shape(), 0.0)),
    };
    ConstrainedValue {
        value,
        log_jacobian,
    }
}

/// ln s(1 − s) for s = 1/(1 + e⁻ᵘ), without overflow on either side.
fn log_logistic_slope(free: Expr<'_>) -> Expr<'_> {
    -(free.softplus() + (-free).softplus())
}

pub(super) fn unconstrain_values(support: Support, x: f64) -> f64 {
    match support {
        Support::Positive => x.ln(),
        Support::Lower(low) => (x - low).ln(),
        Support::Upper(high) => (high - x).ln(),
        // A difference of logarithms keeps both ends exact.
        Support::UnitInterval => x.ln() - (-x).ln_1p(),
        Support::Interval(low, high) => (x - low).ln() - (high - x).ln(),
        _ => x,
    }
}

pub(super) fn contains_values(support: Support, x: f64) -> bool {
    match support {
        Support::Positive => x > 0.0 && x.is_finite(),
        Support::Lower(low) => x >= low && x.is_finite(),
        Support::Upper(high) => x <= high && x.is_finite(),
        Support::UnitInterval => x > 0.0 && x < 1.0,
        Support::Interval(low, high) => x >= low && x <= high,
        _ => x.is_finite(),
    }
}
