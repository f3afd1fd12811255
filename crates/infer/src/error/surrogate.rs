//! The reasons why a surrogate cannot be built, one sentence each.

use lehr_numeric::kmeans::ClusterError;

/// A surrogate that this model or table does not allow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurrogateError {
    /// The model or its table does not suit the surrogate; advice may follow in a second line.
    #[error("sl-dais: {0}")]
    Refusal(String),
    /// The posterior precision is not positive definite.
    #[error(
        "sl-dais: the log posterior has no maximum at the mode that was given\n  hint: run the optimiser longer"
    )]
    NotAMaximum,
    /// A saved surrogate whose parts do not fit each other.
    #[error(
        "sl-dais: the parts of the saved surrogate do not fit each other\n  hint: the file is damaged"
    )]
    Damaged,
    /// A saved surrogate that has no row in the table.
    #[error(transparent)]
    Unknown(#[from] UnknownSurrogate),
    /// The rows cannot be clustered.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The coreset cannot be drawn.
    #[error(transparent)]
    Coreset(#[from] CoresetError),
}

impl SurrogateError {
    pub(crate) fn refusal(problem: impl Into<String>) -> SurrogateError {
        SurrogateError::Refusal(problem.into())
    }
}

/// A name that no surrogate has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "surrogate: expected one of {known}, found {found:?}\n  hint: rand serves every likelihood"
)]
pub struct UnknownSurrogate {
    /// The unknown name.
    pub found: String,
    /// The known names.
    pub known: String,
}

/// A coreset that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CoresetError {
    /// The rows cannot be clustered.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Nothing to draw or to draw from.
    #[error(
        "coreset: expected at least one row and one draw, found {rows} rows and {size} draws\n  \
         hint: 256 draws are usual"
    )]
    Empty {
        /// Rows of the table.
        rows: usize,
        /// Draws asked for.
        size: usize,
    },
    /// A radius that is not a positive number.
    #[error("coreset: expected a positive radius, found {radius}\n  hint: 6 is usual")]
    Radius {
        /// The radius.
        radius: f64,
    },
}
