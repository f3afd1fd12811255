//! The errors of reading rows.

use thiserror::Error;

/// The reasons why a pass over all rows has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RowsError {
    /// Rows cannot be reached. The message says where, what was expected and what was found.
    #[error("{0}")]
    Lost(String),
    /// The observer stopped the pass.
    #[error("stopped")]
    Stopped,
}
