//! Diagnostics that make the draws of chains doubtful, with advice.

use serde::{Deserialize, Serialize};

use crate::estimate::Level;

/// A diagnostic that fails, with advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The diagnostic, in words.
    pub found: String,
    /// The advice.
    pub advice: String,
    /// How reliable the draws are nevertheless.
    pub level: Level,
}

impl Failure {
    /// A failed diagnostic with advice.
    pub fn new(found: impl Into<String>, advice: &str) -> Failure {
        Failure {
            found: found.into(),
            advice: advice.into(),
            level: Level::Doubtful,
        }
    }

    /// The same failure, of draws that are not from the posterior.
    #[must_use]
    pub fn untrusted(self) -> Failure {
        Failure {
            level: Level::Untrusted,
            ..self
        }
    }
}
