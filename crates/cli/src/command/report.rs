//! `lehr report`: one self-contained page about a saved fit.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use lehr::regression::PRIOR_ONLY;
use lehr::report::write_page;
use serde::Serialize;

use crate::content::Kind;
use crate::one_response::OneResponse;
use crate::outcome::Outcome;
use crate::output::{Force, Order};
use crate::session::Session;

/// Write one self-contained HTML page about a saved fit
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr report fit.lehr -o report.html")]
pub(crate) struct Report {
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

impl Report {
    pub(crate) fn run_command(&self, session: &Session) -> Result<Outcome> {
        let fit = session.resolve_input(&self.fit)?;
        let output = Order::new(&self.output, Kind::Page, self.force).open_output(&[&fit])?;
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
        Ok(Outcome::Done)
    }
}
