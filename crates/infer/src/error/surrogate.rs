//! The reasons why a surrogate cannot be built, one sentence each.

use lehr_density::ResponseKind;

use lehr_numeric::kmeans::ClusterError;

/// A surrogate that this model or table does not allow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurrogateError {
    /// No rows were asked for.
    #[error("sl-dais: 0 surrogate rows were asked for, but {kind} needs at least 1")]
    NoRows {
        /// Which surrogate.
        kind: &'static str,
    },
    /// More rows were asked for than there are.
    #[error("sl-dais: {asked} surrogate rows were asked for, but the table has {rows}")]
    TooManyRows {
        /// Rows asked for.
        asked: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// Two labels were expected and the response has others.
    #[error(
        "sl-dais: {kind} needs a binary response, but {response:?} is {found}\n  \
         hint: rand, taylor and nn serve every likelihood"
    )]
    NotBinary {
        /// Which surrogate.
        kind: &'static str,
        /// The observed column.
        response: String,
        /// The kind of its values.
        found: ResponseKind,
    },
    /// One response was expected and there are more, or none.
    #[error(
        "sl-dais: {kind} needs one binary response, but the model observes {found}\n  \
         hint: rand, taylor and nn serve every likelihood"
    )]
    Responses {
        /// Which surrogate.
        kind: &'static str,
        /// The observed columns.
        found: String,
    },
    /// Levels have no mean.
    #[error(
        "sl-dais: {kind} takes means of covariates, but the model reads {column:?} as an index\n  \
         hint: rand± keeps rows as they are"
    )]
    Index {
        /// Which surrogate.
        kind: &'static str,
        /// The index column.
        column: String,
    },
    /// There are no numbers to cluster.
    #[error(
        "sl-dais: {kind} clusters numeric covariates, but the model reads none\n  hint: rand serves every model"
    )]
    NoCovariates {
        /// Which surrogate.
        kind: &'static str,
    },
    /// Latents of rows were expected.
    #[error(
        "sl-dais: {kind} is for models whose rows have latents of their own, but these have \
         none\n  \
         hint: rand and taylor serve every likelihood"
    )]
    NoLocals {
        /// Which surrogate.
        kind: &'static str,
    },
    /// Rows with local latents need another method.
    #[error("sl-dais: a surrogate has no local latents, but the model gives each row {site:?}")]
    Locals {
        /// The first local site.
        site: String,
    },
    /// There is no mode at which to expand.
    #[error("sl-dais: {what} needs the posterior's mode, but none was computed")]
    NoMode {
        /// The component that needs it.
        what: String,
    },
    /// Matched weights were requested for another surrogate.
    #[error(
        "sl-dais: matched weights are for surrogates that learn theirs from the mode on, but the surrogate is {kind}"
    )]
    Unmatched {
        /// Which surrogate.
        kind: &'static str,
    },
    /// The posterior precision is not positive definite.
    #[error(
        "sl-dais: the log posterior has no maximum at the mode that was given\n  hint: run the optimiser longer"
    )]
    NotAMaximum,
    /// A saved surrogate of another model.
    #[error("sl-dais: the saved surrogate has columns {saved}, but the model reads {read}")]
    Columns {
        /// The columns saved.
        saved: String,
        /// The columns of the model.
        read: String,
    },
    /// A saved surrogate whose parts do not fit each other.
    #[error(
        "sl-dais: the parts of the saved surrogate do not fit each other\n  hint: the file is damaged"
    )]
    Damaged,
    /// A saved surrogate of a model with other latents.
    #[error(
        "sl-dais: the saved surrogate is a function of {saved} numbers, but the model has {found} latents"
    )]
    Latents {
        /// The latents it was made for.
        saved: usize,
        /// The latents of the model.
        found: usize,
    },
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
