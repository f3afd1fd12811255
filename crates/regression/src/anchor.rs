//! Where the linear predictor is expected, and how widely it varies.

use lehr_formula::Intercept;

use crate::family::{Family, Link};
use crate::population::{centre_and_scale, root_mean_square};

/// The linear predictor is `centre + unit · (standardised predictor)`, one centre for each
/// logit of the family. So all latents are about 1 in size, whatever the response's unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Anchor {
    pub(crate) centre: Vec<f64>,
    pub(crate) unit: f64,
    /// How much wider than usual priors of coefficients must be: more than 1 where there is
    /// no intercept to carry the mean of the response.
    pub(crate) widening: f64,
}

/// What the response of the fitted table looks like.
pub(crate) struct Observed<'a> {
    pub(crate) values: &'a [f64],
    pub(crate) trials: Option<&'a [f64]>,
    pub(crate) offset: Option<&'a [f64]>,
    /// How many classes there are; 0 for numbers.
    pub(crate) classes: usize,
}

impl Anchor {
    /// The anchor of a family for these responses.
    pub(crate) fn fit(family: Family, intercept: Intercept, observed: &Observed<'_>) -> Anchor {
        if family.link() == Link::Identity {
            return identity(intercept, observed);
        }
        let centre = match family {
            Family::Ordinal => vec![0.0],
            Family::Categorical => class_logits(observed),
            _ => vec![linked_mean(family, observed)],
        };
        match intercept {
            Intercept::Present => Anchor {
                centre,
                unit: 1.0,
                widening: 1.0,
            },
            Intercept::Absent => Anchor {
                unit: 1.0,
                widening: (centre.iter())
                    .fold(1.0, |most: f64, at| most.max(at.abs()))
                    .min(1e6),
                centre: vec![0.0; centre.len()],
            },
        }
    }
}

/// The residual of the offset: its mean and spread, or its root mean square around 0.
fn identity(intercept: Intercept, observed: &Observed<'_>) -> Anchor {
    let rest: Vec<f64> = match observed.offset {
        None => observed.values.to_vec(),
        Some(offset) => (observed.values.iter().zip(offset))
            .map(|(value, offset)| value - offset)
            .collect(),
    };
    let (centre, unit) = match intercept {
        Intercept::Present => centre_and_scale(&rest),
        Intercept::Absent => (0.0, root_mean_square(&rest)),
    };
    Anchor {
        centre: vec![centre],
        // A spread of nothing but rounding is none; the caller refuses it.
        unit: if unit > 4.0 * f64::EPSILON * centre.abs() {
            unit
        } else {
            0.0
        },
        widening: 1.0,
    }
}

/// The link of the mean, a little inside its range, less the offset's.
fn linked_mean(family: Family, observed: &Observed<'_>) -> f64 {
    let count = observed.values.len() as f64;
    let sum: f64 = observed.values.iter().sum();
    let offset = observed.offset.unwrap_or(&[0.0]);
    let shift = offset.iter().sum::<f64>() / offset.len() as f64;
    if family.link() == Link::Log {
        // ln mean(e^offset), safe for large offsets.
        let most = offset.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let parts: f64 = offset.iter().map(|value| (value - most).exp()).sum();
        let exposure = most + (parts / offset.len() as f64).ln();
        let floor = if family.is_count() { 0.5 } else { 0.0 };
        return (sum.max(floor) / count).ln() - exposure;
    }
    let (hits, all) = match observed.trials {
        Some(trials) => (sum + 0.5, trials.iter().sum::<f64>() + 1.0),
        None if family == Family::Beta => (sum, count),
        None => (sum + 0.5, count + 1.0),
    };
    (hits / (all - hits)).ln() - shift
}

/// The log odds of each class against the first.
fn class_logits(observed: &Observed<'_>) -> Vec<f64> {
    let mut counts = vec![0.5; observed.classes];
    for value in observed.values {
        counts[*value as usize] += 1.0;
    }
    let against = |count: &f64| (count / counts[0]).ln();
    counts[1..].iter().map(against).collect()
}
