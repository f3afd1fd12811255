//! The expansion of the log likelihood at the posterior's mode, from one pass over the table.

use serde::{Deserialize, Serialize};

/// The mode of the posterior, and the slope and curvature there of the log likelihood of all rows
/// (without the prior).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// z*, flat and unconstrained.
    pub latents: Vec<f64>,
    /// θ there.
    pub params: Vec<f64>,
    /// The gradient in z.
    pub gradient: Vec<f64>,
    /// The Hessian in z: D × D, or only its D diagonal entries if D² numbers are too many.
    pub hessian: Vec<f64>,
}

impl Mode {
    /// True if only the diagonal of the Hessian is known.
    pub fn is_diagonal(&self) -> bool {
        self.hessian.len() == self.latents.len() && self.latents.len() != 1
    }

    /// The diagonal of the Hessian.
    pub fn diagonal(&self) -> Vec<f64> {
        let size = self.latents.len();
        if self.is_diagonal() {
            return self.hessian.clone();
        }
        (0..size).map(|i| self.hessian[i * size + i]).collect()
    }
}
