//! The outcome of a command that could run.

use lehr::regression::SavedFit;

/// The outcome of a command that could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandOutcome {
    /// Done, without warnings.
    Done,
    /// Done, but the diagnostics warn.
    Warned,
}

impl From<&SavedFit> for CommandOutcome {
    fn from(saved: &SavedFit) -> CommandOutcome {
        if saved.is_trusted() {
            CommandOutcome::Done
        } else {
            CommandOutcome::Warned
        }
    }
}

impl CommandOutcome {
    /// The exit code.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            CommandOutcome::Done => 0,
            CommandOutcome::Warned => 1,
        }
    }
}
