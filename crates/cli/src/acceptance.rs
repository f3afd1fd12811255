//! The remark and exit code of an export if the diagnostics of its fit warn.

use clap::Args;
use lehr::regression::{PRIOR_ONLY, SavedFit};
use lehr::report::Style;

use crate::outcome::CommandOutcome;
use crate::session::Session;

/// Whether the warnings of a fit are accepted.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Acceptance {
    /// End with exit code 0 although the diagnostics of the fit warn
    #[arg(long)]
    pub(crate) accept_warnings: bool,
}

impl Acceptance {
    /// Repeats the verdict on stderr if the diagnostics warn. Unless the warnings are accepted, the
    /// export ends with the code of a warning.
    pub(crate) fn exit_outcome(self, saved: &SavedFit, session: &Session) -> CommandOutcome {
        if saved.is_prior_only() {
            session.print_remark(PRIOR_ONLY);
        }
        if saved.is_trusted() {
            return CommandOutcome::Done;
        }
        session.print_remark(Style::PLAIN.format_verdict(&saved.verdict()).trim_end());
        if self.accept_warnings {
            return CommandOutcome::Done;
        }
        session.print_remark("  hint: --accept-warnings ends with exit code 0 all the same");
        CommandOutcome::Warned
    }
}
