//! `lehr demo`: generated data, several methods, a comparison and a report.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use lehr::infer::fit::Fit;
use lehr::infer::train::Iterations;
use lehr::regression::{BoundRegression, Family, Specification};
use lehr::report::write_page;
use serde::Serialize;

use crate::content::FileKind;
use crate::interrupt;
use crate::live::Live;
use crate::object::FitObject;
use crate::outcome::CommandOutcome;
use crate::output::{Force, OutputRequest};
use crate::sample::{DEMO_FORMULA, sample_machines};
use crate::session::Session;

use super::compare::{Rival, best_rival, comparison_data, fit_line, fit_objects, format_text};

const METHODS: [&str; 4] = ["mean-field", "full-rank", "sl-dais", "collapse"];

/// Limits a demonstration to a minute or two, whatever the number of rows.
const MOST_STEPS: u64 = 25_000;

/// Fit generated data by several methods, compare them and write a report
///
/// Machines that rarely fail at sites that differ: a multilevel logistic regression.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr demo
  lehr demo -o /tmp/report.html --rows 5000")]
pub(crate) struct DemoArgs {
    /// Where the page goes [default: report.html here, or in a temporary folder if there is
    /// another file of that name]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Rows to generate; a tenth as many more are held out
    #[arg(long, value_name = "N", default_value_t = 8000)]
    rows: usize,
    /// Where all randomness comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Serialize)]
struct DemoObject {
    formula: &'static str,
    report: String,
    fits: Vec<FitObject>,
}

impl DemoArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        let output = self.output_folder()?;
        let output = OutputRequest::new(&output, FileKind::Page, self.force).open_output(&[])?;
        interrupt::listen_signals();
        let train = sample_machines(self.rows, self.seed)?;
        let test = sample_machines(self.rows / 10 + 1, self.seed.wrapping_add(1))?;
        let specification = Specification::parse(DEMO_FORMULA, train.names())?;
        let specification = specification.with_family(Family::Bernoulli);
        session.print_remark(&format!(
            "{} rows of generated data: {DEMO_FORMULA}",
            self.rows
        ));
        let prepared = BoundRegression::new(&specification, &train, Instant::now())?;
        let mut rivals = Vec::new();
        for method in METHODS {
            let mut live = Live::new(session, method);
            let saved = prepared.fit(self.make_fit(method)?.observer(&mut live))?;
            drop(live);
            session.print_remark(&fit_line(&saved));
            let test = Some(saved.evaluate(&test)?.log_likelihood_per_row);
            rivals.push(Rival { saved, test });
        }
        write_page(&comparison_data(&rivals), output.path())?;
        let shown = DemoObject {
            formula: DEMO_FORMULA,
            report: output.name(),
            fits: fit_objects(&rivals),
        };
        output.print_answer(session, &shown, || {
            format!("{}\nreport: {}\n", format_text(&rivals), shown.report)
        })?;
        Ok(CommandOutcome::from(&best_rival(&rivals).saved))
    }

    /// A default fit with more draws, for smooth pictures.
    fn make_fit(&self, method: &str) -> Result<Fit<'static>> {
        let mut fit = Fit::named(method)?.seed(self.seed).draws(4000);
        if let Some(method) = fit.method.variational_mut() {
            method.common_mut().train.iterations = Iterations::Auto { cap: MOST_STEPS };
        }
        Ok(fit)
    }

    /// `report.html` in the current folder, unless that file has another origin.
    fn output_folder(&self) -> Result<PathBuf> {
        if let Some(path) = &self.output {
            return Ok(path.clone());
        }
        let here = Path::new("report.html");
        if OutputRequest::new(here, FileKind::Page, Force::default())
            .check_inputs(&[])
            .is_ok()
        {
            return Ok(std::path::absolute(here)?);
        }
        let folder = tempfile::Builder::new().prefix("lehr-demo-").tempdir()?;
        Ok(folder.keep().join("report.html"))
    }
}
