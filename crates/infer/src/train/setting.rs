//! The settings of training.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::schedule::Schedule;

/// The length of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Iterations {
    /// Until the bound is level at each of the schedule's rates in turn, or up to a limit, which is
    /// reported as not converged.
    Auto {
        /// The largest number of steps.
        cap: u64,
    },
    /// Exactly this many steps.
    Fixed(u64),
}

impl Default for Iterations {
    fn default() -> Iterations {
        Iterations::Auto { cap: 200_000 }
    }
}

impl FromStr for Iterations {
    type Err = String;

    fn from_str(text: &str) -> Result<Iterations, String> {
        match (text, text.parse()) {
            ("auto", _) => Ok(Iterations::default()),
            (_, Ok(count)) if count > 0 => Ok(Iterations::Fixed(count)),
            _ => Err(format!(
                "expected auto or a number of steps, found {text:?}\n  hint: auto stops when the \
                 bound is level"
            )),
        }
    }
}

/// The settings of training.
#[derive(Clone, Serialize, Deserialize)]
pub struct TrainSettings {
    /// The length.
    pub iterations: Iterations,
    /// Draws per step.
    pub lanes: usize,
    /// The learning rate.
    pub schedule: Schedule,
    /// The largest norm of a gradient, in units of its typical norm so far; `None` never clips.
    pub clip: Option<f64>,
    /// A run with a larger share of steps that are not finite is stopped.
    pub max_bad_share: f64,
}

impl Default for TrainSettings {
    fn default() -> Self {
        TrainSettings {
            iterations: Iterations::default(),
            lanes: 1,
            schedule: Schedule::Staircase { start: 1e-2 },
            clip: Some(10.0),
            max_bad_share: 0.1,
        }
    }
}
