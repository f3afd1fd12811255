//! Penalised smooths `s(x)`: a line among the common columns, and splines whose weights are effects
//! with one spread.

mod learner;
mod plan;
mod reduced;
mod shape;

use lehr_formula::{CubicSpline, Expr, Penalised, SplineTerm};
use serde::{Deserialize, Serialize};

use crate::error::RegressionError;
use crate::source::Source;

pub(crate) use learner::SplineLearner;
pub(crate) use plan::{SplinePlan, SplineSites, spline_column};
pub(crate) use shape::SplineDraws;

/// A smooth as it was learnt of the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spline {
    /// `s(day)`.
    pub(crate) label: String,
    input: Expr,
    /// The common coefficient of its line.
    pub(crate) line: Option<String>,
    kind: Penalised,
    /// From the least to the largest value.
    pub(crate) range: [f64; 2],
    /// What the splines call 1, from the least value on: the range, or the period.
    span: f64,
    /// Over the fitted rows the functions have mean 0, no slope, mean square 1 (or less where hardly a
    /// row sees them), and are not correlated.
    functions: CubicSpline,
    /// The standard deviation of each function's weight where the spread is 1. Their squares add up to 1.
    roots: Vec<f64>,
    /// Whether there are functions that hardly any row sees.
    has_unseen: bool,
    /// The values of some rows.
    pub(crate) places: Vec<f64>,
}

impl Spline {
    /// The column, or what is computed of columns.
    pub(crate) fn input_name(&self) -> String {
        self.input.to_string()
    }

    /// The name of its spread.
    pub(crate) fn spread_name(&self) -> String {
        format!("sd({})", self.label)
    }

    /// How many functions have a weight.
    pub(crate) fn width(&self) -> usize {
        self.roots.len()
    }

    fn is_circle(&self) -> bool {
        self.kind == Penalised::Cc
    }

    /// All functions at a value.
    fn at(&self, value: f64) -> Vec<f64> {
        self.functions.at((value - self.range[0]) / self.span)
    }

    /// The model's columns for rows of a table, row after row, and how many rows lie outside the
    /// fitted range. On a circle none does.
    pub(crate) fn columns(
        &self,
        source: &Source<'_>,
    ) -> Result<(Vec<f64>, usize), RegressionError> {
        let values = source.evaluate(&self.input)?;
        let [low, high] = self.range;
        let is_outside = |value: &&f64| !self.is_circle() && !(low..=high).contains(*value);
        let outside = values.iter().filter(is_outside).count();
        let features = values.iter().flat_map(|value| self.at(*value)).collect();
        Ok((features, outside))
    }
}

/// What a formula asks for, without what only a table can tell.
struct Wish {
    label: String,
    input: Expr,
    line: Option<String>,
    kind: Penalised,
    period: Option<f64>,
    k: Option<usize>,
}

impl Wish {
    fn new(term: &SplineTerm) -> Wish {
        Wish {
            label: term.label(),
            input: term.input.clone(),
            line: term.line().map(|line| line.to_string()),
            kind: term.basis,
            period: term.period,
            k: term.k,
        }
    }
}
