//! `lehr predict`: rows in, predictions out, in memory that does not grow with the rows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use lehr::regression::{
    Forecaster, NewLevels, PredictionDetails, PredictionLevel, Predictions, SavedFit,
};
use lehr::table::{Sink, Table, TableError, TableFiles};
use serde::Serialize;

use crate::acceptance::Acceptance;
use crate::live::Live;
use crate::one_response::OneResponse;
use crate::outcome::CommandOutcome;
use crate::output::{Force, OutputFile, OutputRequest};
use crate::reading::ReadingArgs;
use crate::session::Session;

/// The treatment of groups that were not fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewLevelsName {
    /// They are an error that names them
    #[default]
    Refuse,
    /// Their effects are drawn from those of all groups
    Sample,
    /// Likewise, and a new level of a factor is taken for its first level
    Reference,
}

impl From<NewLevelsName> for NewLevels {
    fn from(name: NewLevelsName) -> NewLevels {
        match name {
            NewLevelsName::Refuse => NewLevels::Refuse,
            NewLevelsName::Sample => NewLevels::Sample,
            NewLevelsName::Reference => NewLevels::Reference,
        }
    }
}

/// Whether the effects of groups are part of a prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelName {
    /// Each row is predicted for its own groups
    #[default]
    Groups,
    /// The effects of groups are left out, and the table need not name any
    Population,
}

impl From<LevelName> for PredictionLevel {
    fn from(name: LevelName) -> PredictionLevel {
        match name {
            LevelName::Groups => PredictionLevel::Groups,
            LevelName::Population => PredictionLevel::Population,
        }
    }
}

/// Predict the rows of another table
///
/// Writes the table's columns and, for a response y: `y_mean`, `y_mean_sd`, `y_mean_q5` and
/// `y_mean_q95` (an interval for the mean), `y_sd`, `y_q5` and `y_q95` (an interval for an
/// observation); for classes, `y_class`, the likeliest, and `y[class]`, the probability of each,
/// averaged over the draws. `y_mean` of two classes is the probability of the second. Several
/// responses have such columns each.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr predict fit.lehr new.parquet -o scored.parquet
  lehr predict fit.lehr new.csv -o scored.csv --new-levels sample --only
  lehr predict fit.lehr new.csv -o scored.csv --quantiles 2.5,50,97.5 --level population
  lehr predict fit.lehr new.csv -o scored.csv --responses 100 --parameter sigma
  zcat new.csv.gz | lehr predict fit.lehr - -o - | head")]
pub(crate) struct PredictArgs {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// Files, folders or patterns that together are one table; the response may be absent;
    /// - reads stdin
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// Where the predictions go: .parquet, .csv, .tsv or .arrow; - writes CSV to stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What becomes of groups and levels that were not fitted
    #[arg(long, value_enum, default_value = "refuse")]
    new_levels: NewLevelsName,
    /// The quantiles to write, in percent
    #[arg(
        long,
        value_name = "PERCENT",
        value_delimiter = ',',
        default_value = "5,95"
    )]
    quantiles: Vec<f64>,
    /// Write so many draws of each row's response, as `y_draw1`, `y_draw2`, …
    #[arg(long, value_name = "N", default_value_t = 0)]
    responses: usize,
    /// Write the posterior of a quantity of each row: predictor, or a parameter of the family such
    /// as sigma (may be repeated)
    #[arg(long, value_name = "NAME")]
    parameter: Vec<String>,
    /// Whether the effects of groups are part of a prediction
    #[arg(long, value_enum, default_value_t)]
    level: LevelName,
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
    one: OneResponse,
    #[command(flatten)]
    acceptance: Acceptance,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Serialize)]
struct PredictionObject {
    output: String,
    n_rows: u64,
    dropped_rows: usize,
    columns: Vec<String>,
    n_draws: usize,
    /// Rows outside the fitted range of each smooth function.
    extrapolated: BTreeMap<String, usize>,
}

impl PredictionObject {
    fn format_text(&self) -> String {
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

impl PredictArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        ensure!(
            self.draws > 0,
            "--draws: expected at least one draw, found 0"
        );
        let outside = |percent: &&f64| !(0.0..=100.0).contains(*percent);
        if let Some(percent) = self.quantiles.iter().find(outside) {
            bail!("--quantiles: expected percents from 0 to 100, found {percent}");
        }
        ensure!(
            self.responses <= self.draws,
            "--responses: expected at most as many as --draws, {}, found {}",
            self.draws,
            self.responses
        );
        let fit = session.resolve_input(&self.fit)?;
        let source = session.open_tables(&self.tables)?;
        let saved = self.one.load_fit(&fit)?;
        let fits = saved.responses()?;
        let inputs: Vec<&Path> = source.paths().chain([fit.as_path()]).collect();
        let response = fits[0].subject.response();
        let signed = |names: &[String]| is_prediction(names, &response);
        let output =
            OutputRequest::table_order(&self.output, &signed, self.force)?.open_output(&inputs)?;
        let live = Live::new(session, "predict");
        let forecasters: Vec<Forecaster<'_>> =
            fits.iter().map(|fit| self.make_forecaster(fit)).collect();
        let scored = self.score_predictions(&forecasters, &source, &output, &live)?;
        drop(live);
        output.print_answer(session, &scored, || scored.format_text())?;
        for (function, rows) in &scored.extrapolated {
            session.print_remark(&format!(
                "warning: {function}: {rows} rows lie outside the fitted range, where the function is extrapolated"
            ));
        }
        Ok(self.acceptance.exit_outcome(&saved, session))
    }

    fn make_forecaster<'f>(&self, saved: &'f SavedFit) -> Forecaster<'f> {
        let quantiles = self.quantiles.iter().map(|percent| percent / 100.0);
        Forecaster {
            new_levels: self.new_levels.into(),
            level: self.level.into(),
            seed: self.seed,
            details: PredictionDetails {
                quantiles: quantiles.collect(),
                responses: self.responses,
                parameters: self.parameter.clone(),
            },
            ..saved.forecaster(self.draws)
        }
    }

    fn score_predictions(
        &self,
        forecasters: &[Forecaster<'_>],
        source: &TableFiles,
        output: &OutputFile,
        live: &Live,
    ) -> Result<PredictionObject> {
        // Missing values are not allowed with several responses.
        let optional = forecasters[0].saved.subject.optional_columns();
        let mut options = self.reading.read_options(None)?.keep_columns(&optional);
        if self.only {
            options.columns = Some(needed_columns(source, &options, forecasters)?);
        }
        let (mut sink, mut columns) = (None, Vec::new());
        let mut extrapolated = BTreeMap::new();
        let scanned = source.scan_blocks(&options, &mut |batch, at| {
            live.rows(at);
            let first = at.rows - batch.n_rows() as u64;
            let predicted = self.predict_table(forecasters, batch, first, &mut extrapolated)?;
            if let Some(table) = predicted {
                columns = table.names().to_vec();
                push_table(&mut sink, output.path(), &table)?;
            }
            anyhow::Ok(())
        })?;
        ensure!(
            scanned.rows > 0,
            "table: expected at least one row, found none"
        );
        if let Some(sink) = sink {
            sink.close_file()?;
        }
        Ok(PredictionObject {
            output: output.name(),
            n_rows: scanned.rows,
            dropped_rows: scanned.dropped_rows,
            columns,
            n_draws: forecasters[0].draws.len(),
            extrapolated,
        })
    }

    /// The table of a batch's predictions; `None` without rows.
    fn predict_table(
        &self,
        forecasters: &[Forecaster<'_>],
        batch: Table,
        first: u64,
        extrapolated: &mut BTreeMap<String, usize>,
    ) -> Result<Option<Table>> {
        if batch.n_rows() == 0 {
            return Ok(None);
        }
        let mut all = Vec::with_capacity(forecasters.len());
        for forecaster in forecasters {
            let predictions = forecaster.predict(&batch, first)?;
            for outside in predictions.outside() {
                *extrapolated.entry(outside.function.clone()).or_default() += outside.rows;
            }
            all.push(predictions);
        }
        let kept = if self.only { Table::new() } else { batch };
        let beside = |table: Table, own: &Predictions| own.beside(table);
        let table = all.iter().try_fold(kept, beside)?;
        Ok(Some(table))
    }
}

/// The columns that a prediction needs; the model reports those that a table lacks.
fn needed_columns(
    source: &TableFiles,
    options: &lehr::table::ReadOptions,
    forecasters: &[Forecaster<'_>],
) -> Result<Vec<String>> {
    let read = |one: &Forecaster<'_>, name: &str| {
        let columns = one.saved.subject.predictor_columns();
        columns.contains(&name)
    };
    let fields = source.read_schema(options)?;
    let names = fields.into_iter().map(|field| field.name);
    Ok(names
        .filter(|name| forecasters.iter().any(|one| read(one, name)))
        .collect())
}

fn push_table(sink: &mut Option<Sink>, path: &Path, table: &Table) -> Result<(), TableError> {
    let open = match sink {
        Some(open) => open,
        None => sink.insert(Sink::create_file(path, table)?),
    };
    open.push_table(table)
}
