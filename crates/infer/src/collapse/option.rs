//! Options of a collapsed fit, and its errors.

use crate::error::FitError;

/// The method's name.
pub(crate) const NAME: &str = "collapse";
/// The effective share of the points above which draws are allotted by weight, so that only
/// rounding remains of the weights.
pub(crate) const EVEN: f64 = 0.95;

/// The user's settings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes {
    /// Points of the hyperparameters.
    pub(crate) points: Option<usize>,
    /// The way in which they are drawn.
    pub(crate) spreads: Spreads,
}

/// The way in which hyperparameters are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spreads {
    /// At points along axes, or by chains if points are not accurate enough.
    #[default]
    Chosen,
    /// At weighted points along axes.
    Points,
    /// By Markov chains.
    Chains,
}

/// The error of a density that cannot be collapsed.
pub(crate) fn refused(problem: impl Into<String>, hint: &str) -> FitError {
    FitError::Setting {
        method: NAME,
        problem: problem.into(),
        hint: hint.into(),
    }
}
