//! The effects at a θ nearby.

use super::best::State;
use super::collapsed::{Detail, Evaluated};
use super::cross::Effects;

/// Responses serve up to this far.
const FAR: f64 = 0.7;

/// Where the effects are at a θ nearby, from which a search for them starts.
#[derive(Clone, Default)]
pub(super) struct Near {
    theta: Vec<f64>,
    pub(super) state: Option<State>,
    /// How their mean moves with each entry of θ.
    pub(super) responses: Vec<Effects>,
}

impl Near {
    /// The effects at an evaluated θ.
    pub(super) fn of(theta: &[f64], at: &Evaluated) -> Near {
        match &at.detail {
            Detail::Normal(_) => Near::default(),
            Detail::Other(other) => Near {
                theta: theta.to_vec(),
                state: Some(other.state.clone()),
                responses: Vec::new(),
            },
        }
    }

    /// The Gaussian nearby with its mean moved to where it would be at θ.
    pub(super) fn start(&self, theta: &[f64]) -> Option<State> {
        let mut state = self.state.clone()?;
        let changes = theta.iter().zip(&self.theta).map(|(new, old)| new - old);
        if changes.clone().all(|change| change.abs() < FAR) {
            for (change, response) in changes.zip(&self.responses) {
                state.mean.add(change, response);
            }
        }
        Some(state)
    }
}
