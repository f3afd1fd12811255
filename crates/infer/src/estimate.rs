//! The small values that a fit reports: estimates with their errors, how far they can be relied on, and what
//! was chosen on the way.

use std::fmt;

use lehr_numeric::pareto::{Pareto, threshold};
use lehr_numeric::summary::{mean, sd};
use serde::{Deserialize, Serialize};

/// The effective share of draws above which weighting changes nothing that could be seen.
const ALIKE: f64 = 0.99;

/// Choices made along the way, as they are reported: what, and how.
pub type Choices = Vec<(String, String)>;

/// Two digits, however small; what is rounding is 0.
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
    /// What nothing is known of.
    pub const UNKNOWN: Estimate = Estimate {
        mean: f64::NAN,
        error: f64::NAN,
    };

    /// Nothing, and known to be.
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

    /// The same with an independent error besides its own.
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

/// Wall time by part.
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

/// What a fit says of the log evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The bound on the log evidence, on all rows, if the method has one.
    pub bound: Option<Estimate>,
    /// The estimate of the log evidence: importance-weighted of a trained guide, by bridge sampling
    /// of Markov chains.
    pub estimate: Estimate,
    /// How far the bound is above that of the Gaussian below the guide, if there is one.
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

/// What a guide gains over the Gaussian that it is built on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// The method of that Gaussian.
    pub over: String,
    /// The difference of the bounds.
    pub nats: Estimate,
}

/// How far the numbers can be relied on, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// The draws can be used as they are.
    Reliable,
    /// Importance weights correct the draws.
    Corrected,
    /// Some number is not as it should be: look again.
    Doubtful,
    /// The numbers are not the posterior's.
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
        f.pad(match self {
            Level::Reliable => "reliable",
            Level::Corrected => "corrected",
            Level::Doubtful => "look again",
            Level::Untrusted => "do not trust",
        })
    }
}

/// The largest k̂ at which so many draws can be corrected, with its two digits. Everything that
/// names a limit of k̂ reads it here.
pub fn usable_shape(draws: usize) -> f64 {
    threshold(draws)
}

/// What weights say of their draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// They are all but equal: there is no tail whose shape could matter.
    Alike,
    /// k̂ is below the limit, however uncertain it is.
    Light,
    /// k̂ is above the limit, however uncertain it is.
    Heavy,
    /// k̂ is too uncertain to tell.
    Open,
}

impl Shape {
    /// What a set of weights says.
    pub fn of(pareto: &Pareto) -> Shape {
        let draws = pareto.log_weights.len();
        let (limit, error) = (usable_shape(draws), pareto.shape_error());
        if pareto.effective_size > ALIKE * draws as f64 {
            Shape::Alike
        } else if pareto.shape + error < limit {
            Shape::Light
        } else if pareto.shape - error < limit {
            Shape::Open
        } else {
            // What is not a number is not light.
            Shape::Heavy
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_numeric::stream::Stream;

    fn shape(k: f64, draws: usize) -> Shape {
        Shape::of(&Pareto {
            log_weights: vec![0.0; draws],
            shape: k,
            effective_size: 0.8 * draws as f64,
            log_evidence: 0.0,
            log_evidence_error: 0.0,
        })
    }

    #[test]
    fn a_shape_is_judged_with_its_uncertainty_and_the_number_of_draws() {
        for (k, draws, expected) in [
            (0.2, 1000, Shape::Light),
            (0.6, 1000, Shape::Open),
            (0.6, 1_000_000, Shape::Light),
            (0.9, 1000, Shape::Heavy),
            (0.45, 50, Shape::Open),
            (f64::INFINITY, 1000, Shape::Heavy),
        ] {
            assert_eq!(shape(k, draws), expected, "{k} {draws}");
        }
    }

    #[test]
    fn weights_that_are_all_but_equal_have_no_tail_that_matters() {
        // 1 + c x with x of a Pareto distribution of shape 1.2.
        let weight = |scale: f64| {
            let mut stream = Stream::new(3, "alike", 0);
            let tail = |u: f64| (1.0 - u).powf(-1.2);
            let log_weights: Vec<f64> = (0..1000)
                .map(|_| (scale * tail(stream.uniform())).ln_1p())
                .collect();
            Pareto::new(&log_weights).unwrap()
        };
        let (alike, unlike) = (weight(0.0003), weight(0.3));
        assert!(alike.shape > 0.7, "{}", alike.shape);
        assert_eq!(Shape::of(&alike), Shape::Alike);
        assert_eq!(Shape::of(&unlike), Shape::Heavy);
    }
}
