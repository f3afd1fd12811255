//! The prior of an intercept.

use serde::{Deserialize, Serialize};

use crate::law::Law;

/// The prior of the intercept, and the point to which it refers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum InterceptLaw {
    /// On the predictor at the means of all columns of the fixed effects, less the centre.
    AtMeans(Law),
    /// On the intercept itself, at which all columns of the fixed effects are 0.
    AtZero(Law),
}
