//! Leave-one-out for each row of a table, or for a sample of its rows.

use lehr_infer::leave_one_out::{LeftOut, WeightedDraws, each_seen, leave_each_out};
use lehr_learn::LearnError;
use lehr_numeric::pareto::shape_threshold;
use lehr_regression::NewRows;
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::saved_fit::{SavedFit, used_weights};

/// The number of draws for rows that are not sampled.
const FEW_DRAWS: usize = 64;

/// One row left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LooRow {
    /// Its place in the table, from 0.
    pub row: u64,
    /// Its leave-one-out results.
    pub left: LeftOut,
    /// A cheaper estimate of `elpd`, which is computed for every row.
    pub cheap: f64,
}

/// Rows left out of a fit: all, or a sample of them.
#[derive(Clone, Debug, Default)]
pub struct Loo {
    /// Rows of the table.
    pub n_rows: u64,
    /// Draws.
    pub n_draws: usize,
    /// The rows that were left out.
    pub rows: Vec<LooRow>,
    /// The sum of [`LooRow::cheap`] over all rows of the table.
    pub cheap_sum: f64,
}

/// An estimate over all rows with its errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LooMeasure {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error with respect to further rows of the same kind.
    pub se: f64,
    /// Its standard error with respect to the result for all rows of this table; 0 if all were left
    /// out.
    pub sampling_se: f64,
}

/// The summary of leave-one-out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LooSummary {
    /// Σ log p(yₙ | the other rows).
    pub elpd_loo: LooMeasure,
    /// The effective number of parameters, Σ log p(yₙ | all rows) − log p(yₙ | the other rows).
    pub p_loo: f64,
    /// −2 elpd.
    pub looic: f64,
    /// WAIC's estimate of the same, less robust.
    pub elpd_waic: f64,
    /// WAIC's number of parameters.
    pub p_waic: f64,
    /// Rows of the table.
    pub n_rows: u64,
    /// Rows that were left out.
    pub n_left_out: usize,
    /// Draws.
    pub n_draws: usize,
    /// The k̂ above which a row's value is unreliable.
    pub k_threshold: f64,
    /// The largest k̂.
    pub k_max: f64,
    /// Rows above the threshold.
    pub n_high_k: usize,
    /// The rows of the largest k̂ above the threshold, at most ten: their places from 1, and k̂.
    pub high_k: Vec<(u64, f64)>,
}

impl SavedFit {
    /// Leaves out every row of a block of the fitted table; `rows` are their places in it.
    pub fn leave_out(&self, table: &Table, rows: &[u64]) -> Result<Vec<LooRow>, Error> {
        self.fitted("leave-one-out")?;
        let rows_of_fit = self.rows_of_fit(table)?;
        let bound = rows_of_fit.bound();
        let all = 0..self.posterior.n_draws();
        let latents: Vec<f64> = match self.posterior.spared {
            None => Vec::new(),
            Some(_) => all.flat_map(|k| self.draw_for(k, &rows_of_fit)).collect(),
        };
        let draws = WeightedDraws {
            latents: match self.posterior.spared {
                None => &self.posterior.draws,
                Some(_) => &latents,
            },
            params: self.params(),
            weights: &used_weights(&self.posterior),
        };
        let left = leave_each_out(self.posterior.marginal(bound).density(), draws)?;
        let row = |((left, cheap), row): ((LeftOut, f64), &u64)| LooRow {
            row: *row,
            left,
            cheap,
        };
        let all = left.into_iter().zip(self.cheap_of(&rows_of_fit)).zip(rows);
        Ok(all.map(row).collect())
    }

    /// A cheap estimate of each row's `elpd`: log p(yₙ | all rows) less the variance of log p(yₙ |
    /// z), from few draws. Magnusson et al. (2020) use such values as the surrogate of their
    /// difference estimator, which is unbiased for any surrogate.
    pub fn cheap(&self, table: &Table) -> Result<Vec<f64>, Error> {
        self.fitted("leave-one-out")?;
        Ok(self.cheap_of(&self.rows_of_fit(table)?))
    }

    fn cheap_of(&self, rows: &NewRows) -> Vec<f64> {
        let places = self.places(FEW_DRAWS.min(self.posterior.n_draws()));
        let draws: Vec<Vec<f64>> = places.iter().map(|k| self.draw_for(*k, rows)).collect();
        let few = WeightedDraws {
            latents: &draws.concat(),
            params: self.params(),
            weights: &vec![1.0 / draws.len() as f64; draws.len()],
        };
        let marginal = self.posterior.marginal(rows.bound());
        let seen = each_seen(marginal.density(), few).into_iter();
        seen.map(|one| one.lpd - one.variance).collect()
    }
}

impl Loo {
    /// Empty results.
    pub fn new(saved: &SavedFit) -> Loo {
        Loo {
            n_draws: saved.posterior.n_draws(),
            ..Loo::default()
        }
    }

    /// Adds rows all of which were left out.
    pub fn push(&mut self, rows: Vec<LooRow>) {
        self.n_rows += rows.len() as u64;
        self.cheap_sum += rows.iter().map(|row| row.cheap).sum::<f64>();
        self.rows.extend(rows);
    }

    /// Adds the cheap values of rows of which a sample will be left out.
    pub fn push_cheap(&mut self, cheap: &[f64]) {
        self.n_rows += cheap.len() as u64;
        self.cheap_sum += cheap.iter().sum::<f64>();
    }

    /// The sum over all rows of a quantity that is computed for those left out, by the difference
    /// estimator from a quantity that is computed for all (Magnusson, Vehtari, Jonasson & Andersen
    /// 2020).
    pub(crate) fn total(&self, values: &[f64], cheap: &[f64], cheap_sum: f64) -> LooMeasure {
        let (n, m) = (self.n_rows as f64, values.len() as f64);
        let differences: Vec<f64> = values.iter().zip(cheap).map(|(a, b)| a - b).collect();
        let correction = n / m * differences.iter().sum::<f64>();
        LooMeasure {
            estimate: cheap_sum + correction,
            se: (n * variance(values)).sqrt(),
            sampling_se: n * ((1.0 - m / n) * variance(&differences) / m).max(0.0).sqrt(),
        }
    }

    /// The expected log predictive density of all rows.
    pub fn elpd(&self) -> LooMeasure {
        let values: Vec<f64> = self.rows.iter().map(|row| row.left.elpd).collect();
        self.total(&values, &self.cheap(), self.cheap_sum)
    }

    fn cheap(&self) -> Vec<f64> {
        self.rows.iter().map(|row| row.cheap).collect()
    }

    /// The summary of all results.
    pub fn summary(&self) -> Result<LooSummary, Error> {
        if self.rows.is_empty() {
            return Err(LearnError::NoRows.into());
        }
        let scale = self.n_rows as f64 / self.rows.len() as f64;
        let sum = |of: &dyn Fn(&LeftOut) -> f64| -> f64 {
            scale * self.rows.iter().map(|row| of(&row.left)).sum::<f64>()
        };
        let elpd = self.elpd();
        let limit = shape_threshold(self.n_draws);
        let mut high: Vec<(u64, f64)> = (self.rows.iter())
            .filter(|row| row.left.shape > limit)
            .map(|row| (row.row + 1, row.left.shape))
            .collect();
        high.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shapes = self.rows.iter().map(|row| row.left.shape);
        let waic = self.rows.iter().map(|row| row.left.lpd - row.left.variance);
        let waic: Vec<f64> = waic.collect();
        Ok(LooSummary {
            elpd_loo: elpd,
            p_loo: sum(&|left| left.lpd - left.elpd),
            looic: -2.0 * elpd.estimate,
            elpd_waic: self.total(&waic, &self.cheap(), self.cheap_sum).estimate,
            p_waic: sum(&|left| left.variance),
            n_rows: self.n_rows,
            n_left_out: self.rows.len(),
            n_draws: self.n_draws,
            k_threshold: limit,
            k_max: shapes.fold(f64::NEG_INFINITY, f64::max),
            n_high_k: high.len(),
            high_k: high.into_iter().take(10).collect(),
        })
    }
}

/// The variance with divisor n − 1; 0 for one value.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (n - 1.0).max(1.0)
}
