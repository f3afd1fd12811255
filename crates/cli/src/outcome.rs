//! How a command that could run has ended.

use std::process::ExitCode;

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

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::Warned => ExitCode::from(1),
        }
    }
}
