//! Predictions of rows that a fit has not seen: means and quantiles over draws, or shares of
//! classes.

use anyhow::Result;
use lehr_density::Predictor;
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, quantile, sd, sorted};
use lehr_regression::{NewLevels, NewRows, Regression};
use lehr_table::{Column, Table, TableError};

use crate::saved::SavedFit;

/// How rows are predicted.
pub(crate) struct Oracle<'a> {
    /// The fit.
    pub(crate) saved: &'a SavedFit,
    /// The draws that are used.
    pub(crate) draws: Vec<&'a [f64]>,
    /// What becomes of groups that were not fitted.
    pub(crate) new_levels: NewLevels,
    /// Where the predictive draws come from.
    pub(crate) seed: u64,
}

/// What is predicted of a set of rows.
pub(crate) struct Predictions {
    /// Per row the mean under each draw, draw after draw; empty where there is none.
    means: Vec<Vec<f64>>,
    /// A response of each row under each draw.
    responses: Vec<Vec<f64>>,
    rows: usize,
}

/// A table's rows as the model reads them, with the draws that go with them.
pub(crate) struct Batch {
    /// The model on the rows.
    pub(crate) rows: NewRows,
    /// The draws, with effects for groups that were not fitted.
    pub(crate) draws: Vec<Vec<f64>>,
}

impl Oracle<'_> {
    /// The rows of a table as the model reads them.
    pub(crate) fn batch(&self, table: &Table) -> Result<Batch> {
        let regression: &Regression = &self.saved.regression;
        let rows = regression.bind_new(table, self.new_levels)?;
        let each = self.draws.iter().enumerate();
        let draws = each.map(|(k, draw)| rows.latents(draw, self.seed.wrapping_add(k as u64)));
        Ok(Batch {
            draws: draws.collect(),
            rows,
        })
    }

    /// Predicts the rows of a batch, of which the first is row `first` of the whole.
    pub(crate) fn predict(&self, batch: &Batch, first: u64) -> Predictions {
        let mut predictor = Predictor::of_all_rows(batch.rows.bound());
        let mut stream = Stream::new(self.seed, "predict", first);
        let params = self.saved.params();
        let (mut means, mut responses) = (Vec::new(), Vec::new());
        for draw in &batch.draws {
            means.extend(
                predictor
                    .means(draw, params)
                    .into_iter()
                    .next()
                    .map(|p| p.values),
            );
            let drawn = predictor.draw(draw, params, &mut stream);
            responses.extend(drawn.into_iter().next().map(|p| p.values));
        }
        let rows = lehr_density::Density::n_rows(batch.rows.bound());
        Predictions {
            means,
            responses,
            rows,
        }
    }
}

impl Predictions {
    /// The mean of each row over all draws; `None` where the response has no mean.
    pub(crate) fn centers(&self) -> Option<Vec<f64>> {
        let is_number = !self.means.is_empty() && self.means.iter().all(|m| m.len() == self.rows);
        is_number.then(|| per_row(self.rows, &self.means, mean))
    }

    /// The share of draws of each class in each row, class after class.
    pub(crate) fn shares(&self, classes: usize) -> Vec<Vec<f64>> {
        let share = |class: usize| {
            per_row(self.rows, &self.responses, |values| {
                let hits = values
                    .iter()
                    .filter(|value| **value == class as f64)
                    .count();
                hits as f64 / values.len().max(1) as f64
            })
        };
        (0..classes).map(share).collect()
    }

    /// Columns to write: of a number its mean, sd and quantiles; of a class its shares.
    pub(crate) fn columns(&self, regression: &Regression) -> Vec<(String, Column)> {
        let name = regression.response();
        let classes = regression.response_levels();
        if self.centers().is_none() {
            let shares = self.shares(classes.len()).into_iter();
            let named = shares.zip(classes);
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

    /// The table of the predictions, after the columns that are kept.
    pub(crate) fn table(&self, kept: Table, regression: &Regression) -> Result<Table, TableError> {
        let mut table = kept;
        for (name, column) in self.columns(regression) {
            table.insert(name, column)?;
        }
        Ok(table)
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
