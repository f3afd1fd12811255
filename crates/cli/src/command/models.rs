//! `lehr compare a.lehr b.lehr … table`: several models of the same rows.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use lehr::regression::{LooMeasure, ModelComparison, SavedFit, compare_models};

use crate::leaving::LooSampleArgs;
use crate::live::Live;
use crate::outcome::CommandOutcome;
use crate::reading::ReadingArgs;
use crate::session::Session;

/// The saved fits to compare, and the rows to compare them on.
pub(super) struct Models<'a> {
    pub(super) files: Vec<&'a Path>,
    pub(super) tables: Vec<PathBuf>,
    pub(super) sampling: LooSampleArgs,
    pub(super) reading: &'a ReadingArgs,
}

/// Whether a file holds a saved fit.
pub(super) fn is_fit(path: &Path) -> bool {
    path.is_file() && matches!(lehr::file::read_tag(path), Ok(Some(_)))
}

impl Models<'_> {
    pub(super) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        ensure!(
            self.files.len() > 1,
            "compare: expected two fits or more, found one\n  hint: lehr compare a.lehr b.lehr train.parquet"
        );
        ensure!(
            !self.tables.is_empty(),
            "compare: expected the table that the models were fitted to, found fits only\n  \
             hint: lehr compare a.lehr b.lehr train.parquet"
        );
        let source = session.open_tables(&self.tables)?;
        let fits = self.files.iter().map(SavedFit::load);
        let fits: Vec<SavedFit> = fits.collect::<Result<_, _>>()?;
        let live = Live::new(session, "compare");
        let all: Vec<&SavedFit> = fits.iter().collect();
        let left = self
            .sampling
            .leave_out(&all, &source, self.reading, &live)?;
        drop(live);
        let names = self.files.iter().map(|path| path.display().to_string());
        let models = names.zip(all).zip(left);
        let models: Vec<_> = models
            .map(|((name, fit), left)| (name, fit, left))
            .collect();
        let comparison = compare_models(&models)?;
        session.print_answer(&comparison, || format_text(&comparison))?;
        let warned = comparison.models.iter().any(|model| model.n_high_k > 0);
        let trusted = fits.iter().all(SavedFit::is_trusted);
        Ok(if warned || !trusted {
            CommandOutcome::Warned
        } else {
            CommandOutcome::Done
        })
    }
}

fn format_text(comparison: &ModelComparison) -> String {
    let with_error = |one: LooMeasure| format!("{:.1} ± {:.1}", one.estimate, one.se);
    let row = |(place, model): (usize, &lehr::regression::ComparedModel)| {
        let difference = match place {
            0 => "0".into(),
            _ => with_error(model.difference),
        };
        let evidence = match (model.log_evidence, model.log_evidence_se) {
            (Some(mean), Some(error)) => format!("{mean:.1} ± {error:.1}"),
            _ => "–".into(),
        };
        vec![
            model.name.clone(),
            with_error(model.elpd_loo),
            difference,
            format!("{:.1}", model.p_loo),
            format!("{:.2}", model.stacking_weight),
            evidence,
        ]
    };
    let rows = comparison.models.iter().enumerate().map(row).collect();
    let head = ["model", "elpd", "difference", "p", "weight", "log evidence"];
    let mut out = Session::style().format_table(&head, rows);
    let _ = writeln!(
        out,
        "\n{} rows, {} left out one by one; weights are those of stacking",
        comparison.n_rows, comparison.n_left_out
    );
    for note in &comparison.notes {
        let _ = writeln!(out, "{note}");
    }
    out
}
