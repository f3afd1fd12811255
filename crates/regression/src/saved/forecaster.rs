//! Predictions of rows that a fit has not seen: means and quantiles over draws, or shares of
//! classes.

use lehr_density::{Density, Predictor};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, quantile, sd, sorted};
use lehr_table::{Column, Table, TableError};

use super::SavedFit;
use crate::Error;
use crate::new_rows::NewRows;
use crate::regression::NewLevels;

/// How rows are predicted.
pub struct Forecaster<'a> {
    /// The fit.
    pub saved: &'a SavedFit,
    /// The draws that are used.
    pub draws: Vec<&'a [f64]>,
    /// What becomes of groups that were not fitted.
    pub new_levels: NewLevels,
    /// Where the predictive draws come from.
    pub seed: u64,
}

/// A table's rows as the model reads them, with the draws that go with them.
pub(super) struct Batch {
    /// The model on the rows.
    pub(super) rows: NewRows,
    /// The draws, with effects for groups that were not fitted.
    pub(super) draws: Vec<Vec<f64>>,
}

impl Forecaster<'_> {
    /// Predicts the rows of a table, of which the first is row `first` (from 0) of the whole;
    /// the response may be absent.
    pub fn predict(&self, table: &Table, first: u64) -> Result<Predictions, Error> {
        Ok(self.predict_batch(&self.batch(table)?, first))
    }

    /// The rows of a table as the model reads them.
    pub(super) fn batch(&self, table: &Table) -> Result<Batch, Error> {
        let rows = (self.saved.subject).new_rows(table, self.new_levels)?;
        let each = self.draws.iter().enumerate();
        let draws = each.map(|(k, draw)| rows.latents(draw, self.seed.wrapping_add(k as u64)));
        Ok(Batch {
            draws: draws.collect(),
            rows,
        })
    }

    pub(super) fn predict_batch(&self, batch: &Batch, first: u64) -> Predictions {
        let mut predictor = Predictor::of_all_rows(batch.rows.bound());
        let mut stream = Stream::new(self.seed, "predict", first);
        let params = self.saved.params();
        let (mut means, mut responses) = (Vec::new(), Vec::new());
        for draw in &batch.draws {
            let mean = predictor.means(draw, params).into_iter().next();
            means.extend(mean.map(|predicted| predicted.values));
            let drawn = predictor.draw(draw, params, &mut stream).into_iter().next();
            responses.extend(drawn.map(|predicted| predicted.values));
        }
        Predictions {
            name: self.saved.subject.response(),
            classes: self.saved.subject.classes(),
            means,
            responses,
            rows: batch.rows.bound().n_rows(),
        }
    }
}

/// What is predicted of a set of rows.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// The response.
    name: String,
    /// Its classes; empty for numbers.
    classes: Vec<String>,
    /// Per draw the mean of each row; empty where there is none.
    means: Vec<Vec<f64>>,
    /// Per draw a response of each row.
    responses: Vec<Vec<f64>>,
    rows: usize,
}

impl Predictions {
    /// The posterior mean of each row's mean; `None` where the response has no mean.
    pub fn means(&self) -> Option<Vec<f64>> {
        let is_number = !self.means.is_empty() && self.means.iter().all(|m| m.len() == self.rows);
        is_number.then(|| per_row(self.rows, &self.means, mean))
    }

    /// The probability of each class in each row, class after class; empty for numbers.
    pub fn probabilities(&self) -> Vec<Vec<f64>> {
        let share = |class: usize| {
            per_row(self.rows, &self.responses, |values| {
                let hits = values.iter().filter(|value| **value == class as f64);
                hits.count() as f64 / values.len().max(1) as f64
            })
        };
        (0..self.classes.len()).map(share).collect()
    }

    /// A response of each row under each draw, draw after draw.
    pub fn responses(&self) -> &[Vec<f64>] {
        &self.responses
    }

    /// The predictions as columns of a table. Of a number `y`: `y_mean`, `y_mean_sd`,
    /// `y_mean_q5`, `y_mean_q95` (the posterior of the mean), `y_sd`, `y_q5`, `y_q95` (the
    /// predictive distribution); of a class `y[class]`, the probability of each.
    pub fn table(&self) -> Result<Table, TableError> {
        self.beside(Table::new())
    }

    /// As [`Predictions::table`], after the columns of another table.
    pub fn beside(&self, mut table: Table) -> Result<Table, TableError> {
        for (name, column) in self.columns() {
            table.insert(name, column)?;
        }
        Ok(table)
    }

    fn columns(&self) -> Vec<(String, Column)> {
        let name = &self.name;
        if self.means().is_none() {
            let named = self.probabilities().into_iter().zip(&self.classes);
            let column = |(values, class)| (format!("{name}[{class}]"), Column::Number(values));
            return named.map(column).collect();
        }
        let at = |share: f64| move |values: &[f64]| quantile(&sorted(values), share);
        let column = |suffix: &str, of: &[Vec<f64>], what: &dyn Fn(&[f64]) -> f64| {
            let values = per_row(self.rows, of, what);
            (format!("{name}_{suffix}"), Column::Number(values))
        };
        vec![
            column("mean", &self.means, &mean),
            column("mean_sd", &self.means, &sd),
            column("mean_q5", &self.means, &at(0.05)),
            column("mean_q95", &self.means, &at(0.95)),
            column("sd", &self.responses, &sd),
            column("q5", &self.responses, &at(0.05)),
            column("q95", &self.responses, &at(0.95)),
        ]
    }
}

/// A number per row from that row's number under each draw.
fn per_row(rows: usize, draws: &[Vec<f64>], what: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut values = vec![0.0; draws.len()];
    let one = |row: usize| {
        for (value, draw) in values.iter_mut().zip(draws) {
            *value = draw[row];
        }
        what(&values)
    };
    (0..rows).map(one).collect()
}
