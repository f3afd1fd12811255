//! Mistakes in formulas, priors and tables.

use lehr_formula::{BasisError, FormulaError};
use thiserror::Error;

/// Why a formula cannot be learnt from a table or applied to one. Rows count from 1. Displayed as it
/// is shown to users.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A formula or a prior, with a caret into its text.
    #[error("{}", error.render(source_text))]
    Formula {
        /// What is wrong and where.
        error: FormulaError,
        /// The text it points into.
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
    /// Whoever watched wanted the reading to stop.
    #[error("fit: stopped before it began, nothing is saved")]
    Stopped,
    /// The table could not be read to its end; the reader's own words.
    #[error("{0}")]
    Read(String),
    /// A column that is read is not there.
    #[error("no column {name:?} in the table\n  hint: {hint}")]
    UnknownColumn {
        /// The column.
        name: String,
        /// The nearest name, or what to do.
        hint: String,
    },
    /// Something wrong with a column; `at` is `column "y"` or `column "y", row 3`.
    #[error("{at}: expected {expected}, found {found}{}", hinted(hint))]
    Column {
        /// The place.
        at: String,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
        /// What to do; may be empty.
        hint: String,
    },
    /// A formula and a family that do not go together.
    #[error("{family}: expected {expected}, found {found}\n  hint: {hint}")]
    Mismatch {
        /// The family.
        family: String,
        /// What the family expects of the formula.
        expected: &'static str,
        /// What the formula says.
        found: String,
        /// What to do.
        hint: &'static str,
    },
    /// A term that cannot be turned into numbers.
    #[error(transparent)]
    Basis(#[from] BasisError),
}

impl LearnError {
    /// Something wrong with a column, in words that are there already.
    pub fn column(at: &str, expected: &str, found: &str, hint: &str) -> LearnError {
        LearnError::Column {
            at: at.to_owned(),
            expected: expected.to_owned(),
            found: found.to_owned(),
            hint: hint.to_owned(),
        }
    }
}

fn hinted(hint: &str) -> String {
    match hint {
        "" => String::new(),
        _ => format!("\n  hint: {hint}"),
    }
}

/// The first names of a list, in quotes.
pub fn list_names(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(5)
        .map(|name| format!("{name:?}"))
        .collect();
    match names.len().saturating_sub(5) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
