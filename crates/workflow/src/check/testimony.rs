//! What the witnesses of a verdict say, one by one.

use std::fmt;

use lehr_infer::judge::{Reason, Verdict};
use serde::Serialize;

/// What one witness says.
#[derive(Clone, Debug, Serialize)]
pub struct Testimony {
    /// The witness.
    pub witness: String,
    /// How far the draws can be trusted by it.
    pub level: &'static str,
    /// What it found.
    pub sentence: String,
    /// Whether chains on the posterior itself have settled it otherwise.
    pub overruled: bool,
}

impl Testimony {
    /// Those that a verdict rests on, then those that were overruled.
    pub fn all(verdict: &Verdict) -> Vec<Testimony> {
        let heard = verdict.reasons.iter().map(|one| Testimony::of(one, false));
        let overruled = verdict.overruled.iter().map(|one| Testimony::of(one, true));
        heard.chain(overruled).collect()
    }

    fn of(reason: &Reason, overruled: bool) -> Testimony {
        Testimony {
            witness: reason.witness.clone(),
            level: reason.level.name(),
            sentence: reason.sentence.clone(),
            overruled,
        }
    }
}

impl fmt::Display for Testimony {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let overruled = if self.overruled {
            " (the posterior itself says otherwise)"
        } else {
            ""
        };
        // Programs spell levels with a hyphen, people do not.
        let level = self.level.replace('-', " ");
        write!(f, "{level}: {}{overruled}", self.sentence)
    }
}
