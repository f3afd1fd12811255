//! Predictions of new rows: means and quantiles over draws, or probabilities of classes.

use lehr_density::{Density, Moments, Predictor};
use lehr_learn::{LearnError, NewLevels};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, quantile, sd, sorted};
use lehr_regression::{Extrapolation, NewRows, PredictionLevel};
use lehr_table::{Column, Table, TableError};

use crate::error::Error;
use crate::saved_fit::SavedFit;

/// Draws that [`SavedFit::predict`] uses.
const PREDICTION_DRAWS: usize = 200;

/// The settings of predictions.
pub struct Forecaster<'a> {
    /// The fit.
    pub saved: &'a SavedFit,
    /// The numbers of the draws that are used.
    pub draws: Vec<usize>,
    /// The treatment of groups that were not fitted.
    pub new_levels: NewLevels,
    /// Whether random effects are part of a prediction.
    pub level: PredictionLevel,
    /// The seed of the predictive draws.
    pub seed: u64,
    /// The results for each row.
    pub details: PredictionDetails,
}

/// The results for each row besides means and standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionDetails {
    /// The quantiles of the mean and of an observation, from 0 to 1.
    pub quantiles: Vec<f64>,
    /// The number of response draws for each row.
    pub responses: usize,
    /// Quantities of the model: `predictor`, or a parameter of the family such as `sigma`.
    pub parameters: Vec<String>,
}

impl Default for PredictionDetails {
    fn default() -> PredictionDetails {
        PredictionDetails {
            quantiles: vec![0.05, 0.95],
            responses: 0,
            parameters: Vec::new(),
        }
    }
}

/// A table's rows in the form of the model, with the corresponding draws.
pub(crate) struct PredictionBatch {
    /// The model on the rows.
    pub(crate) rows: NewRows,
    /// The draws, with effects for groups that were not fitted.
    pub(crate) draws: Vec<Vec<f64>>,
}

impl Forecaster<'_> {
    /// Predicts the rows of a table, the first of which is row `first` (from 0) of the whole table;
    /// the response may be absent. Several responses are predicted one by one
    /// ([`SavedFit::responses`]).
    pub fn predict(&self, table: &Table, first: u64) -> Result<Predictions, Error> {
        if let Some(several) = self.saved.subject.multivariate() {
            return Err(several.one_of("predict").into());
        }
        let batch = self.batch(table)?;
        let mut predictions = self.predict_batch(&batch, first);
        if !self.details.parameters.is_empty() {
            predictions.parameters = self.parameters(&batch)?;
        }
        Ok(predictions)
    }

    /// The named quantities of each row for each draw.
    fn parameters(&self, batch: &PredictionBatch) -> Result<Vec<NamedRows>, LearnError> {
        let mut predictor = Predictor::of_all_rows(batch.rows.bound());
        let wanted = &self.details.parameters;
        let mut found: Vec<NamedRows> = Vec::new();
        for draw in &batch.draws {
            let all = predictor.quantities(draw, self.saved.params());
            for name in wanted {
                let Some(own) = all.iter().find(|one| one.name == *name) else {
                    return Err(unknown_parameter(name, &all));
                };
                match found.iter_mut().find(|one| one.name == *name) {
                    Some(known) => known.draws.push(own.values.clone()),
                    None => found.push(NamedRows {
                        name: name.clone(),
                        width: own.width,
                        draws: vec![own.values.clone()],
                    }),
                }
            }
        }
        Ok(found)
    }

    /// The rows of a table in the form of the model.
    pub(crate) fn batch(&self, table: &Table) -> Result<PredictionBatch, Error> {
        let saved = self.saved;
        let rows = match self.level {
            PredictionLevel::Groups => saved.rows_to_predict(table, self.new_levels)?,
            PredictionLevel::Population => saved.population_rows(table, self.new_levels)?,
        };
        let each = self.draws.iter().enumerate();
        let draws = each.map(|(k, place)| {
            let draw = saved.draw_for(*place, &rows);
            rows.latents(&draw, self.seed.wrapping_add(k as u64))
        });
        Ok(PredictionBatch {
            draws: draws.collect(),
            rows,
        })
    }

    pub(crate) fn predict_batch(&self, batch: &PredictionBatch, first: u64) -> Predictions {
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
            outside: batch.rows.outside().to_vec(),
            details: self.details.clone(),
            parameters: Vec::new(),
        };
        for draw in &batch.draws {
            let moments = predictor.moments(draw, params).into_iter().next();
            if let Some(moments) = moments {
                predictions.add(moments, 1.0 / batch.draws.len() as f64);
            }
            let drawn = predictor.draw_responses(draw, params, &mut stream);
            let first = drawn.into_iter().next();
            (predictions.responses).extend(first.map(|predicted| predicted.values));
        }
        predictions
    }
}

impl SavedFit {
    /// The settings of predictions with at most `draws` draws.
    pub fn forecaster(&self, draws: usize) -> Forecaster<'_> {
        Forecaster {
            draws: self.places(draws.min(self.posterior.n_draws())),
            saved: self,
            new_levels: NewLevels::Sample,
            level: PredictionLevel::Groups,
            seed: 0,
            details: PredictionDetails::default(),
        }
    }

    /// Predicts the rows of a table, whose response may be absent. The effects of groups that were
    /// not fitted are drawn from those of all groups.
    pub fn predict(&self, table: &Table) -> Result<Predictions, Error> {
        self.forecaster(PREDICTION_DRAWS).predict(table, 0)
    }
}

/// The predictions of a set of rows.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// The response.
    name: String,
    /// Its classes; empty for numbers.
    classes: Vec<String>,
    /// The mean of each row for each draw; empty if there is none.
    means: Vec<Vec<f64>>,
    /// The moments of each row over all draws.
    mixed: MixedMoments,
    /// The mean over draws of each class's probability, row after row; empty unless the response is
    /// categorical.
    probabilities: Vec<f64>,
    /// A response of each row for each draw.
    responses: Vec<Vec<f64>>,
    rows: usize,
    outside: Vec<Extrapolation>,
    details: PredictionDetails,
    parameters: Vec<NamedRows>,
}

/// A named quantity of each row for each draw.
#[derive(Clone, Debug)]
struct NamedRows {
    name: String,
    /// Numbers per row.
    width: usize,
    draws: Vec<Vec<f64>>,
}

fn unknown_parameter(name: &str, known: &[lehr_density::RowPrediction]) -> LearnError {
    let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
    LearnError::column(
        "--parameter",
        "a quantity that the model names",
        format!("{name:?}"),
        format!("the model names {}", names.join(", ")),
    )
}

/// The ending of a quantile's name: `_q5`, `_q2.5`.
fn suffix(share: f64) -> String {
    format!("_q{}", (share * 1e5).round() / 1e3)
}

impl Predictions {
    /// Adds one draw with its share of all draws.
    fn add(&mut self, moments: Moments, share: f64) {
        let sums = moments.probabilities.len();
        self.probabilities.resize(sums, 0.0);
        for (sum, probability) in self.probabilities.iter_mut().zip(&moments.probabilities) {
            *sum += share * probability;
        }
        let is_number = (moments.mean.as_ref()).is_some_and(|mean| mean.len() == self.rows);
        // The mean of class numbers is meaningless.
        if sums == 0 && is_number {
            self.mixed.add(&moments);
            self.means.extend(moments.mean);
        }
    }

    /// The posterior mean of each row's mean; `None` if the response has no mean.
    pub fn means(&self) -> Option<Vec<f64>> {
        let has_mean = !self.means.is_empty();
        has_mean.then(|| per_row(self.rows, &self.means, mean))
    }

    /// The probability of each class in each row, class after class; empty for numbers. It is the
    /// mean over draws of the probability given each draw.
    pub fn probabilities(&self) -> Vec<Vec<f64>> {
        let count = self.classes.len();
        match self.means() {
            Some(ones) if count == 2 => vec![ones.iter().map(|one| 1.0 - one).collect(), ones],
            _ => (0..count)
                .map(|class| every(&self.probabilities, class, count))
                .collect(),
        }
    }

    /// A response of each row for each draw, draw after draw.
    pub fn responses(&self) -> &[Vec<f64>] {
        &self.responses
    }

    /// The smooth functions that are extrapolated, and for how many rows.
    pub fn outside(&self) -> &[Extrapolation] {
        &self.outside
    }

    /// The predictions as columns of a table. For a number `y`: `y_mean`, `y_mean_sd`, `y_mean_q5`,
    /// `y_mean_q95` (the posterior of the mean), `y_sd`, `y_q5`, `y_q95` (the predictive
    /// distribution). For classes: `y[class]`, the probability of each, and `y_class`, the most
    /// probable one. For two classes: the posterior of the second's probability as well.
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

    /// The columns, with the endings of their names after the response's.
    fn columns(&self) -> Vec<(String, Column)> {
        let mut columns = Vec::new();
        if self.means().is_some() {
            columns = self.of_draws("_mean", &self.means);
            columns.push(("_sd".into(), Column::Number(self.sds())));
        }
        let is_number = (self.responses.iter()).all(|drawn| drawn.len() == self.rows);
        if self.classes.is_empty() && is_number {
            columns.extend(self.quantiles("", &self.responses));
        } else {
            let probabilities = self.probabilities();
            columns.push(("_class".into(), self.likeliest(&probabilities)));
            for (values, class) in probabilities.into_iter().zip(&self.classes) {
                columns.push((format!("[{class}]"), Column::Number(values)));
            }
        }
        let drawn = self.responses.iter().take(self.details.responses);
        for (place, drawn) in drawn.enumerate() {
            columns.push((format!("_draw{}", place + 1), self.drawn(drawn)));
        }
        for one in &self.parameters {
            columns.extend(self.of_parameter(one));
        }
        columns
    }

    /// Responses as a column; classes by their names.
    fn drawn(&self, values: &[f64]) -> Column {
        if self.classes.is_empty() {
            return Column::Number(values.to_vec());
        }
        Column::Category {
            codes: values.iter().map(|value| *value as u32).collect(),
            levels: self.classes.clone().into(),
        }
    }

    /// The posterior of a quantity of each row; if it has several numbers, for each class but the
    /// first.
    fn of_parameter(&self, one: &NamedRows) -> Vec<(String, Column)> {
        let part = |place: usize| -> Vec<Vec<f64>> {
            let draws = one.draws.iter();
            draws.map(|draw| every(draw, place, one.width)).collect()
        };
        let name = |place: usize| match one.width {
            1 => format!("_{}", one.name),
            width => {
                let class = self.classes.len().saturating_sub(width) + place;
                format!("_{}[{}]", one.name, self.classes[class])
            }
        };
        let columns = (0..one.width).map(|place| self.of_draws(&name(place), &part(place)));
        columns.flatten().collect()
    }

    /// The posterior of a number of each row: mean, standard deviation, quantiles.
    fn of_draws(&self, name: &str, draws: &[Vec<f64>]) -> Vec<(String, Column)> {
        let column = |suffix: &str, what: &dyn Fn(&[f64]) -> f64| {
            let values = per_row(self.rows, draws, what);
            (format!("{name}{suffix}"), Column::Number(values))
        };
        let mut columns = vec![column("", &mean), column("_sd", &sd)];
        columns.extend(self.quantiles(name, draws));
        columns
    }

    fn quantiles(&self, name: &str, draws: &[Vec<f64>]) -> Vec<(String, Column)> {
        let one = |share: &f64| {
            let values = per_row(self.rows, draws, |own| quantile(&sorted(own), *share));
            (format!("{name}{}", suffix(*share)), Column::Number(values))
        };
        self.details.quantiles.iter().map(one).collect()
    }

    /// The predictive standard deviation of each row, infinite if a draw has no variance.
    fn sds(&self) -> Vec<f64> {
        let known = |sd: f64| if sd.is_nan() { f64::INFINITY } else { sd };
        self.mixed.sds().into_iter().map(known).collect()
    }

    /// The name of the most probable class of each row.
    fn likeliest(&self, probabilities: &[Vec<f64>]) -> Column {
        let codes = (0..self.rows).map(|row| likeliest(probabilities, row) as u32);
        Column::Category {
            codes: codes.collect(),
            levels: self.classes.clone().into(),
        }
    }
}

/// The numbers at one place of every row of this width.
fn every(values: &[f64], place: usize, width: usize) -> Vec<f64> {
    values.iter().skip(place).step_by(width).copied().collect()
}

/// The most probable class of a row.
pub(crate) fn likeliest(probabilities: &[Vec<f64>], row: usize) -> usize {
    let classes = 0..probabilities.len();
    let best = classes.max_by(|a, b| probabilities[*a][row].total_cmp(&probabilities[*b][row]));
    best.unwrap_or(0)
}

/// A number per row from that row's values in all draws.
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

/// Moments of each row's response over all draws, updated one draw at a time (Welford).
#[derive(Clone, Debug)]
pub(crate) struct MixedMoments {
    draws: f64,
    /// The mean so far.
    pub(crate) means: Vec<f64>,
    /// Squared distances of the draws' means from their mean.
    between: Vec<f64>,
    /// The sum of the draws' own variances.
    within: Vec<f64>,
}

impl MixedMoments {
    pub(crate) fn new(rows: usize) -> MixedMoments {
        MixedMoments {
            draws: 0.0,
            means: vec![0.0; rows],
            between: vec![0.0; rows],
            within: vec![0.0; rows],
        }
    }

    /// Adds one draw. Without a mean or a variance the result is NaN.
    pub(crate) fn add(&mut self, moments: &Moments) {
        let nothing = vec![f64::NAN; self.means.len()];
        let means = moments.mean.as_ref().unwrap_or(&nothing);
        let variances = moments.variance.as_ref().unwrap_or(&nothing);
        self.draws += 1.0;
        for (row, (mean, variance)) in means.iter().zip(variances).enumerate() {
            let step = mean - self.means[row];
            self.means[row] += step / self.draws;
            self.between[row] += step * (mean - self.means[row]);
            self.within[row] += variance;
        }
    }

    /// The standard deviation of each row; NaN if a draw has none.
    pub(crate) fn sds(&self) -> Vec<f64> {
        let both = self.between.iter().zip(&self.within);
        both.map(|(between, within)| ((between + within) / self.draws).sqrt())
            .collect()
    }
}
