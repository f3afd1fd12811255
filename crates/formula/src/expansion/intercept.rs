//! The intercept: there, unless it is left out.

use serde::{Deserialize, Serialize};

/// Whether there is an intercept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intercept {
    /// `1 +`, and where nothing is said.
    Present,
    /// `0 +` or `- 1`.
    Absent,
}

impl Intercept {
    pub(super) fn flipped(self) -> Self {
        match self {
            Self::Present => Self::Absent,
            Self::Absent => Self::Present,
        }
    }
}
