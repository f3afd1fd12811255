//! `lehr predict`: rows in, predictions out, in memory that does not grow with the rows.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use lehr::regression::{Forecaster, NewLevels, SavedFit};
use lehr::table::{Sink, Table, TableError, TableFiles};
use serde::Serialize;

use crate::acceptance::Acceptance;
use crate::live::Live;
use crate::outcome::Outcome;
use crate::output::{Force, Order, Output};
use crate::reading::{Reading, stop};
use crate::session::Session;

/// What becomes of groups that were not fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewLevelsName {
    /// They are an error that names them
    #[default]
    Refuse,
    /// Their effects are drawn from those of all groups
    Sample,
}

impl From<NewLevelsName> for NewLevels {
    fn from(name: NewLevelsName) -> NewLevels {
        match name {
            NewLevelsName::Refuse => NewLevels::Refuse,
            NewLevelsName::Sample => NewLevels::Sample,
        }
    }
}

/// Predict the rows of another table
///
/// Writes the table's columns and, for a response y: `y_mean`, `y_mean_sd`, `y_mean_q5` and
/// `y_mean_q95` (the posterior of the mean), `y_sd`, `y_q5` and `y_q95` (the predictive
/// distribution); for classes, `y_class`, the likeliest, and `y[class]`, the probability of each,
/// averaged over the draws. `y_mean` of two classes is the probability of the second.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr predict fit.lehr new.parquet -o scored.parquet
  lehr predict fit.lehr new.csv -o scored.csv --new-levels sample --only
  zcat new.csv.gz | lehr predict fit.lehr - -o - | head")]
pub(crate) struct Predict {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// Files, folders or patterns that together are one table; the response may be absent;
    /// - reads stdin
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// Where the predictions go: .parquet, .csv, .tsv or .arrow; - writes CSV to stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What becomes of groups that were not fitted
    #[arg(long, value_enum, default_value = "refuse")]
    new_levels: NewLevelsName,
    /// Draws to predict with
    #[arg(long, value_name = "N", default_value_t = 200)]
    draws: usize,
    /// Where the predictive draws come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write the predictions only, without the table's columns
    #[arg(long)]
    only: bool,
    #[command(flatten)]
    acceptance: Acceptance,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct PredictionObject {
    output: String,
    n_rows: u64,
    dropped_rows: usize,
    columns: Vec<String>,
    n_draws: usize,
}

impl PredictionObject {
    fn text(&self) -> String {
        let dropped = match self.dropped_rows {
            0 => String::new(),
            1 => ", 1 row with a missing value left out".into(),
            count => format!(", {count} rows with missing values left out"),
        };
        format!(
            "{} rows predicted in {}{dropped}\n",
            self.n_rows, self.output
        )
    }
}

/// Whether a table with these columns has predictions of this response.
fn is_prediction(names: &[String], response: &str) -> bool {
    let (mean, class) = (format!("{response}_mean_sd"), format!("{response}["));
    names
        .iter()
        .any(|name| *name == mean || name.starts_with(&class))
}

impl Predict {
    pub(crate) fn run(&self, session: &Session) -> Result<Outcome> {
        ensure!(
            self.draws > 0,
            "--draws: expected at least one draw, found 0"
        );
        let fit = session.input(&self.fit)?;
        let source = session.tables(&self.tables)?;
        let saved = SavedFit::load(&fit)?;
        let response = saved.subject.response();
        let inputs: Vec<&Path> = source.paths().chain([fit.as_path()]).collect();
        let signed = |names: &[String]| is_prediction(names, &response);
        let output = Order::table(&self.output, &signed, self.force)?.open(&inputs)?;
        let live = Live::new(session, "predict");
        let forecaster = Forecaster {
            new_levels: self.new_levels.into(),
            seed: self.seed,
            ..saved.forecaster(self.draws)
        };
        let scored = self.score(&forecaster, &source, &output, &live)?;
        drop(live);
        output.answer(session, &scored, || scored.text())?;
        Ok(self.acceptance.outcome(&saved, session))
    }

    fn score(
        &self,
        forecaster: &Forecaster<'_>,
        source: &TableFiles,
        output: &Output,
        live: &Live,
    ) -> Result<PredictionObject> {
        let mut options = self.reading.options(None)?;
        if self.only {
            options.columns = Some(needed(source, &options, forecaster)?);
        }
        let (mut sink, mut columns, mut failed) = (None, Vec::new(), None);
        let scanned = source.scan(&options, &mut |batch, at| {
            live.rows(at);
            let first = at.rows - batch.n_rows() as u64;
            match self.predicted(forecaster, batch, first) {
                Ok(None) => Ok(()),
                Ok(Some(table)) => {
                    columns = table.names().to_vec();
                    push(&mut sink, output.path(), &table)
                }
                // The scan only knows errors of tables: ours waits outside.
                Err(error) => {
                    failed = Some(error);
                    Err(stop())
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let scanned = scanned?;
        ensure!(
            scanned.rows > 0,
            "table: expected at least one row, found none"
        );
        if let Some(sink) = sink {
            sink.finish()?;
        }
        Ok(PredictionObject {
            output: output.name(),
            n_rows: scanned.rows,
            dropped_rows: scanned.dropped_rows,
            columns,
            n_draws: forecaster.draws.len(),
        })
    }

    /// The table of a batch's predictions; `None` without rows.
    fn predicted(
        &self,
        forecaster: &Forecaster<'_>,
        batch: Table,
        first: u64,
    ) -> Result<Option<Table>> {
        if batch.n_rows() == 0 {
            return Ok(None);
        }
        let predictions = forecaster.predict(&batch, first)?;
        let kept = if self.only { Table::new() } else { batch };
        Ok(Some(predictions.beside(kept)?))
    }
}

/// The columns that a prediction reads; a table that lacks one is told by the model.
fn needed(
    source: &TableFiles,
    options: &lehr::table::ReadOptions,
    forecaster: &Forecaster<'_>,
) -> Result<Vec<String>> {
    let wanted = forecaster.saved.subject.predictor_columns();
    let fields = source.schema(options)?;
    let names = fields.into_iter().map(|field| field.name);
    Ok(names
        .filter(|name| wanted.contains(&name.as_str()))
        .collect())
}

fn push(sink: &mut Option<Sink>, path: &Path, table: &Table) -> Result<(), TableError> {
    let open = match sink {
        Some(open) => open,
        None => sink.insert(Sink::create(path, table)?),
    };
    open.push(table)
}
