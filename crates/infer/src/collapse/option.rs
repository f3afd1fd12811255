//! Options of a collapsed fit, and how it is refused.

use crate::error::FitError;

/// The method's name.
pub(crate) const NAME: &str = "collapse";
/// The effective share of the points from which draws are allotted by weight: what is left of the
/// weights is then rounding.
pub(crate) const EVEN: f64 = 0.95;

/// What a user may choose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wishes {
    /// Points of the hyperparameters.
    pub(crate) points: Option<usize>,
    /// How they are drawn.
    pub(crate) spreads: Spreads,
}

/// How hyperparameters are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spreads {
    /// At points along axes, by chains where those do not serve.
    #[default]
    Chosen,
    /// At points along axes, weighed.
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
