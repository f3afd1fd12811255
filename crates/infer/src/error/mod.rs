//! The errors of fits, for all modules, so that none of them depends on another for its error.

mod improper;
mod setting;
mod start;
mod surrogate;
mod train;

pub use improper::Improper;
pub use setting::{SettingError, UnknownMethod};
pub use start::StartError;
pub use surrogate::{CoresetError, SurrogateError, UnknownSurrogate};
pub use train::{ScheduleError, TrainError};

use lehr_file::FileError;
use lehr_numeric::batch::BatchError;
use lehr_numeric::pareto::WeightError;
use lehr_rows::RowsError;

/// The reasons why a fit failed.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Training failed.
    #[error(transparent)]
    Train(TrainError),
    /// The surrogate cannot be built.
    #[error(transparent)]
    Surrogate(#[from] SurrogateError),
    /// A batch that cannot be drawn.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The weights of the draws cannot be smoothed.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// A flat prior without a proper posterior.
    #[error(transparent)]
    Improper(#[from] Improper),
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A method that is not known.
    #[error(transparent)]
    Method(#[from] UnknownMethod),
    /// A setting that the method does not have.
    #[error(transparent)]
    Name(#[from] SettingError),
    /// Rows cannot be reached.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// The stored sampler of a fit cannot be read.
    #[error(
        "fit: what the fit stored of itself cannot be read: {problem}\n  hint: the file is damaged: fit again"
    )]
    Stored {
        /// The problem.
        problem: String,
    },
    /// A setting that cannot work.
    #[error("{method}: {problem}\n  hint: {hint}")]
    Setting {
        /// The method.
        method: &'static str,
        /// The problem.
        problem: String,
        /// Advice.
        hint: String,
    },
}

impl From<TrainError> for FitError {
    fn from(error: TrainError) -> FitError {
        match error {
            TrainError::Rows(lost) => FitError::Rows(lost),
            other => FitError::Train(other),
        }
    }
}
