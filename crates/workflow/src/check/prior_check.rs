//! The prior predictive distribution of a model: draws of its prior.

use lehr_density::{Density, Predictor, RowSet};
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::quantile;
use lehr_regression::{Family, Groups, NamedDraws, Regression};
use serde::Serialize;

use super::sample::{ROWS, some_rows};
use crate::bound::BoundRegression;
use crate::error::Error;
use crate::score::observed;

/// Shares of more classes are not listed.
const MOST_CLASSES: usize = 10;

/// Draws of the prior, and of responses given them.
#[derive(Clone, Debug)]
pub struct PriorPredictive {
    /// The coefficients on the original scale, by the prior alone.
    pub coefficients: Vec<NamedDraws>,
    /// Statistics of the rows under the prior, with the observed ones.
    pub statistics: Vec<PriorStatistic>,
    /// The rows whose responses were drawn.
    pub rows: usize,
}

/// A [`PriorPredictive`] in a few numbers.
#[derive(Clone, Debug, Serialize)]
pub struct PriorSummary {
    /// The rows whose responses were drawn.
    pub rows: usize,
    /// Quantiles of the coefficients.
    pub coefficients: Vec<PriorQuantiles>,
    /// Statistics of the rows under the prior, with the observed ones.
    pub response: Vec<PriorStatistic>,
}

/// Quantiles of a coefficient under the prior.
#[derive(Clone, Debug, Serialize)]
pub struct PriorQuantiles {
    /// The coefficient.
    pub name: String,
    /// The 5 % quantile.
    pub q5: f64,
    /// The median.
    pub q50: f64,
    /// The 95 % quantile.
    pub q95: f64,
}

impl PriorPredictive {
    /// Quantiles in place of the draws.
    pub fn into_summary(self) -> PriorSummary {
        let coefficient = |mut one: NamedDraws| {
            one.values.sort_by(f64::total_cmp);
            let at = |share| quantile(&one.values, share);
            PriorQuantiles {
                q5: at(0.05),
                q50: at(0.5),
                q95: at(0.95),
                name: one.name.to_string(),
            }
        };
        PriorSummary {
            rows: self.rows,
            coefficients: self.coefficients.into_iter().map(coefficient).collect(),
            response: self.statistics,
        }
    }
}

/// One number that describes a column of responses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriorStatistic {
    /// `mean`, `sd`, `smallest`, `largest`, `share of 0`, or the share of a class.
    pub name: String,
    /// The observed value.
    pub observed: f64,
    /// The 5 % quantile of the draws of the prior.
    pub q5: f64,
    /// The median of the draws.
    pub q50: f64,
    /// The 95 % quantile of the draws.
    pub q95: f64,
}

impl PriorStatistic {
    /// Whether the observed value is outside the 90 % interval of the prior.
    pub fn is_surprising(&self) -> bool {
        !(self.q5..=self.q95).contains(&self.observed)
    }
}

impl BoundRegression {
    /// Draws from the prior, and for each draw the responses of up to 5,000 rows. The draws are
    /// independent and exact; nothing is fitted.
    pub fn prior_predictive(&self, draws: usize, seed: u64) -> Result<PriorPredictive, Error> {
        let bound = &self.bound;
        let rows = some_rows(bound.n_rows(), ROWS, seed);
        let set = RowSet::List(&rows);
        let seen = observed(bound, &set);
        let statistics = match self.subject.only("priors") {
            Ok(regression) => {
                let is_exact = regression.terms().response.censoring.is_none();
                Statistics::of(regression, is_exact && seen.len() == rows.len())
            }
            Err(_) => Statistics::default(),
        };
        let mut predictor = Predictor::new(bound, bound.columns(), bound.source(), &set);
        let params = bound.params().start();
        let mut stream = Stream::new(seed, "prior", 0);
        let (mut flat, mut drawn) = (Vec::new(), vec![Vec::new(); statistics.names.len()]);
        for _ in 0..draws {
            let latents = bound.draw_prior(params, &mut stream)?;
            let responses = predictor.draw_responses(&latents, params, &mut stream);
            if let Some(responses) = responses.first() {
                let values = statistics.values(&responses.values);
                for (all, value) in drawn.iter_mut().zip(values) {
                    all.push(value);
                }
            }
            flat.extend(latents);
        }
        let sites = bound.latents().constrain_values(&flat);
        let observed = statistics.values(&seen);
        let named = statistics.names.iter().zip(observed).zip(drawn);
        let named = named.map(|((name, observed), drawn)| statistic(name, observed, drawn));
        Ok(PriorPredictive {
            coefficients: self.subject.coefficients_of_sites(&sites, Groups::Leave),
            statistics: named.collect(),
            rows: rows.len(),
        })
    }
}

fn statistic(name: &str, observed: f64, mut drawn: Vec<f64>) -> PriorStatistic {
    // A response beyond the range of doubles has no standard deviation.
    drawn.retain(|value| !value.is_nan());
    drawn.sort_by(f64::total_cmp);
    let at = |share: f64| (!drawn.is_empty()).then(|| quantile(&drawn, share));
    let [q5, q50, q95] = [0.05, 0.5, 0.95].map(|share| at(share).unwrap_or(f64::NAN));
    PriorStatistic {
        name: name.to_owned(),
        observed,
        q5,
        q50,
        q95,
    }
}

/// The statistics of a column of responses; none by default.
#[derive(Default)]
struct Statistics {
    names: Vec<String>,
    /// The number of classes whose shares are named; 0 for numbers.
    classes: usize,
}

impl Statistics {
    fn of(regression: &Regression, has_numbers: bool) -> Statistics {
        let classes = regression.response_levels();
        let names = match (has_numbers, classes.len()) {
            (false, _) => Vec::new(),
            (true, 0) => numbers(regression.family()),
            (true, _) => (classes.iter().take(MOST_CLASSES))
                .map(|class| format!("share of {class}"))
                .collect(),
        };
        Statistics {
            names,
            classes: classes.len(),
        }
    }

    fn values(&self, responses: &[f64]) -> Vec<f64> {
        let count = responses.len() as f64;
        let share = |of: f64| responses.iter().filter(|value| **value == of).count() as f64 / count;
        if self.classes > 0 {
            let classes = 0..self.names.len();
            return classes.map(|class| share(class as f64)).collect();
        }
        let mean = responses.iter().sum::<f64>() / count;
        let squares = responses.iter().map(|value| (value - mean).powi(2));
        let sd = (squares.sum::<f64>() / count).sqrt();
        let smallest = responses.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = responses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let all = [mean, sd, smallest, largest, share(0.0)];
        all.into_iter().take(self.names.len()).collect()
    }
}

fn numbers(family: Family) -> Vec<String> {
    let zeros = family.is_count().then_some("share of 0");
    let names = ["mean", "sd", "smallest", "largest"];
    names.into_iter().chain(zeros).map(str::to_owned).collect()
}
