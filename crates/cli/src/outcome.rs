//! How a command that could run has ended.

use lehr::regression::SavedFit;

/// How a command that could run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to remark.
    Done,
    /// Done, but the diagnostics warn.
    Warned,
}

impl From<&SavedFit> for Outcome {
    fn from(saved: &SavedFit) -> Outcome {
        if saved.is_trusted() {
            Outcome::Done
        } else {
            Outcome::Warned
        }
    }
}

impl Outcome {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::Warned => 1,
        }
    }
}
