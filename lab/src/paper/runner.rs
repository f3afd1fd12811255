//! Computes the cells of a table, or loads them from the store.

use lehr_infer::error::TrainError;
use lehr_infer::fit::FitError;
use lehr_infer::observer::Observer;

use crate::paper::cell::{Cell, Measured, Outcome};
use crate::paper::error::PaperError;
use crate::paper::job::{Job, Recipe};
use crate::paper::problem::Problem;
use crate::paper::setting::Settings;
use crate::paper::store::Store;

/// A receiver of progress reports of a table, which also observes the fits of its cells.
pub trait Watcher: Observer {
    /// Called before the next cell, with the number of cells done and of all.
    fn cell(&mut self, name: &str, done: usize, all: usize) {
        let _ = (name, done, all);
    }

    /// Called when a cell is done.
    fn finished(&mut self, words: &str) {
        let _ = words;
    }
}

/// Ignores all reports.
impl Watcher for () {}

/// A fit to make: method, problem, recipe and seed.
#[derive(Clone, Copy)]
pub(crate) struct Order<'a> {
    /// The name of the problem.
    pub(crate) name: &'a str,
    /// The problem.
    pub(crate) problem: &'a Problem,
    /// The method.
    pub(crate) job: Job,
    /// Its name in the table.
    pub(crate) label: &'a str,
    /// The recipe.
    pub(crate) recipe: Recipe,
    /// The seed.
    pub(crate) seed: u64,
    /// The number of fresh draws that judge the result.
    pub(crate) draws: usize,
}

/// Makes cells one after another.
pub(crate) struct Runner<'a> {
    /// The extent of the run.
    pub(crate) settings: &'a Settings,
    /// The cells of earlier runs.
    pub(crate) store: Store,
    watcher: &'a mut dyn Watcher,
    done: usize,
    all: usize,
}

impl<'a> Runner<'a> {
    /// A runner for so many cells, on the store of a table.
    pub(crate) fn new(
        settings: &'a Settings,
        table: &str,
        watcher: &'a mut dyn Watcher,
    ) -> Result<Runner<'a>, PaperError> {
        let path = settings.out.join(format!("{table}.jsonl"));
        Ok(Runner {
            settings,
            store: Store::open(&path)?,
            watcher,
            done: 0,
            all: 0,
        })
    }

    /// Announces further cells.
    pub(crate) fn expect(&mut self, cells: usize) {
        self.all += cells;
    }

    /// The value of a cell that is not a fit: from the store, or computed and stored.
    pub(crate) fn value<T: serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        key: &str,
        compute: impl FnOnce() -> Result<T, PaperError>,
    ) -> Result<T, PaperError> {
        self.watcher.cell(key, self.done, self.all);
        self.done += 1;
        if let Some(value) = self.store.get(key) {
            return Ok(value);
        }
        let value = compute()?;
        self.store.put(key, &value)?;
        Ok(value)
    }

    /// The cell of an order: from the store, or fitted and stored.
    pub(crate) fn cell(&mut self, order: &Order<'_>) -> Result<Cell, PaperError> {
        let key = self.key(order);
        let words = format!("{}, {}, {}", order.name, order.label, order.recipe.name());
        self.watcher.cell(&words, self.done, self.all);
        self.done += 1;
        if let Some(cell) = self.store.get(&key) {
            return Ok(cell);
        }
        let cell = Cell {
            problem: order.name.into(),
            rows: order.problem.train_rows,
            label: order.label.into(),
            recipe: order.recipe,
            seed: order.seed,
            outcome: self.fit(order, &words)?,
        };
        self.store.put(&key, &cell)?;
        self.watcher.finished(&told(&words, &cell));
        Ok(cell)
    }

    /// The cells of an order from every seed.
    pub(crate) fn replicated(&mut self, order: &Order<'_>) -> Result<Vec<Cell>, PaperError> {
        let replications = self.settings.replications;
        let from = |seed| Order { seed, ..*order };
        (0..replications)
            .map(|seed| self.cell(&from(seed)))
            .collect()
    }

    /// The converged full-rank Gaussian with as many draws as the log evidence needs.
    pub(crate) fn reference(&mut self, name: &str, problem: &Problem) -> Result<Cell, PaperError> {
        self.cell(&Order {
            name,
            problem,
            job: Job::gaussian("full-rank"),
            label: REFERENCE,
            recipe: Recipe::Ours,
            seed: 0,
            draws: self.settings.evidence_draws,
        })
    }

    fn key(&self, order: &Order<'_>) -> String {
        let steps = match order.recipe {
            Recipe::Paper => order.job.iterations(self.settings),
            Recipe::Ours => self.settings.cap,
        };
        format!(
            "{} rows={} {} {} {} steps={steps} draws={} seed={}",
            order.name,
            order.problem.train_rows,
            order.label,
            order.job.key(),
            order.recipe.name(),
            order.draws,
            order.seed
        )
    }

    fn fit(&mut self, order: &Order<'_>, words: &str) -> Result<Outcome, PaperError> {
        let rows = order.problem.train_rows;
        let fit = order.job.fit(order.recipe, self.settings, rows);
        let fit = fit.seed(order.seed).draws(order.draws);
        match fit.observer(&mut *self.watcher).run(&order.problem.density) {
            Ok(posterior) => Ok(Outcome::Fitted(Measured {
                predicted: order.problem.predicted(&posterior.draws),
                ..Measured::new(&posterior)
            })),
            // A recipe that diverges is a result; any other error is a mistake or an interruption.
            Err(error @ (FitError::Weights(_) | FitError::Train(TrainError::NotFinite { .. }))) => {
                Ok(Outcome::Failed(error.to_string()))
            }
            Err(source) => Err(PaperError::Fit {
                cell: words.into(),
                source: Box::new(source),
            }),
        }
    }
}

/// The label of the converged full-rank row.
pub(crate) const REFERENCE: &str = "MVN, converged";

fn told(words: &str, cell: &Cell) -> String {
    match &cell.outcome {
        Outcome::Fitted(measured) => {
            let bound = measured.bound.map_or_else(
                || "no bound".to_owned(),
                |bound| format!("bound {:.2} ± {:.2}", bound.mean, bound.error),
            );
            let (steps, seconds) = (measured.iterations, measured.seconds);
            format!("{words}: {bound} after {steps} steps, {seconds:.1} s")
        }
        Outcome::Failed(reason) => {
            let first = reason.lines().next().unwrap_or_default();
            format!("{words}: {first}")
        }
    }
}
