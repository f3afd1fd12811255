//! Splines with the knots that were learned: `bs(x, df = 6)`, `ns(x, df = 4)`.

use serde::{Deserialize, Serialize};

use super::error::BasisError;
use crate::spline::{BSpline, CubicSpline, KnotSample};
use crate::splined::{RegressionSpline, SplineKind};

/// The functions whose values are the columns. The first function is left out: all of them add up
/// to 1, which the intercept represents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SplineColumns {
    B(BSpline),
    Natural(CubicSpline),
}

impl SplineColumns {
    /// How many columns there are.
    pub(super) fn column_count(&self) -> usize {
        match self {
            Self::B(splines) => splines.count() - 1,
            Self::Natural(splines) => splines.width() - 1,
        }
    }

    /// The columns at new values. Refuses values outside the range of B-splines, whose polynomials
    /// diverge there.
    pub(super) fn evaluate_columns(
        &self,
        factor: &str,
        values: &[f64],
    ) -> Result<Vec<Vec<f64>>, BasisError> {
        if let Self::B(splines) = self {
            let [low, high] = splines.range();
            if let Some(&value) = values.iter().find(|value| !(low..=high).contains(value)) {
                return Err(BasisError::Outside {
                    factor: factor.to_owned(),
                    low,
                    high,
                    value,
                });
            }
        }
        let mut columns = vec![Vec::with_capacity(values.len()); self.column_count()];
        for value in values {
            let row = match self {
                Self::B(splines) => splines.basis_values(*value),
                Self::Natural(splines) => splines.values_at(*value),
            };
            for (column, one) in columns.iter_mut().zip(&row[1..]) {
                column.push(*one);
            }
        }
        Ok(columns)
    }
}

/// Splines whose knots are being chosen.
#[derive(Clone, Debug)]
pub(super) struct KnotLearner {
    factor: RegressionSpline,
    sample: KnotSample,
}

impl KnotLearner {
    pub(super) fn new(factor: &RegressionSpline) -> Self {
        Self {
            factor: factor.clone(),
            sample: KnotSample::default(),
        }
    }

    pub(super) fn add_values(&mut self, values: &[f64]) {
        for value in values {
            self.sample.push(*value);
        }
    }

    /// Knots are at quantiles of the rows, as in R's `splines`.
    pub(super) fn learnt_columns(&self) -> Result<SplineColumns, BasisError> {
        let df = self.factor.df;
        let range = self.sample.range();
        let inside = match self.factor.kind {
            SplineKind::B { degree } => df - degree,
            SplineKind::Natural => df - 1,
        };
        let knots = self.sample.quantiles(inside);
        let mut all = vec![range[0]];
        all.extend(&knots);
        all.push(range[1]);
        let distinct = self.sample.distinct_values().len();
        if distinct <= df || all.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(BasisError::Knots {
                factor: self.factor.to_string(),
                df,
                distinct,
            });
        }
        Ok(match self.factor.kind {
            SplineKind::B { degree } => {
                SplineColumns::B(BSpline::with_knots(degree, &knots, range))
            }
            SplineKind::Natural => SplineColumns::Natural(CubicSpline::natural(&all)),
        })
    }
}
