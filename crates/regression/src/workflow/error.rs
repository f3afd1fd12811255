//! Every mistake that a fit can end in.

use lehr_file::FileError;
use lehr_infer::fit::FitError;
use lehr_infer::local::LocalDrawError;
use lehr_model::{BindError, PriorError, ProgramError};
use lehr_numeric::pareto::WeightError;
use lehr_report::ReportError;
use lehr_table::TableError;
use thiserror::Error;

use crate::error::RegressionError;
use crate::learn::error::LearnError;
use crate::saved::LooError;

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

impl From<LearnError> for Error {
    fn from(error: LearnError) -> Error {
        Error::Regression(error.into())
    }
}
