//! Errors of fitting, saving, loading, predicting and scoring.

use lehr_file::FileError;
use lehr_infer::fit::FitError;
use lehr_infer::local::LocalDrawError;
use lehr_learn::LearnError;
use lehr_model::{BindError, PriorError, ProgramError};
use lehr_numeric::pareto::WeightError;
use lehr_regression::RegressionError;
use lehr_report::ReportError;
use lehr_rows::RowsError;
use lehr_table::TableError;
use thiserror::Error;

/// The reasons why a regression could not be fitted, saved, loaded, applied or scored. The display
/// form is the one that users see.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A mistake in the formula, the family, the priors or a table.
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
    /// Weights that do not allow leaving out a row.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// Local latents that cannot be drawn.
    #[error(transparent)]
    Locals(#[from] LocalDrawError),
    /// Rows that cannot be left out, or models that cannot be compared.
    #[error(transparent)]
    Loo(#[from] LooError),
    /// A request that only the fit of a formula can answer.
    #[error("{what}: expected the fit of a formula, found a model of another kind")]
    NotARegression {
        /// The request.
        what: &'static str,
    },
    /// A stored model that cannot be read.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A method that reads all rows again and again, of rows on disk.
    #[error(
        "{method}: expected rows in memory, found {rows} on disk\n  hint: sl-dais does not need them, or allow more \
         with --memory"
    )]
    RowsOnDisk {
        /// The method.
        method: &'static str,
        /// How many rows there are.
        rows: usize,
    },
    /// A table to score a fit on lacks the response.
    #[error(
        "evaluate: expected the response {response:?} in the table, found none\n  hint: lehr predict needs no response"
    )]
    NoResponse {
        /// The response.
        response: String,
    },
}

impl Error {
    /// The error as one of learning from a table.
    pub(crate) fn into_learn_error(self) -> LearnError {
        match self {
            Error::Regression(RegressionError::Learn(error)) => error,
            error => LearnError::Read(error.to_string()),
        }
    }
}

impl From<BindError> for Error {
    fn from(error: BindError) -> Error {
        Error::Regression(error.into())
    }
}

impl From<LearnError> for Error {
    fn from(error: LearnError) -> Error {
        Error::Regression(error.into())
    }
}

impl From<RowsError> for Error {
    fn from(error: RowsError) -> Error {
        match error {
            RowsError::Lost(words) => LearnError::Read(words).into(),
            RowsError::Stopped => LearnError::Stopped.into(),
        }
    }
}

/// The reasons why rows could not be left out.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LooError {
    /// Two models were scored on different rows.
    #[error(
        "compare: expected the same rows for every model, found {first} and {other}\n  hint: --missing drop may \
         leave out different rows; fill them, or leave the same ones out of the table"
    )]
    Rows {
        /// Rows of the first.
        first: u64,
        /// Rows of another.
        other: u64,
    },
    /// Two models have different responses.
    #[error(
        "compare: expected models of one response, found {first:?} and {other:?}\n  hint: densities of a \
         transformed response are on another scale"
    )]
    Responses {
        /// The response of the first.
        first: String,
        /// The response of another.
        other: String,
    },
    /// Two models do not score the same columns.
    #[error(
        "compare: expected models that score the same columns, found {first} and {other}\n  hint: what is seen \
         of a covariate with errors or gaps is scored together with the response, so write the same me(...) or \
         mi(...) in every model"
    )]
    Covariates {
        /// The term of the first.
        first: String,
        /// The term of another.
        other: String,
    },
    /// More folds than groups or rows.
    #[error("--folds: expected from 2 to {most} folds, found {found}")]
    Folds {
        /// The largest possible number.
        most: usize,
        /// The requested number.
        found: usize,
    },
}
