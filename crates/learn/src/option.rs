//! The treatment of levels and groups that the fitted table did not have.

use serde::{Deserialize, Serialize};

/// What is to be done with groups that the fitted table did not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewLevels {
    /// They are an error that names them.
    Refuse,
    /// Their effects are drawn from the distribution of the groups' effects.
    Sample,
    /// As with `Sample`; and a level of a factor that the fitted table did not have is taken for
    /// the factor's first level.
    Reference,
}
