//! The outcome of a command that could run.

use lehr::regression::SavedFit;

/// The outcome of a command that could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done, without warnings.
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
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::Warned => 1,
        }
    }
}
