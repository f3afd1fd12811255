//! The errors of making or applying a regression.

use lehr_learn::LearnError;
use lehr_model::BindError;
use thiserror::Error;

/// The reasons why a regression cannot be made from a formula, a family, priors and a table, or
/// cannot be applied to a table. The display form is the one that users see.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RegressionError {
    /// A mistake in a formula, a prior or a table.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// No family of that name.
    #[error("no family {name:?}\n  hint: {hint}")]
    Family {
        /// The name.
        name: String,
        /// The nearest name, or all of them.
        hint: String,
    },
    /// A model that cannot be bound to the design.
    #[error(transparent)]
    Bind(#[from] BindError),
}
