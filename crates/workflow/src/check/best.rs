//! The choice among several fits of one table.

use lehr_infer::posterior::Estimate;

use crate::saved_fit::SavedFit;

/// The place of the fit with the best verdict; among those the one with the largest bound; and
/// among fits whose bounds differ only by Monte Carlo error, the one with the most even weights.
///
/// # Panics
/// Without a fit.
pub fn best_of(fits: &[&SavedFit]) -> usize {
    let level = |place: &usize| fits[*place].posterior.verdict().level;
    let bound = |place: &usize| fits[*place].posterior.bound().unwrap_or(NONE);
    let reached = (0..fits.len()).map(|place| level(&place)).min();
    let mut trusted: Vec<usize> = (0..fits.len()).collect();
    trusted.retain(|place| Some(level(place)) == reached);
    let top = (trusted.iter().map(bound))
        .max_by(|a, b| a.mean.total_cmp(&b.mean))
        .expect("there is at least one fit");
    let near = |place: &&usize| {
        let error = bound(place).error.hypot(top.error);
        bound(place).mean + 2.0 * error >= top.mean
    };
    let shape = |place: &&usize| tail(fits[**place]);
    let best = (trusted.iter().filter(near)).min_by(|a, b| shape(a).total_cmp(&shape(b)));
    best.copied().unwrap_or(0)
}

/// The bound of a fit without one.
const NONE: Estimate = Estimate {
    mean: f64::NEG_INFINITY,
    error: 0.0,
};

/// The shape of the weights' tail. Weights without a tail are nearly equal; draws of chains have
/// none.
fn tail(saved: &SavedFit) -> f64 {
    let posterior = &saved.posterior;
    match posterior.importance() {
        Some(_) => posterior.pareto_shape().unwrap_or(f64::NEG_INFINITY),
        None => f64::INFINITY,
    }
}
