//! Why a start cannot be made.

use lehr_numeric::batch::BatchError;

use super::TrainError;

/// A start that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A batch that cannot be drawn.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The search was stopped, or could not be saved.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The model does not allow it.
    #[error("start: {problem}\n  hint: {hint}")]
    Refusal {
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    },
}
