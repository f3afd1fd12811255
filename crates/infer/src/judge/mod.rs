//! The reliability of a posterior: its witnesses, and the one verdict from them.
//!
//! Terminal, page, JSON and Rust show the same [`Verdict`]. A witness is one file here and one row
//! of [`WITNESSES`].

mod agreement;
mod base;
mod examination;
mod grid;
mod integration;
mod joint;
mod mixing;
mod modes;
mod omission;
mod opinion;
mod probes;
mod quantity;
mod remedy;
mod replacement;
mod subject;
mod tails;
mod training;
mod weights;

pub use crate::estimate::{Level, usable_shape};
pub use agreement::{MOST_RATIO, MOST_SHIFT};
pub(crate) use modes::find as find_modes;
pub use remedy::Remedies;
pub(crate) use replacement::KeptDraws;
pub use replacement::ReplacementDraws;
pub use subject::Subject;
pub(crate) use subject::work;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::posterior::{PRIOR, Posterior};
use EvidenceKind::{Direct, Independent, Indirect};

/// The statement of one witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The witness.
    pub witness: String,
    /// The reliability of the numbers according to this witness.
    pub level: Level,
    /// The reason, as a clause.
    pub sentence: String,
    /// Advice. A reason with advice is a warning.
    pub advice: Option<String>,
}

impl Reason {
    /// A statement without advice; the verdict adds the name of its witness.
    pub(crate) fn new(level: Level, sentence: impl Into<String>) -> Reason {
        Reason {
            witness: String::new(),
            level,
            sentence: sentence.into(),
            advice: None,
        }
    }

    fn with_advice(self, advice: impl Into<String>) -> Reason {
        Reason {
            advice: Some(advice.into()),
            ..self
        }
    }
}

/// The kind of evidence that a witness has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceKind {
    /// It examines the posterior itself, and overrules witnesses with indirect evidence.
    Direct,
    /// It counts, whatever others say.
    Independent,
    /// It is overruled by witnesses that examine the posterior itself.
    Indirect,
}

/// A check of a posterior from one side.
pub struct Witness {
    /// The subject of the check.
    pub name: &'static str,
    /// The kind of its evidence.
    pub evidence: EvidenceKind,
    /// Its statement; `None` if the posterior does not allow the check, or there is nothing to say.
    pub testify: fn(&Posterior, &Remedies) -> Option<Reason>,
}

const fn witness(
    name: &'static str,
    evidence: EvidenceKind,
    testify: fn(&Posterior, &Remedies) -> Option<Reason>,
) -> Witness {
    Witness {
        name,
        evidence,
        testify,
    }
}

/// All witnesses, in the order in which a verdict quotes them.
pub static WITNESSES: &[Witness] = &[
    witness("grid", Direct, grid::testify),
    witness("chains", Direct, opinion::testify),
    witness("weights", Indirect, weights::testify),
    witness("modes", Independent, modes::testify),
    witness("tails", Indirect, tails::testify),
    witness("mixing", Independent, mixing::testify),
    witness("probes", Independent, probes::testify),
    witness("training", Indirect, training::testify),
    witness("base", Independent, base::testify),
    witness("integration", Independent, integration::testify),
    witness("omission", Independent, omission::testify),
];

/// The reliability of a posterior, the reasons, and advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The worst level of any witness.
    pub level: Level,
    /// All reasons in one sentence.
    pub sentence: String,
    /// The statement of each witness.
    pub reasons: Vec<Reason>,
    /// Statements that chains on the posterior itself overruled.
    pub overruled: Vec<Reason>,
}

impl Verdict {
    /// Collects the statements of every witness. Draws of the prior need none.
    pub fn of(posterior: &Posterior, remedies: &Remedies) -> Verdict {
        if posterior.is_prior() {
            return Verdict::of_prior();
        }
        let heard = WITNESSES.iter().filter_map(|witness| {
            let reason = (witness.testify)(posterior, remedies)?;
            let witness_name = witness.name.into();
            Some((
                witness.evidence,
                Reason {
                    witness: witness_name,
                    ..reason
                },
            ))
        });
        let heard: Vec<(EvidenceKind, Reason)> = heard.collect();
        let direct = heard.iter().find(|(evidence, _)| *evidence == Direct);
        let settled = direct.map(|(_, one)| one.level);
        let settled = settled.filter(|level| *level != Level::Doubtful);
        let stands = |(evidence, reason): &(EvidenceKind, Reason)| {
            settled.is_none_or(|level| *evidence != Indirect || reason.level <= level)
        };
        let (counted, overruled): (Vec<_>, Vec<_>) = heard.into_iter().partition(stands);
        let counted = counted.into_iter().map(|(_, reason)| reason).collect();
        let mut verdict = Verdict::from_reasons(counted);
        verdict.overruled = overruled.into_iter().map(|(_, reason)| reason).collect();
        verdict.advise(|| remedy::remedy(posterior, remedies.own));
        verdict
    }

    /// The verdict on independent draws of the prior.
    fn of_prior() -> Verdict {
        let sentence = "draws of the prior alone: the response was not fitted";
        Verdict::from_reasons(vec![Reason {
            witness: PRIOR.into(),
            ..Reason::new(Level::Reliable, sentence)
        }])
    }

    fn from_reasons(reasons: Vec<Reason>) -> Verdict {
        let sentences: Vec<&str> = reasons.iter().map(|one| one.sentence.as_str()).collect();
        let worst = reasons.iter().map(|one| one.level).max();
        Verdict {
            // Without any check the numbers cannot be trusted.
            level: worst.unwrap_or(Level::Untrusted),
            sentence: match sentences.as_slice() {
                [] => "nothing tells how good the draws are".into(),
                said => said.join("; "),
            },
            reasons,
            overruled: Vec::new(),
        }
    }

    /// Adds advice if a witness found a problem and no witness had advice.
    fn advise(&mut self, remedy: impl FnOnce() -> String) {
        let level = self.level;
        let worst = self.reasons.iter_mut().filter(|one| one.level == level);
        let mut worst: Vec<&mut Reason> = worst.collect();
        let silent = worst.iter().all(|one| one.advice.is_none());
        if let Some(reason) = worst
            .first_mut()
            .filter(|_| silent && level >= Level::Doubtful)
        {
            reason.advice = Some(remedy());
        }
    }

    /// All advice.
    pub fn advice(&self) -> impl Iterator<Item = &str> {
        self.reasons.iter().filter_map(|one| one.advice.as_deref())
    }

    /// Whether the user should act.
    pub fn warns(&self) -> bool {
        self.level == Level::Untrusted || self.advice().next().is_some()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.level, self.sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(level: Level, sentence: &str, advice: Option<&str>) -> Reason {
        Reason {
            witness: String::new(),
            level,
            sentence: sentence.into(),
            advice: advice.map(Into::into),
        }
    }

    #[test]
    fn the_worst_level_counts_and_every_reason_is_quoted() {
        let verdict = Verdict::from_reasons(vec![
            reason(Level::Corrected, "one", None),
            reason(Level::Untrusted, "two", Some("do this")),
            reason(Level::Reliable, "three", None),
        ]);
        assert_eq!(verdict.to_string(), "do not trust: one; two; three");
        assert_eq!(verdict.advice().collect::<Vec<_>>(), ["do this"]);
        assert!(verdict.warns());
    }

    #[test]
    fn advice_warns_even_where_the_draws_are_reliable() {
        let with = |advice| Verdict::from_reasons(vec![reason(Level::Reliable, "well", advice)]);
        assert!(with(Some("use less")).warns());
        assert!(!with(None).warns());
    }

    #[test]
    fn what_nobody_looked_at_is_not_trusted() {
        let verdict = Verdict::from_reasons(Vec::new());
        assert_eq!(verdict.level, Level::Untrusted);
        assert!(verdict.warns());
    }
}
