//! The witness of importance weights: whether draws reach all of the posterior, as far as their
//! own weights can tell.

use super::agreement::{beyond_chance, listed, off};
use super::grid;
use super::quantity::Quantity;
use super::{Level, Reason, Standing, Witness};
use crate::posterior::{Importance, Posterior};
use lehr_numeric::pareto::{Pareto, threshold};

pub(super) const WITNESS: Witness = Witness {
    name: "weights",
    standing: Standing::GivesWay,
    testify,
};

/// The effective share of draws above which weighting changes nothing that could be seen.
const ALIKE: f64 = 0.99;
/// The effective share of draws below which no draw is taken as it is.
const SHARE: f64 = 0.9;
/// Effective draws that a correction needs.
const ENOUGH: f64 = 400.0;

/// The largest k̂ at which so many draws can be corrected, with its two digits. Everything that
/// names a limit of k̂ reads it here.
pub fn usable_shape(draws: usize) -> f64 {
    threshold(draws)
}

/// What weights say of their draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// They are all but equal: there is no tail whose shape could matter.
    Alike,
    /// k̂ is below the limit, however uncertain it is.
    Light,
    /// k̂ is above the limit, however uncertain it is.
    Heavy,
    /// k̂ is too uncertain to tell.
    Open,
}

impl Shape {
    /// What a set of weights says.
    pub fn of(pareto: &Pareto) -> Shape {
        let draws = pareto.log_weights.len();
        let (limit, error) = (usable_shape(draws), pareto.shape_error());
        if pareto.effective_size > ALIKE * draws as f64 {
            Shape::Alike
        } else if pareto.shape + error < limit {
            Shape::Light
        } else if pareto.shape - error < limit {
            Shape::Open
        } else {
            // What is not a number is not light.
            Shape::Heavy
        }
    }
}

/// Whether weights move nothing, as far as they can tell.
pub(super) fn is_calm(pareto: &Pareto, quantities: &[Quantity]) -> bool {
    let share = pareto.effective_size / pareto.log_weights.len() as f64;
    match Shape::of(pareto) {
        Shape::Alike => true,
        Shape::Light => share > SHARE && moved(quantities).is_none(),
        Shape::Heavy | Shape::Open => false,
    }
}

/// How far draws can be relied on by their weights alone.
fn level(importance: &Importance) -> Level {
    let pareto = &importance.pareto;
    match Shape::of(pareto) {
        _ if is_calm(pareto, &importance.examination.quantities) => Level::Reliable,
        Shape::Light if pareto.effective_size > ENOUGH => Level::Corrected,
        Shape::Open => Level::Doubtful,
        _ => Level::Untrusted,
    }
}

/// What the weights move by more than is tolerated, in words.
fn moved(quantities: &[Quantity]) -> Option<String> {
    let gaps = quantities.iter().map(|one| (one.name.as_str(), one.moved));
    let off = off(gaps, beyond_chance(quantities.len()));
    (!off.is_empty()).then(|| listed(&off))
}

fn testify(posterior: &Posterior) -> Option<Reason> {
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
    let sentence = match (Shape::of(pareto), level) {
        (Shape::Alike, _) => "the weights of the draws are all but equal".to_owned(),
        (_, Level::Reliable) => {
            format!("weighting the draws changes little ({share:.0} % effective, k = {k:.2})")
        }
        (_, Level::Corrected) => format!(
            "weights repair the draws ({share:.0} % effective, k = {k:.2}){}",
            moved.map_or_else(String::new, |moved| format!(": {moved}"))
        ),
        (Shape::Open, _) => {
            format!("the weights leave it open whether the draws can be repaired (k = {k:.2})")
        }
        _ => format!(
            "the draws are too far from the posterior for weights to repair them ({share:.0} % \
             effective, k = {k:.2}, at most {limit:.2} is repaired)"
        ),
    };
    Some(Reason {
        witness: WITNESS.name.into(),
        level,
        sentence,
        advice: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_numeric::stream::Stream;

    fn shape(k: f64, draws: usize) -> Shape {
        Shape::of(&Pareto {
            log_weights: vec![0.0; draws],
            shape: k,
            effective_size: 0.8 * draws as f64,
            log_evidence: 0.0,
            log_evidence_error: 0.0,
        })
    }

    #[test]
    fn a_shape_is_judged_with_its_uncertainty_and_the_number_of_draws() {
        for (k, draws, expected) in [
            (0.2, 1000, Shape::Light),
            (0.6, 1000, Shape::Open),
            (0.6, 1_000_000, Shape::Light),
            (0.9, 1000, Shape::Heavy),
            (0.45, 50, Shape::Open),
            (f64::INFINITY, 1000, Shape::Heavy),
        ] {
            assert_eq!(shape(k, draws), expected, "{k} {draws}");
        }
    }

    #[test]
    fn weights_that_are_all_but_equal_have_no_tail_that_matters() {
        // 1 + c x with x of a Pareto distribution of shape 1.2.
        let weight = |scale: f64| {
            let mut stream = Stream::new(3, "alike", 0);
            let tail = |u: f64| (1.0 - u).powf(-1.2);
            let log_weights: Vec<f64> = (0..1000)
                .map(|_| (scale * tail(stream.uniform())).ln_1p())
                .collect();
            Pareto::new(&log_weights).unwrap()
        };
        let (alike, unlike) = (weight(0.0003), weight(0.3));
        assert!(alike.shape > 0.7, "{}", alike.shape);
        assert_eq!(Shape::of(&alike), Shape::Alike);
        assert_eq!(Shape::of(&unlike), Shape::Heavy);
    }
}
