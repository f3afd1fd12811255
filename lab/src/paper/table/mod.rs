//! The tables, one file each, and their common parts.

mod convergence;
mod finding;
mod imbalance;
mod local;
mod logistic;
mod process;
mod surrogates;
mod timing;

use std::collections::BTreeMap;
use std::str::FromStr;

use lehr_report::{Mark, Series};

use crate::paper::answer::Answer;
use crate::paper::cell::Cell;
use crate::paper::entry::count;
use crate::paper::error::PaperError;
use crate::paper::job::Recipe;
use crate::paper::runner::Watcher;
use crate::paper::setting::{PUBLISHED_ITERATIONS, Settings};

/// A table or figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Tables 1 and 6.
    Surrogates,
    /// Figure 1.
    Imbalance,
    /// Figures 2 and 5, Tables 2 and 7.
    Logistic,
    /// Figures 3 and 4.
    Timing,
    /// The section "Convergence analysis".
    Convergence,
    /// Table 5.
    Local,
    /// Table 3.
    RobustProcess,
    /// Table 4.
    Process,
}

impl Table {
    /// Every table with its name and one line of help.
    pub const ALL: [(Table, &'static str, &'static str); 8] = [
        (
            Table::Surrogates,
            "surrogates",
            "Tables 1 and 6: every surrogate by its number of rows",
        ),
        (
            Table::Imbalance,
            "imbalance",
            "Figure 1: accuracy on a rare class against the class ratio",
        ),
        (
            Table::Logistic,
            "logistic",
            "Figures 2 and 5, Tables 2 and 7: every method on five tables of rows",
        ),
        (
            Table::Timing,
            "timing",
            "Figures 3 and 4: time per step against rows, K, N_surr and B",
        ),
        (
            Table::Convergence,
            "convergence",
            "the convergence section: linear regression in closed form",
        ),
        (
            Table::Local,
            "local",
            "Table 5: robust regression with a latent of each row's own",
        ),
        (
            Table::RobustProcess,
            "robust-gp",
            "Table 3: robust Gaussian-process regression by inducing points",
        ),
        (
            Table::Process,
            "gp",
            "Table 4: Gaussian-process classification by inducing points",
        ),
    ];

    /// Runs the table, resuming an earlier run where it stopped, and writes its page.
    pub fn run(self, settings: &Settings, watcher: &mut dyn Watcher) -> Result<Answer, PaperError> {
        match self {
            Table::Surrogates => surrogates::run(settings, watcher),
            Table::Imbalance => imbalance::run(settings, watcher),
            Table::Logistic => logistic::run(settings, watcher),
            Table::Timing => timing::run(settings, watcher),
            Table::Convergence => convergence::run(settings, watcher),
            Table::Local => local::run(settings, watcher),
            Table::RobustProcess => process::robust(settings, watcher),
            Table::Process => process::outcomes(settings, watcher),
        }
    }
}

/// A name that is no table's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("table: expected one of {}, found {found:?}", names())]
pub struct UnknownTable {
    found: String,
}

fn names() -> String {
    Table::ALL.map(|(_, name, _)| name).join(", ")
}

impl FromStr for Table {
    type Err = UnknownTable;

    fn from_str(text: &str) -> Result<Table, UnknownTable> {
        let row = Table::ALL.iter().find(|(_, name, _)| *name == text);
        row.map(|(table, ..)| *table).ok_or_else(|| UnknownTable {
            found: text.to_owned(),
        })
    }
}

/// The protocol of the run: departures from the paper, and numbers of rows.
fn protocol(settings: &Settings, cells: &[Cell]) -> Vec<String> {
    let sizes: BTreeMap<&str, usize> = cells
        .iter()
        .map(|cell| (cell.problem.as_str(), cell.rows))
        .collect();
    let sizes: Vec<String> = (sizes.iter())
        .map(|(name, rows)| format!("{name} {}", count(*rows as u64)))
        .collect();
    let less = if settings.iterations < PUBLISHED_ITERATIONS {
        format!(" (the paper: {})", count(PUBLISHED_ITERATIONS))
    } else {
        String::new()
    };
    vec![
        format!(
            "Data: {}; rows trained on: {} (the paper: 50,000 each).",
            settings.origin.words(),
            sizes.join(", ")
        ),
        format!(
            "Paper's recipe: start at zero with scales of 0.1, one draw per step, B = 256, chains \
             with diagonal momentum from η = 10⁻², Adam at 10⁻³, 10⁻⁴, 10⁻⁵ by thirds of {} \
             steps{less}; DAIS {} steps. What is kept is the mean of the iterates of the last \
             third, at 10⁻⁵; the paper keeps the last.",
            count(settings.iterations),
            count(settings.dais_iterations)
        ),
        format!(
            "Ours: the defaults (start at the Laplace approximation, control variate, whitened \
             momentum, several draws per step, until the bound is level or after {} steps; DAIS \
             after {}).",
            count(settings.cap),
            count(settings.dais_iterations / 10)
        ),
        format!(
            "{} fit(s) per entry (the paper: 7 to 20); bounds from {} fresh draws on all rows; \
             the log evidence by importance weights of {} draws of a converged full-rank \
             Gaussian, or of any fit whose estimate has a smaller error and k̂ < 0.7.",
            settings.replications,
            count(settings.draws as u64),
            count(settings.evidence_draws as u64)
        ),
    ]
}

/// One series of dots per recipe, with one line per name; unknown values have no dot.
fn by_recipe(names: &[String], value: impl Fn(&String, Recipe) -> Option<f64>) -> Vec<Series> {
    let series = |recipe: Recipe| {
        let mark = |(place, name): (usize, &String)| Mark {
            x: value(name, recipe).unwrap_or(f64::NAN),
            y: place as f64,
            error: 0.0,
        };
        Series {
            name: recipe.name().into(),
            marks: names.iter().enumerate().map(mark).collect(),
            dashed: recipe == Recipe::Paper,
        }
    };
    Recipe::ALL.map(series).to_vec()
}
