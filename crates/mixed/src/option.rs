//! The options of a fit, and its error.

/// The effective share of the points above which draws are allotted by weight, so that only
/// rounding remains of the weights.
pub(crate) const EVEN: f64 = 0.95;

/// The options of a fit.
#[derive(Clone, Copy, Debug, Default)]
pub struct MixedOptions {
    /// The number of weighted points of the hyperparameters; by default as many as they need.
    pub points: Option<usize>,
    /// The way in which the hyperparameters are drawn.
    pub hyperparameters: HyperparameterMethod,
    /// The number of draws.
    pub draws: usize,
    /// The number that the user requested, if any.
    pub asked_draws: Option<usize>,
    /// The most numbers of all draws together, if moments may replace the draws of a site.
    pub most_numbers: Option<usize>,
    /// The seed.
    pub seed: u64,
}

/// The way in which hyperparameters are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HyperparameterMethod {
    /// At points along axes, or by chains if points are not accurate enough.
    #[default]
    Chosen,
    /// At weighted points along axes.
    Points,
    /// By Markov chains.
    Chains,
}

/// The reason why the effects of a density cannot be integrated out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}\n  hint: {hint}")]
pub struct MixedError {
    /// The problem, as a clause.
    pub problem: String,
    /// Advice.
    pub hint: &'static str,
}

impl MixedError {
    pub(crate) fn new(problem: impl Into<String>, hint: &'static str) -> MixedError {
        MixedError {
            problem: problem.into(),
            hint,
        }
    }

    /// The error of a density that is not finite where its effects are drawn.
    pub(crate) fn improper(problem: &str) -> MixedError {
        MixedError::new(problem, "give the spreads proper priors")
    }
}
