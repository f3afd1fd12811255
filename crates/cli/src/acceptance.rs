//! What an export of a fit whose diagnostics warn says, and how it ends.

use clap::Args;
use lehr::regression::{PRIOR_ONLY, SavedFit};
use lehr::report::Style;

use crate::outcome::Outcome;
use crate::session::Session;

/// Whether the warnings of a fit are accepted.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Acceptance {
    /// End with exit code 0 although the diagnostics of the fit warn
    #[arg(long)]
    pub(crate) accept_warnings: bool,
}

impl Acceptance {
    /// Repeats the verdict on stderr if the diagnostics warn. Unless that is accepted, the
    /// export ends as warned.
    pub(crate) fn outcome(self, saved: &SavedFit, session: &Session) -> Outcome {
        if saved.is_prior_only() {
            session.remark(PRIOR_ONLY);
        }
        if saved.is_trusted() {
            return Outcome::Done;
        }
        session.remark(Style::PLAIN.verdict(&saved.verdict()).trim_end());
        if self.accept_warnings {
            return Outcome::Done;
        }
        session.remark("  hint: --accept-warnings ends with exit code 0 all the same");
        Outcome::Warned
    }
}
