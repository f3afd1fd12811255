//! `lehr compare`: the same model by several methods, one after another, or several saved fits.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use lehr::infer::fit::Fit;
use lehr::regression::{Groups, SavedFit, best_of};
use lehr::report::write_page;
use lehr::table::TableFiles;

use crate::choice::{FittingArgs, find_methods};
use crate::content::FileKind;
use crate::fitting::{FitTask, ModelArgs};
use crate::interrupt;
use crate::leaving::LooSampleArgs;
use crate::live::Live;
use crate::object::FitObject;
use crate::outcome::CommandOutcome;
use crate::output::{Force, OutputRequest};
use crate::reading::ReadingArgs;
use crate::session::Session;

use super::evaluate::evaluate_table;
use super::models::{Models, is_fit};

/// The number of draws that score held-out rows.
const TEST_DRAWS: usize = 256;

/// Fit the same model by several methods and compare them, or compare saved fits
///
/// Where saved fits stand in place of the formula, their models are compared by PSIS-LOO on the
/// rows of the table that follows them: differences with paired errors, stacking weights, log
/// evidence.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr compare 'y ~ .' train.parquet --test test.parquet --methods mf,full-rank,ns-dais,sl-dais
  lehr compare 'y ~ x + (1 | g)' train.csv --report compare.html --json
  lehr compare a.lehr b.lehr c.lehr train.parquet")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The methods (see lehr methods)
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "mf,full-rank,ns-dais,sl-dais"
    )]
    methods: Vec<String>,
    /// Held-out rows to judge each fit by (may be repeated); - reads stdin
    #[arg(long, value_name = "TABLE")]
    test: Vec<PathBuf>,
    /// Write a page about the best fit with the comparison
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Of saved fits: leave out so many rows, evenly at random [default: 5000 where the table has more
    /// than 100000 rows, else all]
    #[arg(long, value_name = "N")]
    subsample: Option<usize>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    choice: FittingArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// A fit and its score on held-out rows.
pub(super) struct Rival {
    pub(super) saved: SavedFit,
    pub(super) test: Option<f64>,
}

impl CompareArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        if is_fit(Path::new(&self.model.formula)) {
            return self.compared_models().run_command(session);
        }
        let methods = find_methods(&self.methods)?;
        ensure!(
            !methods.is_empty(),
            "--methods: expected at least one method, found none"
        );
        let inputs = self.model.resolve_inputs(session)?;
        let test = if self.test.is_empty() {
            None
        } else {
            Some(session.open_tables(&self.test)?)
        };
        let held_out = test.iter().flat_map(TableFiles::paths);
        let read: Vec<&Path> = inputs.paths().into_iter().chain(held_out).collect();
        let page = self.report.as_deref().map(|path| {
            let order = OutputRequest::new(path, FileKind::Page, self.force);
            order.open_output(&read)
        });
        let page = page.transpose()?;
        interrupt::listen_signals();
        let live = Live::new(session, "compare");
        let prepared = inputs.prepare_task(&self.reading, (None, &methods), &live)?;
        drop(live);
        let mut rivals = Vec::new();
        for method in methods {
            let fit = self.choice.fit_of_many(method)?;
            rivals.push(self.fit_rival(session, &prepared, fit, test.as_ref())?);
        }
        let (object, words) = (fit_objects(&rivals), || format_text(&rivals));
        match &page {
            Some(page) => {
                write_page(&comparison_data(&rivals), page.path())?;
                page.print_answer(session, &object, words)?;
            }
            None => session.print_answer(&object, words)?,
        }
        Ok(CommandOutcome::from(&best_rival(&rivals).saved))
    }

    /// The saved fits among the arguments, and the tables after them.
    fn compared_models(&self) -> Models<'_> {
        let (fits, tables): (Vec<&PathBuf>, Vec<&PathBuf>) =
            self.model.tables.iter().partition(|path| is_fit(path));
        let first = Path::new(&self.model.formula);
        Models {
            files: std::iter::once(first)
                .chain(fits.into_iter().map(PathBuf::as_path))
                .collect(),
            tables: tables.into_iter().cloned().collect(),
            sampling: LooSampleArgs {
                subsample: self.subsample,
                seed: 0,
            },
            reading: &self.reading,
        }
    }

    fn fit_rival(
        &self,
        session: &Session,
        prepared: &FitTask,
        fit: Fit<'_>,
        test: Option<&TableFiles>,
    ) -> Result<Rival> {
        let mut live = Live::new(session, fit.method.info().name);
        let saved = prepared.run_fit(fit, &mut live, None)?;
        let test = match test {
            None => None,
            Some(source) => {
                let forecaster = saved.forecaster(TEST_DRAWS);
                let evaluation = evaluate_table(&forecaster, source, &self.reading, &live)?;
                Some(evaluation.log_likelihood_per_row)
            }
        };
        drop(live);
        session.print_remark(&fit_line(&saved));
        Ok(Rival { saved, test })
    }
}

/// One line on stderr when a method is done.
pub(super) fn fit_line(saved: &SavedFit) -> String {
    let posterior = &saved.posterior;
    let method = posterior.method();
    let evidence = posterior.evidence.as_ref();
    match (posterior.bound(), posterior.training(), evidence) {
        (Some(bound), Some(training), _) => format!(
            "{method}: bound {:.2} ± {:.2} after {} iterations",
            bound.mean, bound.error, training.iterations
        ),
        (.., Some(evidence)) => format!(
            "{method}: log evidence {:.2} ± {:.2}, {} draws",
            evidence.estimate.mean,
            evidence.estimate.error,
            posterior.n_draws()
        ),
        _ => format!("{method}: {} draws", posterior.n_draws()),
    }
}

/// The fit to prefer.
pub(super) fn best_rival(rivals: &[Rival]) -> &Rival {
    let fits: Vec<&SavedFit> = rivals.iter().map(|rival| &rival.saved).collect();
    &rivals[best_of(&fits)]
}

/// The JSON of a comparison: a list of fits.
pub(super) fn fit_objects(rivals: &[Rival]) -> Vec<FitObject> {
    let object = |rival: &Rival| FitObject::new(&rival.saved, Groups::Leave).with_test(rival.test);
    rivals.iter().map(object).collect()
}

/// The page of the best fit with all methods beside it.
pub(super) fn comparison_data(rivals: &[Rival]) -> lehr::report::ReportData {
    let mut data = best_rival(rivals).saved.report();
    let row = |rival: &Rival| rival.saved.comparison(rival.test);
    data.comparison = rivals.iter().map(row).collect();
    data
}

/// Verdict and coefficients of the best fit, then all methods.
pub(super) fn format_text(rivals: &[Rival]) -> String {
    let data = comparison_data(rivals);
    let head = format!("best: {}\n", data.method);
    head + &Session::style().format_summary(&data)
}
