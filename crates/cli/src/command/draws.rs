//! `lehr draws`: the draws as a table, or for `ArviZ`.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use lehr::regression::{ArvizExport, DrawForm, NamedDraws, RowGroup, SavedFit};
use lehr::report::InferenceData;
use lehr::table::{Column, Table, TableFiles};
use serde::Serialize;

use crate::acceptance::Acceptance;
use crate::content::{FileKind, Signature};
use crate::live::Live;
use crate::outcome::CommandOutcome;
use crate::output::{Force, OutputRequest};
use crate::reading::ReadingArgs;
use crate::session::Session;

/// Write posterior draws of the coefficients
///
/// Where importance weights correct the fit the draws are resampled by weight, so that all
/// count the same; --raw writes them as they were drawn, with a column `log_weight`.
///
/// A file for `ArviZ` has the groups `posterior` and `sample_stats`, and the verdict as attributes. With the
/// table that was fitted it has `observed_data`, `posterior_predictive` and `log_likelihood` too.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr draws fit.lehr -o draws.parquet
  lehr draws fit.lehr -o draws.csv --groups
  lehr draws fit.lehr train.csv -o draws.csv --locals 17,18
  lehr draws fit.lehr -o draws.nc                # arviz.from_netcdf(\"draws.nc\")
  lehr draws fit.lehr train.csv -o draws.nc      # arviz.loo(arviz.from_netcdf(\"draws.nc\"))")]
pub(crate) struct DrawsArgs {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// The table that was fitted, for what an .nc file says of its rows
    #[arg(value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// Where they go: .parquet, .csv, .tsv, .arrow, or .nc for `ArviZ`; - writes CSV to stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The effects of single groups too
    #[arg(long)]
    groups: bool,
    /// As drawn, with their log weights
    #[arg(long)]
    raw: bool,
    /// The latents of these rows of the table too, counted from 1: 17,18
    #[arg(
        long,
        value_name = "ROWS",
        value_delimiter = ',',
        requires = "tables",
        conflicts_with = "raw"
    )]
    locals: Vec<u64>,
    #[command(flatten)]
    large: LargeGroups,
    #[command(flatten)]
    acceptance: Acceptance,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Groups of an .nc file that are written whatever their size.
#[derive(Clone, Copy, Debug, Args)]
struct LargeGroups {
    /// Write `log_likelihood` even if it has more than 10⁷ numbers
    #[arg(long, requires = "tables")]
    log_likelihood: bool,
    /// Write `posterior_predictive` even if it has more than 10⁷ numbers
    #[arg(long, requires = "tables")]
    posterior_predictive: bool,
}

#[derive(Serialize)]
struct DrawsObject {
    output: String,
    n_draws: usize,
    names: Vec<String>,
    resampled: bool,
    verdict: &'static str,
}

impl DrawsArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        let fit = session.resolve_input(&self.fit)?;
        let is_arviz = self.is_arviz();
        ensure!(
            !is_arviz || self.locals.is_empty(),
            "--locals: expected an output in .parquet, .csv, .tsv or .arrow, found {}\n  \
             hint: write them to a table, and the .nc file without --locals",
            self.output.display()
        );
        ensure!(
            is_arviz || self.tables.is_empty() || !self.locals.is_empty(),
            "{}: expected no table for draws in this format, found {}\n  \
             hint: end the output in nc for what ArviZ says of rows",
            self.output.display(),
            self.tables[0].display()
        );
        let saved = SavedFit::load(&fit)?;
        let table = match &self.tables[..] {
            [] => None,
            paths => Some(session.open_tables(paths)?),
        };
        if let Some(sentence) = saved.not_kept().filter(|_| self.groups && !is_arviz) {
            session.print_remark(&sentence);
        }
        let mut columns = saved.export_draws(self.groups.into(), self.draw_form());
        if let Some(source) = table.as_ref().filter(|_| !self.locals.is_empty()) {
            let table = self.draw_table(&saved, source, session)?;
            columns.extend(saved.local_draws(&table, &self.locals)?);
        }
        let names: Vec<String> = columns.iter().map(|one| one.name.to_string()).collect();
        let rows = table.iter().flat_map(TableFiles::paths);
        let inputs: Vec<&Path> = rows.chain([fit.as_path()]).collect();
        let output = self
            .order_output(&|found| found == names)?
            .open_output(&inputs)?;
        if is_arviz {
            let data = self.write_arviz(&saved, table.as_ref(), session)?;
            data.write(output.path())?;
        } else {
            write_table(&columns, output.path())?;
        }
        let written = DrawsObject {
            output: output.name(),
            n_draws: saved.posterior.n_draws(),
            names,
            resampled: saved.is_corrected() && !self.raw,
            verdict: saved.verdict().level.name(),
        };
        output.print_answer(session, &written, || written.format_text())?;
        Ok(self.acceptance.exit_outcome(&saved, session))
    }

    fn draw_form(&self) -> DrawForm {
        if self.raw {
            DrawForm::Raw
        } else {
            DrawForm::Even
        }
    }

    fn is_arviz(&self) -> bool {
        self.output.extension().is_some_and(|ending| ending == "nc")
    }

    fn order_output<'a>(&'a self, signed: Signature<'a>) -> Result<OutputRequest<'a>> {
        if self.is_arviz() {
            return Ok(OutputRequest::new(
                &self.output,
                FileKind::NetCdf,
                self.force,
            ));
        }
        OutputRequest::table_order(&self.output, signed, self.force)
            .map_err(|error| anyhow!("{error}, or in nc for ArviZ"))
    }

    /// The columns of the fitted table that the model reads.
    fn draw_table(
        &self,
        saved: &SavedFit,
        source: &TableFiles,
        session: &Session,
    ) -> Result<Table> {
        let live = Live::new(session, "draws");
        self.reading.fitted_table(saved, source, &live)
    }

    fn write_arviz(
        &self,
        saved: &SavedFit,
        source: Option<&TableFiles>,
        session: &Session,
    ) -> Result<InferenceData> {
        let table = match source {
            None => None,
            Some(source) => Some(self.draw_table(saved, source, session)?),
        };
        let wish = |asked: bool| {
            if asked {
                RowGroup::Always
            } else {
                RowGroup::WithinLimit
            }
        };
        let export = ArvizExport {
            form: self.draw_form(),
            table: table.as_ref(),
            log_likelihood: wish(self.large.log_likelihood),
            posterior_predictive: wish(self.large.posterior_predictive),
            ..saved.arviz(self.groups.into())
        };
        let (data, left_out) = export.data()?;
        for sentence in left_out {
            session.print_remark(&sentence);
        }
        Ok(data)
    }
}

fn write_table(columns: &[NamedDraws], path: &Path) -> Result<()> {
    let mut table = Table::new();
    for one in columns {
        table.insert(one.name.to_string(), Column::Number(one.values.clone()))?;
    }
    Ok(table.write(path)?)
}

impl DrawsObject {
    fn format_text(&self) -> String {
        let how = if self.resampled {
            ", resampled by weight"
        } else {
            ""
        };
        format!(
            "{} draws of {} numbers{how} in {}\n",
            self.n_draws,
            self.names.len(),
            self.output
        )
    }
}
