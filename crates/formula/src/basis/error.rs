//! The errors of turning a factor into numbers.

use crate::expression::EvaluateError;

/// The reasons why the columns of a table do not suit a factor.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BasisError {
    /// The table lacks a column.
    #[error("no column \"{0}\" in the table")]
    Unknown(String),
    /// An expression that cannot be computed.
    #[error(transparent)]
    Expression(#[from] EvaluateError),
    /// A text column where numbers are needed.
    #[error("column \"{0}\" expects numbers, found text")]
    Text(String),
    /// A column of numbers where the basis was fitted on text.
    #[error("column \"{0}\" expects text, as in the table that was fitted, found numbers")]
    Numbers(String),
    /// A table without rows.
    #[error("{0}: expects at least one row, found none")]
    Empty(String),
    /// A missing or infinite value.
    #[error(
        "{factor}: expects finite numbers, found {value} in row {row}{}",
        computed_hint(factor)
    )]
    NotFinite {
        /// The factor that was computed.
        factor: String,
        /// The row, counted from 1.
        row: usize,
        /// The value that was found.
        value: f64,
    },
    /// A column without variation, which cannot be scaled.
    #[error("{factor}: expects values that differ, found {value} in every row")]
    Constant {
        /// The factor.
        factor: String,
        /// The only value.
        value: f64,
    },
    /// Too few distinct values for a polynomial.
    #[error(
        "{factor}: degree {degree} expects more than {degree} distinct values, found {distinct}"
    )]
    Degree {
        /// The factor.
        factor: String,
        /// The degree that was asked for.
        degree: usize,
        /// How many values there are.
        distinct: usize,
    },
    /// Too few distinct values for the knots of a spline.
    #[error(
        "{factor}: df = {df} expects more than {df} distinct values without large ties, found \
         {distinct} distinct\n  \
         hint: write a smaller df, or C(x) for an effect of each value"
    )]
    Knots {
        /// The factor.
        factor: String,
        /// How many columns were asked for.
        df: usize,
        /// How many values there are.
        distinct: usize,
    },
    /// A value where B-splines are not defined.
    #[error(
        "{factor}: expects values from {low} to {high}, the range that was fitted, found \
         {value}\n  \
         hint: leave such rows out, or fit ns(...) or s(...), which go on as lines"
    )]
    Outside {
        /// The factor.
        factor: String,
        /// The least value that was fitted.
        low: f64,
        /// The largest.
        high: f64,
        /// The value that was found.
        value: f64,
    },
    /// A categorical column with a single level, which the intercept already represents.
    #[error("column \"{column}\" expects two levels or more, found only \"{level}\"")]
    OneLevel {
        /// The column.
        column: String,
        /// Its only level.
        level: String,
    },
    /// A level that the formula names and no row has.
    #[error(
        "column \"{column}\": no row has the level \"{level}\", which the formula names\n  hint: {hint}"
    )]
    AbsentLevel {
        /// The column.
        column: String,
        /// The level.
        level: String,
        /// The nearest level, or the list of all.
        hint: String,
    },
    /// A level that rows have and a list of levels does not.
    #[error(
        "column \"{column}\": the level \"{level}\" is not among levels = c(...)\n  \
         hint: name every level, or leave such rows out"
    )]
    UnnamedLevel {
        /// The column.
        column: String,
        /// The level.
        level: String,
    },
    /// Levels that were not in the table that was fitted.
    #[error(
        "column \"{column}\": {} not in the table that was fitted{hint}",
        name_levels(levels)
    )]
    UnseenLevel {
        /// The column.
        column: String,
        /// The new levels.
        levels: Vec<String>,
        /// A line that names the nearest level, or says what to do.
        hint: String,
    },
}

/// `the level "a" was`, `the levels "a", "b" and 3 more were`
fn name_levels(levels: &[String]) -> String {
    const SHOWN: usize = 5;
    let quoted = levels
        .iter()
        .take(SHOWN)
        .map(|level| format!("\"{level}\""));
    let shown = quoted.collect::<Vec<_>>().join(", ");
    match levels.len() {
        0 | 1 => format!("the level {shown} was"),
        count if count > SHOWN => format!("the levels {shown} and {} more were", count - SHOWN),
        _ => format!("the levels {shown} were"),
    }
}

/// A hint for values that were computed rather than read from the table.
fn computed_hint(factor: &str) -> &'static str {
    if factor.contains('(') && !factor.starts_with("C(") {
        "\n  hint: look for a logarithm, a root or a division that is not defined there"
    } else {
        ""
    }
}

impl BasisError {
    /// The same error with its row number moved by `first` rows.
    pub(super) fn shift_rows(mut self, first: usize) -> Self {
        if let Self::NotFinite { row, .. } = &mut self {
            *row += first;
        }
        self
    }
}
