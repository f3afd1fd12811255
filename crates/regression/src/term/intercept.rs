//! The prior of an intercept.

use serde::{Deserialize, Serialize};

use crate::law::Law;

/// The prior of the intercept, and of which one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum InterceptLaw {
    /// Of the predictor's value where all common columns are at their means, less the centre.
    AtMeans(Law),
    /// Of the intercept itself, where all common columns are 0.
    AtZero(Law),
}
