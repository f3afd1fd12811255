//! Options of predictions and of lists of coefficients.

use serde::{Deserialize, Serialize};

/// Whether random effects are part of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictionLevel {
    /// They are: each row is predicted for its own groups.
    Groups,
    /// They are not: every row is predicted for a group whose effects are 0.
    Population,
}

/// Whether the random effects of single groups are among the coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Only their standard deviations and correlations.
    Leave,
    /// Each effect of each group, as `site[3]` or `patient[3, dose]`.
    Include,
}

impl From<bool> for Groups {
    fn from(included: bool) -> Groups {
        if included {
            Groups::Include
        } else {
            Groups::Leave
        }
    }
}
