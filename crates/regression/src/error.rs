//! Every mistake that making or applying a regression can find.

use lehr_learn::LearnError;
use lehr_model::BindError;
use thiserror::Error;

/// Why a regression could not be made of a formula, a family, priors and a table, or not be
/// applied to a table. Displayed as it is shown to users.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RegressionError {
    /// A formula, a prior or a table.
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
