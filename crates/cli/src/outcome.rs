//! How a command that could run has ended.

use std::process::ExitCode;

/// How a command that could run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to remark.
    Done,
    /// Done, but the diagnostics warn.
    Warned,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::Warned => ExitCode::from(1),
        }
    }
}
