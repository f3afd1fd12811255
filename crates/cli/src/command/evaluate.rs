//! `lehr evaluate`: how well a fit predicts rows it has not seen.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use lehr::regression::{Evaluation, Evaluator, Forecaster};
use lehr::table::TableFiles;

use crate::acceptance::Acceptance;
use crate::live::Live;
use crate::one_response::OneResponse;
use crate::outcome::CommandOutcome;
use crate::reading::ReadingArgs;
use crate::session::Session;

use super::predict::{LevelName, NewLevelsName};

/// Judge a fit on held-out rows: log likelihood, accuracy or RMSE, calibration
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr evaluate fit.lehr test.parquet
  lehr evaluate fit.lehr 'test-*.csv' --new-levels sample --json")]
pub(crate) struct EvaluateArgs {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// Files, folders or patterns that together are one table, with the response; - reads stdin
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// What becomes of groups that were not fitted
    #[arg(long, value_enum, default_value = "refuse")]
    new_levels: NewLevelsName,
    /// Whether the effects of groups are part of a prediction
    #[arg(long, value_enum, default_value_t)]
    level: LevelName,
    /// Draws to judge by
    #[arg(long, value_name = "N", default_value_t = 256)]
    draws: usize,
    /// Where random numbers come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    one: OneResponse,
    #[command(flatten)]
    acceptance: Acceptance,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl EvaluateArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        ensure!(
            self.draws > 0,
            "--draws: expected at least one draw, found 0"
        );
        let saved = self.one.load_fit(session.resolve_input(&self.fit)?)?;
        let source = session.open_tables(&self.tables)?;
        let live = Live::new(session, "evaluate");
        let forecaster = Forecaster {
            new_levels: self.new_levels.into(),
            level: self.level.into(),
            seed: self.seed,
            ..saved.forecaster(self.draws)
        };
        let evaluation = evaluate_table(&forecaster, &source, &self.reading, &live)?;
        drop(live);
        session.print_answer(&evaluation, || format_text(&evaluation))?;
        Ok(self.acceptance.exit_outcome(&saved, session))
    }
}

/// Scores a fit on all rows of some files.
pub(super) fn evaluate_table(
    forecaster: &Forecaster<'_>,
    source: &TableFiles,
    reading: &ReadingArgs,
    live: &Live,
) -> Result<Evaluation> {
    let options = reading.fitted(forecaster.saved)?;
    let mut evaluator = Evaluator::new(forecaster);
    let scanned = source.scan_blocks(&options, &mut |batch, at| {
        live.rows(at);
        evaluator.push(&batch, at.rows - batch.n_rows() as u64)
    })?;
    Ok(evaluator.finish(scanned.dropped_rows)?)
}

fn format_text(evaluation: &Evaluation) -> String {
    let mut out = format!(
        "log likelihood per row {:.5}, {} rows, {} draws\n",
        evaluation.log_likelihood_per_row, evaluation.n_rows, evaluation.n_draws
    );
    if let Some(accuracy) = evaluation.accuracy {
        let _ = writeln!(out, "accuracy {accuracy:.4}");
    }
    if let Some(rmse) = evaluation.rmse {
        let _ = writeln!(out, "rmse {rmse:.6}");
    }
    if !evaluation.calibration.is_empty() {
        out += "\npredicted  observed     5%      95%     rows\n";
    }
    for bin in &evaluation.calibration {
        let _ = writeln!(
            out,
            "   {:.4}    {:.4}  {:.4}  {:.4}  {:>7}",
            bin.predicted, bin.observed, bin.low, bin.high, bin.count
        );
    }
    out
}
