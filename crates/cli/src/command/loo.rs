//! `lehr loo`: how well a fit would predict each of its rows, had it not seen it.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
use lehr::regression::{Folds, Loo as LeftOut, LooMeasure, LooSummary, SavedFit, columns_of};
use lehr::table::{Table, TableFiles};
use serde::Serialize;

use crate::acceptance::Acceptance;
use crate::leaving::LooSampleArgs;
use crate::live::Live;
use crate::outcome::CommandOutcome;
use crate::output::{Force, OutputRequest};
use crate::reading::ReadingArgs;
use crate::session::Session;

/// Estimate how well a fit predicts rows it has not seen, by leaving out each of its own
///
/// By Pareto-smoothed importance sampling (PSIS-LOO), without fitting again. A row whose k is above
/// the threshold is too influential for that: --refit fits the model again without it. --folds
/// leaves out parts of the table instead, each by a fit of its own.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr loo fit.lehr train.parquet
  lehr loo fit.lehr train.parquet -o rows.csv --refit 10
  lehr loo fit.lehr train.parquet --folds 10 --folds-by site")]
pub(crate) struct LooArgs {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// Files, folders or patterns that together are the fitted table; - reads stdin
    #[arg(required = true, value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// Write row, elpd and k of each row that was left out: .csv, .parquet or .arrow
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    sampling: LooSampleArgs,
    /// Fit again without each row whose k is too high, the worst first and at most so many
    #[arg(long, value_name = "N", default_value_t = 0)]
    refit: usize,
    /// Fit again without each of so many parts of the table, instead of PSIS
    #[arg(long, value_name = "K", conflicts_with_all = ["refit", "subsample"])]
    folds: Option<usize>,
    /// Keep rows that share a value of this column in one part
    #[arg(long, value_name = "COLUMN", requires = "folds")]
    folds_by: Option<String>,
    #[command(flatten)]
    acceptance: Acceptance,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// The answer of K folds.
#[derive(Serialize)]
struct FoldObject {
    elpd_folds: LooMeasure,
    folds: usize,
    n_rows: u64,
}

impl LooArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        let fit = session.resolve_input(&self.fit)?;
        let source = session.open_tables(&self.tables)?;
        let saved = SavedFit::load(&fit)?;
        let inputs: Vec<_> = source.paths().chain([fit.as_path()]).collect();
        let signed = |names: &[String]| names == ["row", "elpd", "k"];
        let output = self.output.as_deref().map(|path| {
            let order = OutputRequest::table_order(path, &signed, self.force)?;
            order.open_output(&inputs)
        });
        let output = output.transpose()?;
        let live = Live::new(session, "loo");
        let left = match self.folds {
            Some(count) => self.run_folds(&saved, &source, count, &live)?,
            None => self.left_out(&saved, &source, &live)?,
        };
        drop(live);
        if let Some(output) = &output {
            pointwise_table(&left)?.write(output.path())?;
        }
        let warned = self.print_answer(session, &left)?;
        match self.acceptance.exit_outcome(&saved, session) {
            CommandOutcome::Done if warned && !self.acceptance.accept_warnings => {
                Ok(CommandOutcome::Warned)
            }
            outcome => Ok(outcome),
        }
    }

    /// Prints the result; returns whether it is doubtful.
    fn print_answer(&self, session: &Session, left: &LeftOut) -> Result<bool> {
        let summary = left.summary()?;
        if let Some(folds) = self.folds {
            let object = FoldObject {
                elpd_folds: summary.elpd_loo,
                folds,
                n_rows: summary.n_rows,
            };
            session.print_answer(&object, || fold_text(&object))?;
            return Ok(false);
        }
        session.print_answer(&summary, || format_text(&summary))?;
        Ok(summary.n_high_k > 0)
    }

    fn left_out(&self, saved: &SavedFit, source: &TableFiles, live: &Live) -> Result<LeftOut> {
        let left = self
            .sampling
            .leave_out(&[saved], source, &self.reading, live)?;
        let mut left = left.into_iter().next().unwrap_or_default();
        if self.refit > 0 {
            let optional = saved.subject.optional_columns();
            let wanted = (columns_of(&[saved]), &optional[..]);
            let table = self.reading.read_table(source, wanted, live)?;
            let folds = Folds {
                saved,
                table: &table,
                seed: self.sampling.seed,
            };
            let mut note =
                |number: usize| live.show_line(&format!("fitting again, {}", number + 1));
            folds.refit(&mut left, self.refit, &mut note)?;
        }
        Ok(left)
    }

    fn run_folds(
        &self,
        saved: &SavedFit,
        source: &TableFiles,
        count: usize,
        live: &Live,
    ) -> Result<LeftOut> {
        let mut wanted = columns_of(&[saved]);
        wanted.extend(self.folds_by.clone().filter(|by| !wanted.contains(by)));
        let optional = saved.subject.optional_columns();
        let table = (self.reading).read_table(source, (wanted, &optional), live)?;
        ensure!(table.n_rows() > 1, "--folds: expected rows, found too few");
        let folds = Folds {
            saved,
            table: &table,
            seed: self.sampling.seed,
        };
        let parts = match &self.folds_by {
            Some(column) => folds.by(column, count)?,
            None => folds.evenly(count)?,
        };
        let mut note = |fold: usize| live.show_line(&format!("fold {} of {count}", fold + 1));
        Ok(folds.run(&parts, &mut note)?)
    }
}

/// The rows that were left out, one to a line.
fn pointwise_table(left: &LeftOut) -> Result<Table> {
    let column = |of: &dyn Fn(&lehr::regression::LooRow) -> f64| -> Vec<f64> {
        left.rows.iter().map(of).collect()
    };
    Ok(Table::new()
        .with_number("row", column(&|row| (row.row + 1) as f64))?
        .with_number("elpd", column(&|row| row.left.elpd))?
        .with_number("k", column(&|row| row.left.shape))?)
}

fn fold_text(object: &FoldObject) -> String {
    let elpd = object.elpd_folds;
    format!(
        "elpd {:.2} ± {:.2} by {} folds of {} rows\n",
        elpd.estimate, elpd.se, object.folds, object.n_rows
    )
}

fn format_text(summary: &LooSummary) -> String {
    let elpd = summary.elpd_loo;
    let mut out = format!("elpd_loo  {:.2} ± {:.2}\n", elpd.estimate, elpd.se);
    if elpd.sampling_se > 0.0 {
        let _ = writeln!(
            out,
            "          ± {:.2} because {} of {} rows were left out",
            elpd.sampling_se, summary.n_left_out, summary.n_rows
        );
    }
    let _ = writeln!(out, "p_loo     {:.2}", summary.p_loo);
    let _ = writeln!(out, "looic     {:.2}", summary.looic);
    let _ = writeln!(
        out,
        "elpd_waic {:.2}, p_waic {:.2}",
        summary.elpd_waic, summary.p_waic
    );
    let limit = summary.k_threshold;
    if summary.n_high_k == 0 {
        let _ = writeln!(
            out,
            "k is at most {:.2}, below {limit:.2} in all {} rows",
            summary.k_max, summary.n_left_out
        );
        return out;
    }
    let rows = summary.high_k.iter();
    let rows: Vec<String> = rows.map(|(row, k)| format!("{row} ({k:.2})")).collect();
    let _ = writeln!(
        out,
        "k is above {limit:.2} in {} of {} rows, whose values are not to be trusted: {}",
        summary.n_high_k,
        summary.n_left_out,
        rows.join(", ")
    );
    let _ = writeln!(
        out,
        "  hint: --refit {} fits the model again without each, --folds 10 without tenths",
        summary.n_high_k
    );
    out
}
