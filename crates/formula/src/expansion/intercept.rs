//! The intercept, which is present unless it is removed.

use serde::{Deserialize, Serialize};

/// Whether there is an intercept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intercept {
    /// `1 +`, or no mention of the intercept.
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
