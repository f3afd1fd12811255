//! `lehr draws`: the draws as a table, or for `ArviZ`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use lehr::regression::{Groups, NamedDraws, SavedFit};
use lehr::table::{Column, Sink, Table, TableError};
use serde::Serialize;

use crate::outcome::Outcome;
use crate::output::writable;
use crate::session::Session;

/// Write posterior draws of the coefficients
///
/// Where importance weights correct the fit the draws are resampled by weight, so that all
/// count the same; --raw writes them as they were drawn, with a column `log_weight`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr draws fit.lehr -o draws.parquet
  lehr draws fit.lehr -o draws.csv --groups
  lehr draws fit.lehr -o draws.nc        # arviz.from_netcdf(\"draws.nc\")")]
pub(crate) struct Draws {
    /// A file written by lehr fit
    fit: PathBuf,
    /// Where they go: .parquet, .csv, .tsv, .arrow, or .nc for `ArviZ`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The effects of single groups too
    #[arg(long)]
    groups: bool,
    /// As drawn, with their log weights
    #[arg(long)]
    raw: bool,
}

#[derive(Serialize)]
struct DrawsObject {
    output: String,
    n_draws: usize,
    names: Vec<String>,
    resampled: bool,
}

impl Draws {
    pub(crate) fn run(&self, session: &Session) -> Result<Outcome> {
        writable(&self.output)?;
        let saved = SavedFit::load(&self.fit)?;
        let columns = self.columns(&saved);
        self.write(&saved, &columns)?;
        let written = DrawsObject {
            output: self.output.display().to_string(),
            n_draws: saved.posterior.n_draws(),
            names: columns.iter().map(|one| one.name.to_string()).collect(),
            resampled: saved.is_corrected() && !self.raw,
        };
        session.answer(&written, || {
            let how = if written.resampled {
                ", resampled by weight"
            } else {
                ""
            };
            format!(
                "{} draws of {} numbers{how} in {}\n",
                written.n_draws,
                written.names.len(),
                written.output
            )
        })?;
        Ok(Outcome::Done)
    }

    fn columns(&self, saved: &SavedFit) -> Vec<NamedDraws> {
        let groups = if self.groups {
            Groups::Include
        } else {
            Groups::Leave
        };
        if !self.raw {
            return saved.even_draws(groups);
        }
        let mut columns = saved.raw_draws(groups);
        if let Some(importance) = saved.posterior.importance() {
            columns.push(NamedDraws {
                name: "log_weight".into(),
                values: importance.pareto.log_weights.clone(),
            });
        }
        columns
    }

    fn write(&self, saved: &SavedFit, columns: &[NamedDraws]) -> Result<()> {
        if self
            .output
            .extension()
            .is_some_and(|extension| extension == "nc")
        {
            return Ok(saved.inference_data(columns)?.write(&self.output)?);
        }
        let mut table = Table::new();
        for one in columns {
            table.insert(one.name.to_string(), Column::Number(one.values.clone()))?;
        }
        let mut sink = match Sink::create(&self.output, &table) {
            Err(TableError::NoTable { path, reason, .. }) => bail!(
                "{}: {reason}\n  hint: end its name in csv, tsv, parquet or arrow, or in nc for ArviZ",
                path.display()
            ),
            opened => opened?,
        };
        sink.push(&table)?;
        Ok(sink.finish()?)
    }
}
