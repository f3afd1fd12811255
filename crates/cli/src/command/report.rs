//! `lehr report`: one self-contained page about a saved fit.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use lehr::regression::PRIOR_ONLY;
use lehr::report::write_page;
use serde::Serialize;

use crate::content::FileKind;
use crate::one_response::OneResponse;
use crate::outcome::CommandOutcome;
use crate::output::{Force, OutputRequest};
use crate::session::Session;

/// Write one self-contained HTML page about a saved fit
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr report fit.lehr -o report.html")]
pub(crate) struct ReportArgs {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// Where the page goes; - is stdout
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    #[command(flatten)]
    one: OneResponse,
    #[command(flatten)]
    force: Force,
}

/// The location of a page.
#[derive(Serialize)]
struct ReportObject {
    output: String,
    verdict: &'static str,
}

impl ReportArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        let fit = session.resolve_input(&self.fit)?;
        let output =
            OutputRequest::new(&self.output, FileKind::Page, self.force).open_output(&[&fit])?;
        let saved = self.one.load_fit(&fit)?;
        write_page(&saved.report(), output.path())?;
        let written = ReportObject {
            output: output.name(),
            verdict: saved.verdict().level.name(),
        };
        output.print_answer(session, &written, || format!("{}\n", written.output))?;
        if saved.is_prior_only() {
            session.print_remark(PRIOR_ONLY);
        }
        Ok(CommandOutcome::Done)
    }
}
