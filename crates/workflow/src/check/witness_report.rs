//! The statements of a verdict's witnesses, one by one.

use std::fmt;

use lehr_infer::judge::{Reason, Verdict};
use serde::Serialize;

/// The statement of one witness.
#[derive(Clone, Debug, Serialize)]
pub struct WitnessReport {
    /// The witness.
    pub witness: String,
    /// The reliability of the draws according to the witness.
    pub level: &'static str,
    /// The finding.
    pub sentence: String,
    /// Whether chains on the posterior itself overruled it.
    pub overruled: bool,
}

impl WitnessReport {
    /// The statements on which a verdict rests, then those that were overruled.
    pub fn all(verdict: &Verdict) -> Vec<WitnessReport> {
        let heard = verdict.reasons.iter().map(|one| (one, false));
        let all = heard.chain(verdict.overruled.iter().map(|one| (one, true)));
        let report = |(reason, overruled): (&Reason, bool)| WitnessReport {
            witness: reason.witness.clone(),
            level: reason.level.name(),
            sentence: reason.sentence.clone(),
            overruled,
        };
        all.map(report).collect()
    }
}

impl fmt::Display for WitnessReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let overruled = if self.overruled {
            " (the posterior itself says otherwise)"
        } else {
            ""
        };
        // Levels are written with a hyphen for programs and without for users.
        let level = self.level.replace('-', " ");
        write!(f, "{level}: {}{overruled}", self.sentence)
    }
}
