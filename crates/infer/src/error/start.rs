//! The reasons why a start fails.

use lehr_numeric::batch::BatchError;
use lehr_rows::RowsError;

use super::TrainError;

/// The reasons why a start fails.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The search was stopped, or could not be saved.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The model does not allow it.
    #[error("start: {problem}\n  hint: {hint}")]
    Refusal {
        /// The problem.
        problem: String,
        /// Advice.
        hint: String,
    },
}

impl From<BatchError> for StartError {
    fn from(error: BatchError) -> StartError {
        StartError::Train(error.into())
    }
}

impl From<RowsError> for StartError {
    fn from(lost: RowsError) -> StartError {
        StartError::Train(lost.into())
    }
}
