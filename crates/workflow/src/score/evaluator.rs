//! The predictive scores of a fit on new rows, in constant memory.

use std::f64::consts::TAU;

use lehr_density::{Density, RowSet};
use lehr_learn::LearnError;
use lehr_report::CalibrationBin;
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::pointwise::{log_likelihoods, observed};
use crate::error::Error;
use crate::fitted_model::Measure;
use crate::predict::{Forecaster, PredictionBatch, likeliest};
use crate::saved_fit::SavedFit;

/// Draws that [`SavedFit::evaluate`] uses.
const EVALUATION_DRAWS: usize = 256;

/// The scores of a fit on held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Mean over rows of the log of the mean likelihood over draws.
    pub log_likelihood_per_row: f64,
    /// The share of rows whose class was the most probable one; `None` for numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// The root mean square error of the posterior mean; `None` for classes, and if some responses
    /// are known by bounds only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Rows.
    pub n_rows: u64,
    /// Rows left out because a value was missing.
    pub dropped_rows: usize,
    /// Draws in the averages.
    pub n_draws: usize,
    /// Predicted against observed frequencies; empty unless there are two outcomes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calibration: Vec<CalibrationBin>,
}

/// Scores a fit on a table that is read in blocks.
pub struct Evaluator<'a> {
    forecaster: &'a Forecaster<'a>,
    sums: Scores,
}

/// Sums over rows that were scored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Scores {
    rows: u64,
    log_likelihood: f64,
    hits: f64,
    squares: f64,
    calibration: Calibration,
}

impl Scores {
    fn add(&mut self, other: &Scores) {
        self.rows += other.rows;
        self.log_likelihood += other.log_likelihood;
        self.hits += other.hits;
        self.squares += other.squares;
        self.calibration.add(&other.calibration);
    }
}

impl<'a> Evaluator<'a> {
    /// An evaluator without scores.
    pub fn new(forecaster: &'a Forecaster<'a>) -> Evaluator<'a> {
        Evaluator {
            forecaster,
            sums: Scores::default(),
        }
    }

    /// The scores so far.
    pub fn scores(&self) -> &Scores {
        &self.sums
    }

    /// Adds the scores of another evaluator of the same fit.
    pub fn take(&mut self, scores: &Scores) {
        self.sums.add(scores);
    }

    /// Scores a block of rows, the first of which is row `first` (from 0) of the whole table.
    pub fn push(&mut self, table: &Table, first: u64) -> Result<(), Error> {
        if table.n_rows() == 0 {
            return Ok(());
        }
        let saved = self.forecaster.saved;
        let batch = self.forecaster.batch(table)?;
        if !batch.rows.has_response() {
            let response = saved.subject.response();
            return Err(Error::NoResponse { response });
        }
        let marginal = saved.posterior.marginal(batch.rows.bound());
        let values = log_likelihoods(marginal.density(), &batch.draws, saved.params());
        self.sums.log_likelihood += values.iter().sum::<f64>();
        self.sums.rows += values.len() as u64;
        self.compare(&batch, first);
        Ok(())
    }

    /// Compares predictions with observations.
    fn compare(&mut self, batch: &PredictionBatch, first: u64) {
        if self.measure() == Measure::Joint {
            return;
        }
        let bound = batch.rows.bound();
        let seen = observed(bound, &RowSet::Range(0..bound.n_rows()));
        let predictions = self.forecaster.predict_batch(batch, first);
        match (self.measure(), predictions.means()) {
            (Measure::Binary, Some(means)) => {
                for (p, y) in means.iter().zip(&seen) {
                    self.sums.hits += f64::from((*p > 0.5) == (*y > 0.5));
                    self.sums.calibration.push(*p, *y);
                }
            }
            (Measure::Class, _) => {
                let probabilities = predictions.probabilities();
                for (row, y) in seen.iter().enumerate() {
                    self.sums.hits += f64::from(likeliest(&probabilities, row) as f64 == *y);
                }
            }
            (Measure::Direction, Some(means)) => {
                let pairs = means.iter().zip(&seen);
                let errors = pairs.map(|(mean, y)| (mean - y).rem_euclid(TAU));
                let squares = errors.map(|error| error.min(TAU - error).powi(2));
                self.sums.squares += squares.sum::<f64>();
            }
            (_, Some(means)) => {
                let errors = means.iter().zip(&seen).map(|(mean, y)| (mean - y).powi(2));
                self.sums.squares += errors.sum::<f64>();
            }
            _ => {}
        }
    }

    fn measure(&self) -> Measure {
        self.forecaster.saved.subject.measure()
    }

    /// The scores of all rows so far, with the number of rows that were left out.
    pub fn finish(self, dropped_rows: usize) -> Result<Evaluation, Error> {
        if self.sums.rows == 0 {
            return Err(LearnError::NoRows.into());
        }
        let n = self.sums.rows as f64;
        let is_class = matches!(self.measure(), Measure::Binary | Measure::Class);
        let is_censored = self.forecaster.saved.subject.is_censored();
        let has_errors = !is_class && !is_censored && self.measure() != Measure::Joint;
        let calibration = match self.measure() {
            Measure::Binary => self.sums.calibration.bins(),
            _ => Vec::new(),
        };
        Ok(Evaluation {
            log_likelihood_per_row: self.sums.log_likelihood / n,
            accuracy: is_class.then_some(self.sums.hits / n),
            rmse: has_errors.then_some((self.sums.squares / n).sqrt()),
            n_rows: self.sums.rows,
            dropped_rows,
            n_draws: self.forecaster.draws.len(),
            calibration,
        })
    }
}

impl SavedFit {
    /// Scores the fit on the rows of a table that has the response.
    pub fn evaluate(&self, table: &Table) -> Result<Evaluation, Error> {
        let forecaster = self.forecaster(EVALUATION_DRAWS);
        let mut evaluator = Evaluator::new(&forecaster);
        evaluator.push(table, 0)?;
        evaluator.finish(table.dropped_rows())
    }
}
