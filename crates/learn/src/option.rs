//! The treatment of levels and groups that the fitted table did not have.

use serde::{Deserialize, Serialize};

/// The treatment of groups that the fitted table did not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewLevels {
    /// They are an error that names them.
    Refuse,
    /// Their effects are drawn from the distribution of the groups' effects.
    Sample,
    /// As with `Sample`, and an unknown level of a factor is replaced by the factor's first level.
    Reference,
}
