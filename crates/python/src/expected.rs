//! Prior predictive quantiles of coefficients and responses, for Python.

use lehr::numeric::summary::quantile;
use lehr::regression::{NamedDraws, PriorPredictive, PriorStatistic};
use pyo3::PyResult;
use serde::Serialize;

use crate::after::to_json;

/// Draws of the prior, summarised.
#[derive(Serialize)]
pub(crate) struct Expected {
    rows: usize,
    coefficients: Vec<Quantiles>,
    response: Vec<PriorStatistic>,
}

#[derive(Serialize)]
struct Quantiles {
    name: String,
    q5: f64,
    q50: f64,
    q95: f64,
}

impl Expected {
    pub(crate) fn from_draws(drawn: PriorPredictive) -> Expected {
        let coefficient = |mut one: NamedDraws| {
            one.values.sort_by(f64::total_cmp);
            let at = |share| quantile(&one.values, share);
            Quantiles {
                q5: at(0.05),
                q50: at(0.5),
                q95: at(0.95),
                name: one.name.to_string(),
            }
        };
        Expected {
            rows: drawn.rows,
            coefficients: drawn.coefficients.into_iter().map(coefficient).collect(),
            response: drawn.statistics,
        }
    }

    pub(crate) fn to_json(&self) -> PyResult<String> {
        to_json(self)
    }
}
