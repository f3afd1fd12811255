//! Predictions of rows that a fit has not seen: means and quantiles over draws, or shares of
//! classes.

use lehr_density::{Density, Moments, Predictor};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, quantile, sd, sorted};
use lehr_table::{Column, Table, TableError};

use super::SavedFit;
use super::replication::MixedMoments;
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
        let (params, subject) = (self.saved.params(), &self.saved.subject);
        let mut predictions = Predictions {
            name: subject.response(),
            classes: subject.classes(),
            means: Vec::new(),
            mixed: MixedMoments::new(batch.rows.bound().n_rows()),
            probabilities: Vec::new(),
            responses: Vec::new(),
            rows: batch.rows.bound().n_rows(),
        };
        for draw in &batch.draws {
            let moments = predictor.moments(draw, params).into_iter().next();
            if let Some(moments) = moments {
                predictions.add(moments, 1.0 / batch.draws.len() as f64);
            }
            let drawn = predictor.draw(draw, params, &mut stream).into_iter().next();
            (predictions.responses).extend(drawn.map(|predicted| predicted.values));
        }
        predictions
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
    /// The moments of each row under all draws together.
    mixed: MixedMoments,
    /// The mean over draws of each class's probability, row after row; empty unless the response
    /// is one of several classes.
    probabilities: Vec<f64>,
    /// Per draw a response of each row.
    responses: Vec<Vec<f64>>,
    rows: usize,
}

impl Predictions {
    /// Takes in one draw, which counts by its share of all draws.
    fn add(&mut self, moments: Moments, share: f64) {
        let sums = moments.probabilities.len();
        self.probabilities.resize(sums, 0.0);
        for (sum, probability) in self.probabilities.iter_mut().zip(&moments.probabilities) {
            *sum += share * probability;
        }
        let is_number = (moments.mean.as_ref()).is_some_and(|mean| mean.len() == self.rows);
        // The numbers of classes have no mean that says anything.
        if sums == 0 && is_number {
            self.mixed.add(&moments);
            self.means.extend(moments.mean);
        }
    }

    /// The posterior mean of each row's mean; `None` where the response has no mean.
    pub fn means(&self) -> Option<Vec<f64>> {
        let has_mean = !self.means.is_empty();
        has_mean.then(|| per_row(self.rows, &self.means, mean))
    }

    /// The probability of each class in each row, class after class; empty for numbers. It is
    /// the mean over draws of the probability under each.
    pub fn probabilities(&self) -> Vec<Vec<f64>> {
        let count = self.classes.len();
        match self.means() {
            Some(ones) if count == 2 => vec![ones.iter().map(|one| 1.0 - one).collect(), ones],
            _ => (0..count)
                .map(|class| {
                    let own = self.probabilities.iter().skip(class).step_by(count);
                    own.copied().collect()
                })
                .collect(),
        }
    }

    /// A response of each row under each draw, draw after draw.
    pub fn responses(&self) -> &[Vec<f64>] {
        &self.responses
    }

    /// The predictions as columns of a table. Of a number `y`: `y_mean`, `y_mean_sd`,
    /// `y_mean_q5`, `y_mean_q95` (the posterior of the mean), `y_sd`, `y_q5`, `y_q95` (the
    /// predictive distribution). Of a class: `y[class]`, the probability of each, and `y_class`,
    /// the likeliest. Of two classes: the posterior of the second's probability as well.
    pub fn table(&self) -> Result<Table, TableError> {
        self.beside(Table::new())
    }

    /// As [`Predictions::table`], after the columns of another table.
    pub fn beside(&self, mut table: Table) -> Result<Table, TableError> {
        for (suffix, column) in self.columns() {
            table.insert(format!("{}{suffix}", self.name), column)?;
        }
        Ok(table)
    }

    /// The columns by what follows the response's name in theirs.
    fn columns(&self) -> Vec<(String, Column)> {
        let mut columns = Vec::new();
        if self.means().is_some() {
            columns = self.of_means();
            columns.push(("_sd".into(), Column::Number(self.sds())));
        }
        let is_number = (self.responses.iter()).all(|drawn| drawn.len() == self.rows);
        if self.classes.is_empty() && is_number {
            let at = |share: f64| move |values: &[f64]| quantile(&sorted(values), share);
            for (suffix, share) in [("_q5", 0.05), ("_q95", 0.95)] {
                let values = per_row(self.rows, &self.responses, at(share));
                columns.push((suffix.into(), Column::Number(values)));
            }
            return columns;
        }
        let probabilities = self.probabilities();
        columns.push(("_class".into(), self.likeliest(&probabilities)));
        let named = probabilities.into_iter().zip(&self.classes);
        columns.extend(named.map(|(values, class)| (format!("[{class}]"), Column::Number(values))));
        columns
    }

    /// The posterior of the mean.
    fn of_means(&self) -> Vec<(String, Column)> {
        let at = |share: f64| move |values: &[f64]| quantile(&sorted(values), share);
        let column = |suffix: &str, what: &dyn Fn(&[f64]) -> f64| {
            let values = per_row(self.rows, &self.means, what);
            (suffix.to_owned(), Column::Number(values))
        };
        vec![
            column("_mean", &mean),
            column("_mean_sd", &sd),
            column("_mean_q5", &at(0.05)),
            column("_mean_q95", &at(0.95)),
        ]
    }

    /// The predictive standard deviation of each row, infinite where a draw has no variance.
    fn sds(&self) -> Vec<f64> {
        let known = |sd: f64| if sd.is_nan() { f64::INFINITY } else { sd };
        self.mixed.sds().into_iter().map(known).collect()
    }

    /// The name of the likeliest class of each row.
    fn likeliest(&self, probabilities: &[Vec<f64>]) -> Column {
        let codes = (0..self.rows).map(|row| likeliest(probabilities, row) as u32);
        Column::Category {
            codes: codes.collect(),
            levels: self.classes.clone().into(),
        }
    }
}

/// The likeliest class of a row.
pub(super) fn likeliest(probabilities: &[Vec<f64>], row: usize) -> usize {
    let classes = 0..probabilities.len();
    let best = classes.max_by(|a, b| probabilities[*a][row].total_cmp(&probabilities[*b][row]));
    best.unwrap_or(0)
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
