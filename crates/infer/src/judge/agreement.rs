//! Tests whether one estimate of the quantities agrees with a reference for the posterior.

use lehr_numeric::summary::normal_quantile;

use crate::posterior::{Gap, Moments, Quantity};

/// A mean that differs by more than this many standard deviations, or a standard deviation that
/// differs by more than this share, is reported.
pub const MOST_SHIFT: f64 = 0.1;
/// See [`MOST_SHIFT`].
pub const MOST_RATIO: f64 = 0.05;
/// Larger differences that cannot be ruled out mean that the estimate is not confirmed.
const WRONG_SHIFT: f64 = 0.2;
const WRONG_RATIO: f64 = 0.0953;
/// Standard errors that count as certainty.
const SURE: f64 = 2.5;
/// A reference with a larger error cannot confirm anything, whatever the weights.
const KNOWN_SHIFT: f64 = 0.25;
const KNOWN_RATIO: f64 = 0.15;
/// The probability that any quantity seems to differ by chance.
const CHANCE: f64 = 0.003;

/// The result of comparing one estimate with the reference.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Agreement {
    /// All relevant differences can be ruled out.
    Agrees,
    /// These quantities differ, the worst first.
    Differs(Vec<Deviation>),
    /// The reference is not accurate enough.
    Unknown,
}

/// A quantity that differs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Deviation {
    pub(super) name: String,
    pub(super) gap: Gap,
}

impl Deviation {
    /// The size of the difference, in multiples of the tolerance.
    fn size(&self) -> f64 {
        let wide = self.gap.log_ratio.abs() / MOST_RATIO;
        (self.gap.shift.abs() / MOST_SHIFT).max(wide)
    }
}

impl std::fmt::Display for Deviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Gap {
            shift, log_ratio, ..
        } = self.gap;
        let (name, ratio) = (&self.name, log_ratio.exp());
        write!(f, "{name} (mean off by {shift:+.2} sd, sd × {ratio:.2})")
    }
}

/// The first few names, and how many more there are.
pub(super) fn listed(off: &[Deviation]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = off.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = match off.len().saturating_sub(SHOWN) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    shown.join(", ") + &more
}

/// The z-value beyond which a difference in one of this many quantities is not due to chance.
pub(super) fn beyond_chance(quantities: usize) -> f64 {
    -normal_quantile(0.5 * CHANCE / quantities.max(1) as f64)
}

/// The relevant gaps of more than `z` standard errors, the worst first.
pub(super) fn off<'a>(gaps: impl Iterator<Item = (&'a str, Gap)>, z: f64) -> Vec<Deviation> {
    let matters = |(_, gap): &(&str, Gap)| {
        gap.shift.abs() > MOST_SHIFT.max(z * gap.shift_error)
            || gap.log_ratio.abs() > MOST_RATIO.max(z * gap.log_ratio_error)
    };
    let found = gaps.filter(matters).map(|(name, gap)| Deviation {
        name: name.to_owned(),
        gap,
    });
    let mut found: Vec<Deviation> = found.collect();
    found.sort_by(|a, b| b.size().total_cmp(&a.size()));
    found
}

/// An estimate of every quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawsKind {
    /// The unweighted draws, with uninformative weights.
    Raw,
    /// The unweighted draws, with light-tailed weights that show their error.
    RawWithWeights,
    /// The weighted draws.
    Weighted,
}

impl DrawsKind {
    /// The gaps of this estimate to the reference, and to the combination of all information.
    fn gaps(self, one: &Quantity, reference: &Moments) -> (Gap, Gap) {
        match self {
            DrawsKind::Raw => (one.raw.gap_from(reference), one.raw.gap_from(reference)),
            DrawsKind::Weighted => {
                let gap = one.weighted.gap_from(reference);
                (gap, gap)
            }
            DrawsKind::RawWithWeights => {
                let gap = one.raw.gap_from(reference);
                (gap, gap.pooled(one.by_weights()))
            }
        }
    }
}

/// Compares one estimate of every quantity with the reference.
pub(super) fn agreement(quantities: &[Quantity], account: DrawsKind) -> Agreement {
    let gaps = |one: &'_ Quantity| one.reference.map(|known| account.gaps(one, &known));
    let gaps: Option<Vec<(Gap, Gap)>> = quantities.iter().map(gaps).collect();
    let Some(gaps) = gaps else {
        return Agreement::Unknown;
    };
    let z = beyond_chance(quantities.len());
    for all in [
        gaps.iter().map(|both| both.0).collect::<Vec<_>>(),
        gaps.iter().map(|both| both.1).collect(),
    ] {
        let names = quantities.iter().map(|one| one.name.as_str());
        let off = off(names.zip(all), z);
        if !off.is_empty() {
            return Agreement::Differs(off);
        }
    }
    let known = quantities.iter().all(|one| one.is_known(z));
    if known && gaps.iter().all(|both| is_small(&both.1)) {
        Agreement::Agrees
    } else {
        Agreement::Unknown
    }
}

/// Whether a relevant gap can be ruled out; NaN cannot.
pub(super) fn is_small(gap: &Gap) -> bool {
    gap.shift.abs() + SURE * gap.shift_error < WRONG_SHIFT
        && gap.log_ratio.abs() + SURE * gap.log_ratio_error < WRONG_RATIO
}

/// Whether the reference itself is accurate for every quantity.
pub(super) fn is_sure(quantities: &[Quantity]) -> bool {
    let sure = |known: Moments| {
        SURE * known.mean_error < WRONG_SHIFT * known.sd && SURE * known.sd_error < WRONG_RATIO
    };
    quantities.iter().all(|one| one.reference.is_some_and(sure))
}

impl Quantity {
    /// Whether the reference is accurate enough to confirm others.
    fn is_known(&self, z: f64) -> bool {
        self.reference.is_some_and(|known| {
            let (mean, sd) = (known.mean_error / known.sd, known.sd_error);
            z * mean < KNOWN_SHIFT && z * sd < KNOWN_RATIO
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(sd: f64, error: f64) -> Moments {
        Moments {
            mean: 0.0,
            mean_error: error,
            sd,
            sd_error: error,
        }
    }

    /// A quantity whose draws are too wide by a factor, and a reference with an error.
    fn quantity(sd: f64, error: f64) -> Quantity {
        let raw = moments(sd, 0.01);
        Quantity {
            name: "x".into(),
            raw,
            weighted: raw,
            moved: Gap {
                shift: 0.0,
                shift_error: 0.0,
                log_ratio: 0.0,
                log_ratio_error: 0.0,
            },
            reference: Some(moments(1.0, error)),
        }
    }

    #[test]
    fn what_is_wrong_is_never_confirmed_by_a_reference_that_hardly_knows() {
        // 12 % too wide, and the reference is not accurate enough to show it.
        let vague = agreement(&[quantity(1.12, 0.04)], DrawsKind::Raw);
        assert_eq!(vague, Agreement::Unknown);
        let exact = agreement(&[quantity(1.12, 0.01)], DrawsKind::Raw);
        assert!(matches!(exact, Agreement::Differs(_)), "{exact:?}");
        let right = agreement(&[quantity(1.01, 0.01)], DrawsKind::Raw);
        assert_eq!(right, Agreement::Agrees);
    }

    #[test]
    fn weights_that_move_nothing_confirm_where_chains_are_vague() {
        let right = quantity(1.02, 0.035);
        let account = |account| agreement(std::slice::from_ref(&right), account);
        assert_eq!(account(DrawsKind::Raw), Agreement::Unknown);
        assert_eq!(account(DrawsKind::RawWithWeights), Agreement::Agrees);
    }

    #[test]
    fn light_weights_do_not_excuse_what_chains_see() {
        let found = agreement(&[quantity(1.2, 0.02)], DrawsKind::RawWithWeights);
        assert!(matches!(found, Agreement::Differs(_)), "{found:?}");
    }
}
