//! Every mistake that making or using a regression can find.

use lehr_file::FileError;
use lehr_formula::{BasisError, FormulaError};
use lehr_infer::fit::FitError;
use lehr_infer::local::LocalDrawError;
use lehr_model::{BindError, PriorError, ProgramError};
use lehr_numeric::pareto::WeightError;
use lehr_report::ReportError;
use lehr_table::TableError;
use thiserror::Error;

use crate::saved::LooError;

/// Why a regression could not be made of a formula, a family, priors and a table, or not be
/// applied to a table. Rows count from 1. Displayed as it is shown to users.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RegressionError {
    /// A formula or a prior, with a caret into its text.
    #[error("{}", error.render(source_text))]
    Formula {
        /// What is wrong and where.
        error: FormulaError,
        /// The text it points into.
        source_text: String,
    },
    /// No family of that name.
    #[error("no family {name:?}\n  hint: {hint}")]
    Family {
        /// The name.
        name: String,
        /// The nearest name, or all of them.
        hint: String,
    },
    /// The table has no rows.
    #[error(
        "table: expected at least one row, found none\n  hint: there is nothing below the names of the columns"
    )]
    NoRows,
    /// Every row of the table was left out.
    #[error(
        "table: expected at least one row, found none: all {dropped} have a missing value\n  hint: leave columns that are seldom filled out of the formula"
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
        family: &'static str,
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
    /// A model that cannot be bound to the design.
    #[error(transparent)]
    Bind(#[from] BindError),
}

fn hinted(hint: &str) -> String {
    match hint {
        "" => String::new(),
        _ => format!("\n  hint: {hint}"),
    }
}

/// Why a regression could not be fitted, saved, loaded, applied or scored. Displayed as it is
/// shown to users.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The formula, the family, the priors or a table.
    #[error(transparent)]
    Regression(#[from] RegressionError),
    /// The fit.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A saved fit that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A table that cannot be made.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A page or a file of draws that cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A prior that cannot be drawn from.
    #[error(transparent)]
    Prior(#[from] PriorError),
    /// The posterior was saved without its model.
    #[error(
        "the fit: expected the model in the file, found none\n  hint: bind a Model, which is stored with its fits"
    )]
    NoModel,
    /// Weights by which a row cannot be left out.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// Rows whose own latents cannot be drawn.
    #[error(transparent)]
    Locals(#[from] LocalDrawError),
    /// Rows that cannot be left out, or models that cannot be compared.
    #[error(transparent)]
    Loo(#[from] LooError),
    /// Something that only a formula's fit can tell.
    #[error("{what}: expected the fit of a formula, found a model of another kind")]
    NotARegression {
        /// What was asked for.
        what: &'static str,
    },
    /// A stored model that cannot be read.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A table to score a fit on lacks the response.
    #[error(
        "evaluate: expected the response {response:?} in the table, found none\n  hint: lehr predict needs no response"
    )]
    NoResponse {
        /// The response.
        response: String,
    },
}

impl From<BindError> for Error {
    fn from(error: BindError) -> Error {
        Error::Regression(error.into())
    }
}
