//! The reasons why training failed or was not finished.

use std::path::{Path, PathBuf};

use lehr_file::FileError;
use lehr_numeric::batch::BatchError;
use lehr_rows::RowsError;

/// The reasons why training failed.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A batch that cannot be drawn.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A schedule that cannot be used.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A checkpoint that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Rows cannot be reached.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// Too many steps were not finite.
    #[error(
        "train: {bad} of the first {steps} steps were not finite, most often in {block:?}{met}\n  \
         hint: standardise the columns, start from the mode, or lower the learning rate"
    )]
    NotFinite {
        /// Steps skipped.
        bad: u64,
        /// Steps tried.
        steps: u64,
        /// The learned block whose gradient was not finite.
        block: String,
        /// The site and rows concerned, in words that follow a comma.
        met: String,
    },
    /// The watcher asked to stop.
    #[error("{doing}: stopped after {done}{}", resume_words(saved.as_deref()))]
    Stopped {
        /// The activity.
        doing: &'static str,
        /// Its progress, in words.
        done: String,
        /// The checkpoint from which it can be resumed.
        saved: Option<PathBuf>,
    },
}

fn resume_words(saved: Option<&Path>) -> String {
    saved.map_or_else(String::new, |path| {
        format!("; resume from {}", path.display())
    })
}

/// A schedule that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// A rate is not a positive number.
    #[error("schedule: expected a positive learning rate, found {rate}\n  hint: 0.001 is usual")]
    Rate {
        /// The rate.
        rate: f64,
    },
    /// The table is empty or does not start at step 0 and rise.
    #[error(
        "schedule: expected steps that rise from 0, found {steps:?}\n  \
         hint: give (first step, rate) pairs, the first at step 0"
    )]
    Steps {
        /// The steps of the table.
        steps: Vec<u64>,
    },
}
