//! Why rows cannot be had.

use thiserror::Error;

/// Why a pass over all rows has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RowsError {
    /// Rows cannot be reached: where, what was expected, what was found.
    #[error("{0}")]
    Lost(String),
    /// The watcher wanted to stop.
    #[error("stopped")]
    Stopped,
}
