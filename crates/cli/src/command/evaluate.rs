//! `lehr evaluate`: how well a fit predicts rows it has not seen.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::Args;
use lehr_density::{Density, RowSet};
use lehr_regression::Family;
use lehr_report::CalibrationBin;
use lehr_table::{ReadOptions, Source, Table};
use serde::Serialize;

use crate::live::Live;
use crate::outcome::Outcome;
use crate::prediction::{Batch, Oracle};
use crate::reading::{Reading, stop};
use crate::saved::SavedFit;
use crate::score::{Calibration, log_likelihoods, observed};
use crate::session::Session;

use super::predict::NewLevelsName;

/// Judge a fit on held-out rows: log likelihood, accuracy or RMSE, calibration
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr evaluate fit.lehr test.parquet
  lehr evaluate fit.lehr 'test-*.csv' --new-levels sample --json")]
pub(crate) struct Evaluate {
    /// A file written by lehr fit
    fit: PathBuf,
    /// Files, folders or patterns that together are one table, with the response
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// What becomes of groups that were not fitted
    #[arg(long, value_enum, default_value = "refuse")]
    new_levels: NewLevelsName,
    /// Draws to judge by
    #[arg(long, value_name = "N", default_value_t = 256)]
    draws: usize,
    /// Where random numbers come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    reading: Reading,
}

/// The answer.
#[derive(Serialize)]
pub(crate) struct Judged {
    /// Mean over rows of the log of the mean likelihood over draws.
    pub(crate) log_likelihood_per_row: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
    n_rows: u64,
    dropped_rows: usize,
    n_draws: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calibration: Vec<CalibrationBin>,
}

impl Evaluate {
    pub(crate) fn run(&self, session: &Session) -> Result<Outcome> {
        ensure!(
            self.draws > 0,
            "--draws: expected at least one draw, found 0"
        );
        let saved = SavedFit::load(&self.fit)?;
        let live = Live::new(session, "evaluate");
        let oracle = Oracle {
            draws: saved.draws(self.draws),
            saved: &saved,
            new_levels: self.new_levels.into(),
            seed: self.seed,
        };
        let judged = judge(&oracle, &self.tables, &self.reading, &live)?;
        drop(live);
        session.answer(&judged, || judged.text())?;
        Ok(Outcome::Done)
    }
}

/// Judges draws on all rows of a table.
pub(super) fn judge(
    oracle: &Oracle<'_>,
    tables: &[PathBuf],
    reading: &Reading,
    live: &Live,
) -> Result<Judged> {
    let source = Source::open(tables)?;
    let columns = oracle.saved.regression.columns();
    let columns = columns.into_iter().map(str::to_owned).collect();
    let options: ReadOptions = reading.options(Some(columns))?;
    let mut tally = Tally::default();
    let mut failed = None;
    let scanned = source.scan(&options, &mut |batch, at| {
        live.rows(at);
        let first = at.rows - batch.n_rows() as u64;
        tally.push(oracle, &batch, first).map_err(|error| {
            failed = Some(error);
            stop()
        })
    });
    if let Some(error) = failed {
        return Err(error);
    }
    tally.dropped = scanned?.dropped_rows;
    tally.finish(oracle)
}

/// Judges draws on a table in memory.
pub(super) fn judge_table(oracle: &Oracle<'_>, table: &Table) -> Result<Judged> {
    let mut tally = Tally::default();
    tally.push(oracle, table, 0)?;
    tally.finish(oracle)
}

/// Sums over the rows so far.
#[derive(Default)]
struct Tally {
    rows: u64,
    dropped: usize,
    log_likelihood: f64,
    hits: f64,
    squares: f64,
    calibration: Calibration,
}

impl Tally {
    fn push(&mut self, oracle: &Oracle<'_>, table: &Table, first: u64) -> Result<()> {
        if table.n_rows() == 0 {
            return Ok(());
        }
        let batch = oracle.batch(table)?;
        if !batch.rows.has_response() {
            let response = oracle.saved.regression.response();
            bail!(
                "evaluate: expected the response {response:?} in the table, found none\n  hint: lehr predict needs no response"
            );
        }
        let params = oracle.saved.params();
        let values = log_likelihoods(batch.rows.bound(), &batch.draws, params);
        self.log_likelihood += values.iter().sum::<f64>();
        self.rows += values.len() as u64;
        self.compare(oracle, &batch, first);
        Ok(())
    }

    /// Compares predictions with what was observed.
    fn compare(&mut self, oracle: &Oracle<'_>, batch: &Batch, first: u64) {
        let bound = batch.rows.bound();
        let seen = observed(bound, &RowSet::Range(0..bound.n_rows()));
        let predictions = oracle.predict(batch, first);
        let regression = &oracle.saved.regression;
        match (regression.family(), predictions.centers()) {
            (Family::Bernoulli, Some(centers)) => {
                for (p, y) in centers.iter().zip(&seen) {
                    self.hits += f64::from((*p > 0.5) == (*y > 0.5));
                    self.calibration.push(*p, *y);
                }
            }
            (Family::Categorical | Family::Ordinal, _) => {
                let shares = predictions.shares(regression.response_levels().len());
                for (row, y) in seen.iter().enumerate() {
                    self.hits += f64::from(likeliest(&shares, row) as f64 == *y);
                }
            }
            (_, Some(centers)) => {
                let errors = centers
                    .iter()
                    .zip(&seen)
                    .map(|(center, y)| (center - y).powi(2));
                self.squares += errors.sum::<f64>();
            }
            _ => {}
        }
    }

    fn finish(self, oracle: &Oracle<'_>) -> Result<Judged> {
        ensure!(
            self.rows > 0,
            "table: expected at least one row, found none"
        );
        let n = self.rows as f64;
        let is_class = oracle.saved.regression.family().is_class();
        let is_binary = oracle.saved.regression.family() == Family::Bernoulli;
        Ok(Judged {
            log_likelihood_per_row: self.log_likelihood / n,
            accuracy: is_class.then_some(self.hits / n),
            rmse: (!is_class).then_some((self.squares / n).sqrt()),
            n_rows: self.rows,
            dropped_rows: self.dropped,
            n_draws: oracle.draws.len(),
            calibration: if is_binary {
                self.calibration.bins()
            } else {
                Vec::new()
            },
        })
    }
}

fn likeliest(shares: &[Vec<f64>], row: usize) -> usize {
    let classes = 0..shares.len();
    let best = classes.max_by(|a, b| shares[*a][row].total_cmp(&shares[*b][row]));
    best.unwrap_or(0)
}

impl Judged {
    fn text(&self) -> String {
        let mut out = format!(
            "log likelihood per row {:.5}, {} rows, {} draws\n",
            self.log_likelihood_per_row, self.n_rows, self.n_draws
        );
        if let Some(accuracy) = self.accuracy {
            let _ = writeln!(out, "accuracy {accuracy:.4}");
        }
        if let Some(rmse) = self.rmse {
            let _ = writeln!(out, "rmse {rmse:.6}");
        }
        if !self.calibration.is_empty() {
            out += "\npredicted  observed     5%      95%     rows\n";
        }
        for bin in &self.calibration {
            let _ = writeln!(
                out,
                "   {:.4}    {:.4}  {:.4}  {:.4}  {:>7}",
                bin.predicted, bin.observed, bin.low, bin.high, bin.count
            );
        }
        out
    }
}
