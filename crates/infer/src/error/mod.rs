//! Why a fit could not be made: the errors of all modules, so that none of them needs another for its error.

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

use lehr_density::RowsLost;
use lehr_file::FileError;
use lehr_numeric::batch::BatchError;
use lehr_numeric::pareto::WeightError;

/// A fit that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The surrogate cannot be built.
    #[error(transparent)]
    Surrogate(#[from] SurrogateError),
    /// A batch that cannot be drawn.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The weights of the draws cannot be judged.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// A flat prior under which there is no posterior.
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
    /// Rows that are elsewhere cannot be reached.
    #[error("{0}")]
    Rows(String),
    /// What a fit stored of itself cannot be read.
    #[error(
        "fit: what the fit stored of itself cannot be read: {problem}\n  hint: the file is damaged: fit again"
    )]
    Stored {
        /// What is wrong.
        problem: String,
    },
    /// A setting that cannot work.
    #[error("{method}: {problem}\n  hint: {hint}")]
    Setting {
        /// The method.
        method: &'static str,
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    },
}

impl From<RowsLost> for FitError {
    fn from(lost: RowsLost) -> FitError {
        FitError::Rows(lost.0)
    }
}
