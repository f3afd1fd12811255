//! A factor with the constants it learned from the table it was fitted to.

use serde::{Deserialize, Serialize};

use super::coded::CodedLevels;
use super::column::{ColumnValues, Lookup};
use super::error::BasisError;
use super::finite::check_finite;
use super::label::ColumnLabel;
use super::level::LevelSet;
use super::polynomial::Polynomial;
use super::splined::SplineColumns;
use crate::coded::LevelCoding;
use crate::expression::ColumnExpr;
use crate::factor::Factor;
use crate::syntax::quote_name;

/// A factor that yields the same columns for new rows as for the table it was fitted to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorBasis {
    factor: Factor,
    /// The expression that is computed first, with the means and scales in it as they were learned.
    expr: ColumnExpr,
    fitted: Constants,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Constants {
    Plain,
    Affine {
        mean: f64,
        scale: f64,
    },
    Poly(Polynomial),
    Spline(SplineColumns),
    Levels {
        column: String,
        levels: LevelSet,
        coding: LevelCoding,
    },
    Coded {
        column: String,
        coded: CodedLevels,
    },
}

impl FactorBasis {
    pub(super) fn new(factor: Factor, expr: ColumnExpr, fitted: Constants) -> Self {
        Self {
            factor,
            expr,
            fitted,
        }
    }

    /// The factor.
    pub fn factor(&self) -> &Factor {
        &self.factor
    }

    /// The column that the factor is without any computation, if it is one.
    pub(super) fn column(&self) -> Option<&str> {
        match (&self.fitted, &self.factor) {
            (Constants::Plain, Factor::Column(name)) => Some(name),
            _ => None,
        }
    }

    /// The names of its columns: `x`, `log(x)`, `poly(x, 2)[1]`, `color[red]`.
    pub fn column_names(&self) -> Vec<String> {
        self.column_labels()
            .into_iter()
            .map(|label| label.text)
            .collect()
    }

    /// The names, with the levels separate.
    pub fn column_labels(&self) -> Vec<ColumnLabel> {
        match &self.fitted {
            Constants::Plain | Constants::Affine { .. } => {
                vec![ColumnLabel::plain_text(self.factor.to_string())]
            }
            Constants::Poly(fitted) => (1..=fitted.alpha.len())
                .map(|degree| ColumnLabel::level_of(&self.factor.to_string(), degree.to_string()))
                .collect(),
            Constants::Spline(fitted) => (1..=fitted.column_count())
                .map(|place| ColumnLabel::level_of(&self.factor.to_string(), place.to_string()))
                .collect(),
            Constants::Levels {
                column,
                levels,
                coding,
            } => (levels
                .level_names()
                .into_iter()
                .skip(skipped_level(*coding)))
            .map(|level| ColumnLabel::level_of(&quote_name(column), level))
            .collect(),
            Constants::Coded { coded, .. } => coded.column_labels(),
        }
    }

    /// The columns for the rows of a table, one for each name.
    pub fn evaluate_columns(&self, columns: &Lookup<'_, '_>) -> Result<Vec<Vec<f64>>, BasisError> {
        let expr = &self.expr;
        match &self.fitted {
            Constants::Plain => Ok(vec![read_numbers(&self.factor, expr, columns)?]),
            Constants::Affine { mean, scale } => {
                let mut values = read_numbers(&self.factor, expr, columns)?;
                for value in &mut values {
                    *value = (*value - mean) / scale;
                }
                Ok(vec![values])
            }
            Constants::Poly(fitted) => {
                Ok(fitted.evaluate_powers(&read_numbers(&self.factor, expr, columns)?))
            }
            Constants::Spline(fitted) => {
                let values = read_numbers(&self.factor, expr, columns)?;
                fitted.evaluate_columns(&self.factor.to_string(), &values)
            }
            Constants::Levels { levels, coding, .. } => {
                let codes = self.level_codes(columns)?;
                let indicator = |level: u32| {
                    let row = |&code: &u32| f64::from(u8::from(code == level));
                    codes.iter().map(row).collect()
                };
                let kept = skipped_level(*coding) as u32..levels.len() as u32;
                Ok(kept.map(indicator).collect())
            }
            Constants::Coded { coded, .. } => Ok(coded.level_columns(&self.level_codes(columns)?)),
        }
    }

    /// All levels of a categorical basis, the one without a column included; empty for other bases.
    pub fn level_names(&self) -> Vec<String> {
        match &self.fitted {
            Constants::Levels { levels, .. } => levels.level_names(),
            Constants::Coded { coded, .. } => coded.column_names(),
            _ => Vec::new(),
        }
    }

    /// The level of each row, by its place in ascending order; empty if the basis is not
    /// categorical.
    ///
    /// With many levels this is much smaller than [`evaluate_columns`](Self::evaluate_columns). Refuses a level
    /// that was not in the table that was fitted.
    pub fn level_codes(&self, columns: &Lookup<'_, '_>) -> Result<Vec<u32>, BasisError> {
        let (column, levels) = match &self.fitted {
            Constants::Levels { column, levels, .. } => (column, levels),
            Constants::Coded { column, coded } => (column, &coded.levels),
            _ => return Ok(Vec::new()),
        };
        let found = columns(column).ok_or_else(|| BasisError::Unknown(column.clone()))?;
        levels.level_codes(column, found)
    }

    /// As [`FactorBasis::level_codes`], but by the place in the formula's order.
    pub fn column_ranks(&self, columns: &Lookup<'_, '_>) -> Result<Vec<u32>, BasisError> {
        let codes = self.level_codes(columns)?;
        let Constants::Coded { coded, .. } = &self.fitted else {
            return Ok(codes);
        };
        let ranks = coded.column_ranks();
        let rank = |code: u32| ranks[code as usize] as u32;
        Ok(codes.into_iter().map(rank).collect())
    }
}

/// How many levels at the front have no column.
fn skipped_level(coding: LevelCoding) -> usize {
    match coding {
        LevelCoding::Treatment => 1,
        LevelCoding::Full => 0,
    }
}

/// The finite values of an expression.
pub(super) fn read_numbers(
    factor: &Factor,
    expr: &ColumnExpr,
    columns: &Lookup<'_, '_>,
) -> Result<Vec<f64>, BasisError> {
    let text = expr
        .column_names()
        .into_iter()
        .find(|name| matches!(columns(name), Some(ColumnValues::Labels { .. })));
    if let Some(name) = text {
        return Err(BasisError::Text(name.to_owned()));
    }
    let values = expr.evaluate_columns(&|name| match columns(name)? {
        ColumnValues::Numbers(values) => Some(values),
        ColumnValues::Labels { .. } => None,
    })?;
    check_finite(&factor.to_string(), &values)?;
    Ok(values)
}
