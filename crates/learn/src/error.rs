//! Errors in formulas, priors and tables.

use lehr_formula::{BasisError, FormulaError};
use thiserror::Error;

/// The reasons why a formula cannot be learned from a table or applied to one. Rows count from 1.
/// The display form is the one that users see.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A mistake in a formula or a prior, with its place in the text.
    #[error("{}", error.render(source_text))]
    Formula {
        /// The mistake and its place.
        error: FormulaError,
        /// The text of the formula or prior.
        source_text: String,
    },
    /// The table has no rows.
    #[error(
        "table: expected at least one row, found none\n  hint: there is nothing below the names of the columns"
    )]
    NoRows,
    /// Every row of the table was left out.
    #[error(
        "table: expected at least one row, found none: all {dropped} have a missing value\n  hint: leave \
         columns that are seldom filled out of the formula"
    )]
    AllMissing {
        /// The rows.
        dropped: usize,
    },
    /// The observer stopped the reading.
    #[error("fit: stopped before it began, nothing is saved")]
    Stopped,
    /// The table could not be read to its end; the reader's own message.
    #[error("{0}")]
    Read(String),
    /// A required column does not exist.
    #[error("no column {name:?} in the table\n  hint: {hint}")]
    UnknownColumn {
        /// The column.
        name: String,
        /// The nearest name, or advice.
        hint: String,
    },
    /// A fault in a column; `at` is `column "y"` or `column "y", row 3`.
    #[error(
        "{at}: expected {expected}, found {found}{}{hint}",
        if hint.is_empty() { "" } else { "\n  hint: " }
    )]
    Column {
        /// The place.
        at: String,
        /// The expected value.
        expected: String,
        /// The value that was found.
        found: String,
        /// Advice; may be empty.
        hint: String,
    },
    /// A formula and a family that are incompatible.
    #[error("{family}: expected {expected}, found {found}\n  hint: {hint}")]
    Mismatch {
        /// The family.
        family: String,
        /// The requirement of the family.
        expected: &'static str,
        /// The part of the formula that violates it.
        found: String,
        /// Advice.
        hint: &'static str,
    },
    /// A term that cannot be turned into numbers.
    #[error(transparent)]
    Basis(#[from] BasisError),
}

impl LearnError {
    /// A fault in a column, a term or an option; `at` names it, and the advice may be empty.
    pub fn column(
        at: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        hint: impl Into<String>,
    ) -> LearnError {
        LearnError::Column {
            at: at.into(),
            expected: expected.into(),
            found: found.into(),
            hint: hint.into(),
        }
    }

    /// A formula that a family does not suit.
    pub fn mismatch(
        family: impl Into<String>,
        expected: &'static str,
        found: impl Into<String>,
        hint: &'static str,
    ) -> LearnError {
        LearnError::Mismatch {
            family: family.into(),
            expected,
            found: found.into(),
            hint,
        }
    }
}

/// The first names of a list, in quotes.
pub fn list_names(names: &[String]) -> String {
    let shown = names.iter().take(5).map(|name| format!("{name:?}"));
    let shown: Vec<String> = shown.collect();
    match names.len().saturating_sub(5) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
