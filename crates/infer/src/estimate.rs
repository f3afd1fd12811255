//! The small values that a fit reports: estimates with their errors, levels of reliability, and
//! automatic choices.

use std::fmt;

use lehr_numeric::pareto::shape_threshold;
use lehr_numeric::summary::{mean, sd};
use serde::{Deserialize, Serialize};

/// Choices made during a fit, as reported: name and value.
pub type Choices = Vec<(String, String)>;

/// A number with two digits; rounding errors become 0.
pub(crate) fn short(number: f64) -> String {
    match number {
        ..1e-12 => "0".into(),
        ..1e-2 => format!("{number:.1e}"),
        _ => format!("{number:.2}"),
    }
}

/// A number with its Monte Carlo standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Estimate {
    /// An unknown number.
    pub const UNKNOWN: Estimate = Estimate {
        mean: f64::NAN,
        error: f64::NAN,
    };

    /// Zero, without error.
    pub const NONE: Estimate = Estimate {
        mean: 0.0,
        error: 0.0,
    };

    /// The difference of independent numbers.
    #[must_use]
    pub fn less(self, other: Estimate) -> Estimate {
        Estimate {
            mean: self.mean - other.mean,
            error: self.error.hypot(other.error),
        }
    }

    /// The same with an additional independent error.
    #[must_use]
    pub fn widened(self, error: f64) -> Estimate {
        Estimate {
            mean: self.mean,
            error: self.error.hypot(error),
        }
    }

    /// The mean of independent numbers.
    pub fn of(values: &[f64]) -> Estimate {
        Estimate {
            mean: mean(values),
            error: sd(values) / (values.len() as f64).sqrt(),
        }
    }
}

/// Wall-clock time by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Mode, curvature and surrogate.
    pub start: f64,
    /// Writing, differentiating and planning the program.
    pub compile: f64,
    /// Training, or running Markov chains.
    pub train: f64,
    /// Fresh draws on all rows.
    pub evaluate: f64,
}

/// The log evidence of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The bound on the log evidence, on all rows, if the method has one.
    pub bound: Option<Estimate>,
    /// The estimate of the log evidence: importance-weighted for a trained guide, by bridge
    /// sampling for Markov chains.
    pub estimate: Estimate,
    /// The gain of the bound over that of the Gaussian below the guide, if there is one.
    pub gain: Option<Gain>,
}

impl Evidence {
    /// An estimate without a bound.
    pub fn estimated(estimate: Estimate) -> Evidence {
        Evidence {
            bound: None,
            estimate,
            gain: None,
        }
    }
}

/// The gain of a guide over the Gaussian on which it is built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// The method of that Gaussian.
    pub over: String,
    /// The difference of the bounds.
    pub nats: Estimate,
}

/// The reliability of the numbers, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// The draws can be used as they are.
    Reliable,
    /// Importance weights correct the draws.
    Corrected,
    /// Some diagnostic is not as it should be.
    Doubtful,
    /// The numbers do not describe the posterior.
    Untrusted,
}

impl Level {
    /// The level as programs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Reliable => "reliable",
            Level::Corrected => "corrected",
            Level::Doubtful => "look-again",
            Level::Untrusted => "do-not-trust",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name().replace('-', " "))
    }
}

/// The largest k̂ at which this number of draws can be corrected, with two digits. Everything that
/// mentions a limit of k̂ uses this one.
pub fn usable_shape(draws: usize) -> f64 {
    shape_threshold(draws)
}
