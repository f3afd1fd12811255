//! `lehr report`: one self-contained page about a saved fit.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use lehr::regression::SavedFit;
use lehr::report::write_page;
use serde::Serialize;

use crate::outcome::Outcome;
use crate::output::writable;
use crate::session::Session;

/// Write one self-contained HTML page about a saved fit
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr report fit.lehr -o report.html")]
pub(crate) struct Report {
    /// A file written by lehr fit
    fit: PathBuf,
    /// Where the page goes
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
}

/// Where a page went.
#[derive(Serialize)]
struct ReportObject {
    output: String,
    verdict: &'static str,
}

impl Report {
    pub(crate) fn run(&self, session: &Session) -> Result<Outcome> {
        writable(&self.output)?;
        let saved = SavedFit::load(&self.fit)?;
        write_page(&saved.report(), &self.output)?;
        let written = ReportObject {
            output: self.output.display().to_string(),
            verdict: saved.verdict().level.name(),
        };
        session.answer(&written, || format!("{}\n", written.output))?;
        Ok(Outcome::Done)
    }
}
