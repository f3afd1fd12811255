//! The value of an expression in every row.

use super::{ColumnExpr, Operation};

/// The reasons why an expression cannot be computed on a table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluateError {
    /// The table lacks a column.
    #[error("no column \"{0}\" in the table")]
    Unknown(String),
    /// Columns of one expression have different lengths.
    #[error("{0}: expects columns of one length, found several")]
    Lengths(String),
    /// A statistic of the whole table where only single rows are read.
    #[error("{0} expects the table that was fitted, and cannot be computed row by row")]
    Unlearnt(String),
}

/// A value during evaluation: constants stay scalars until they are combined with a column.
enum ScalarOrRows {
    Scalar(f64),
    Rows(Vec<f64>),
}

impl Operation {
    fn apply_numbers(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            // powf may differ from the product in the last bit.
            Self::Power if right == 2.0 => left * left,
            Self::Power => left.powf(right),
            // A missing number is neither above nor below any other.
            Self::Compare(_) if left.is_nan() || right.is_nan() => f64::NAN,
            Self::Compare(comparison) => f64::from(u8::from(comparison.holds_between(left, right))),
        }
    }
}

impl ColumnExpr {
    /// Its value in every row. `columns` looks a column up by name.
    ///
    /// Refuses unknown columns and columns of different lengths; a constant has one row.
    /// Values outside a function's domain are NaN or infinite, as in floating point.
    pub fn evaluate_columns<'a>(
        &self,
        columns: &dyn Fn(&str) -> Option<&'a [f64]>,
    ) -> Result<Vec<f64>, EvaluateError> {
        match self.evaluate_value(columns)? {
            ScalarOrRows::Scalar(value) => Ok(vec![value]),
            ScalarOrRows::Rows(rows) => Ok(rows),
        }
    }

    fn evaluate_value<'a>(
        &self,
        columns: &dyn Fn(&str) -> Option<&'a [f64]>,
    ) -> Result<ScalarOrRows, EvaluateError> {
        Ok(match self {
            Self::Number(value) => ScalarOrRows::Scalar(*value),
            Self::Column(name) => ScalarOrRows::Rows(
                columns(name)
                    .ok_or_else(|| EvaluateError::Unknown(name.clone()))?
                    .to_vec(),
            ),
            Self::Negative(inner) => inner.evaluate_value(columns)?.map(|value| -value),
            Self::Standard(..) => return Err(EvaluateError::Unlearnt(self.to_string())),
            Self::Call(function, inner) => inner
                .evaluate_value(columns)?
                .map(|value| function.apply_to(value)),
            Self::Binary(operation, left, right) => {
                let (left, right) = (
                    left.evaluate_value(columns)?,
                    right.evaluate_value(columns)?,
                );
                combine_values(*operation, left, right)
                    .ok_or_else(|| EvaluateError::Lengths(self.to_string()))?
            }
        })
    }
}

impl ScalarOrRows {
    fn map(self, apply: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Scalar(value) => Self::Scalar(apply(value)),
            Self::Rows(mut rows) => {
                for value in &mut rows {
                    *value = apply(*value);
                }
                Self::Rows(rows)
            }
        }
    }
}

/// Combines two values row by row; `None` if their lengths differ.
fn combine_values(
    operation: Operation,
    left: ScalarOrRows,
    right: ScalarOrRows,
) -> Option<ScalarOrRows> {
    match (left, right) {
        (left, ScalarOrRows::Scalar(right)) => {
            Some(left.map(|left| operation.apply_numbers(left, right)))
        }
        (ScalarOrRows::Scalar(left), right) => {
            Some(right.map(|right| operation.apply_numbers(left, right)))
        }
        (ScalarOrRows::Rows(mut left), ScalarOrRows::Rows(right)) => {
            for (left, right) in left.iter_mut().zip(&right) {
                *left = operation.apply_numbers(*left, *right);
            }
            (left.len() == right.len()).then_some(ScalarOrRows::Rows(left))
        }
    }
}
