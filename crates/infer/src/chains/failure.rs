//! Numbers that make draws of chains doubtful, and advice.

use serde::{Deserialize, Serialize};

use crate::estimate::Level;

/// A number that fails, and what to try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The number, in words.
    pub found: String,
    /// What to try.
    pub advice: String,
    /// How far draws can be relied on in spite of it.
    pub level: Level,
}

impl Failure {
    /// This number fails; try that.
    pub fn new(found: impl Into<String>, advice: &str) -> Failure {
        Failure {
            found: found.into(),
            advice: advice.into(),
            level: Level::Doubtful,
        }
    }

    /// The same of draws that are not the posterior's.
    #[must_use]
    pub fn untrusted(self) -> Failure {
        Failure {
            level: Level::Untrusted,
            ..self
        }
    }
}
