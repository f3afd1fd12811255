//! The witness of importance weights: whether draws cover the whole posterior, as far as their own
//! weights show.

use lehr_numeric::pareto::{Pareto, TailShape};

use super::agreement::{beyond_chance, listed, off};
use super::remedy::Remedies;
use super::{Reason, grid};
use crate::estimate::{Level, usable_shape};
use crate::posterior::{Importance, Posterior, Quantity};

/// Below this effective share draws are never used unweighted.
const SHARE: f64 = 0.9;
/// Effective draws that a correction needs.
const ENOUGH: f64 = 400.0;

/// Whether the weights have no visible effect.
pub(super) fn is_calm(pareto: &Pareto, quantities: &[Quantity]) -> bool {
    let share = pareto.effective_size / pareto.log_weights.len() as f64;
    match TailShape::of(pareto) {
        TailShape::Even => true,
        TailShape::Light => share > SHARE && moved(quantities).is_none(),
        TailShape::Heavy | TailShape::Uncertain => false,
    }
}

/// The reliability of draws by their weights alone.
fn level(importance: &Importance) -> Level {
    let pareto = &importance.pareto;
    match TailShape::of(pareto) {
        _ if is_calm(pareto, &importance.examination.quantities) => Level::Reliable,
        TailShape::Light if pareto.effective_size > ENOUGH => Level::Corrected,
        TailShape::Uncertain => Level::Doubtful,
        _ => Level::Untrusted,
    }
}

/// The numbers that the weights change by more than the tolerance, in words.
fn moved(quantities: &[Quantity]) -> Option<String> {
    let gaps = quantities.iter().map(|one| (one.name.as_str(), one.moved));
    let off = off(gaps, beyond_chance(quantities.len()));
    (!off.is_empty()).then(|| listed(&off))
}

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let importance = posterior.importance()?;
    // Draws of a grid have no weights.
    if grid::stands_in(&importance.examination) {
        return None;
    }
    let pareto = &importance.pareto;
    let draws = pareto.log_weights.len();
    let (k, limit) = (pareto.shape, usable_shape(draws));
    let share = 100.0 * pareto.effective_size / draws as f64;
    let level = level(importance);
    let moved = moved(&importance.examination.quantities);
    let sentence = match (TailShape::of(pareto), level) {
        (TailShape::Even, _) => "the weights of the draws are all but equal".to_owned(),
        (_, Level::Reliable) => {
            format!("weighting the draws changes little ({share:.0} % effective, k = {k:.2})")
        }
        (_, Level::Corrected) => format!(
            "weights repair the draws ({share:.0} % effective, k = {k:.2}){}",
            moved.map_or_else(String::new, |moved| format!(": {moved}"))
        ),
        (TailShape::Uncertain, _) => {
            format!("the weights leave it open whether the draws can be repaired (k = {k:.2})")
        }
        _ => format!(
            "the draws are too far from the posterior for weights to repair them ({share:.0} % \
             effective, k = {k:.2}, at most {limit:.2} is repaired)"
        ),
    };
    Some(Reason::new(level, sentence))
}
