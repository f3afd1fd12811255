//! Fits of one posterior from many seeds, each judged by its own verdict and by the truth.

use lehr_infer::fit::{Fit, FitError};
use lehr_infer::judge::Level;
use lehr_infer::posterior::{Posterior, Summary};
use serde::{Deserialize, Serialize};

use super::{Fact, Problem};

/// A fit is wrong if a mean is off by more than this many standard deviations, or a standard
/// deviation by more than this share.
const WRONG: (f64, f64) = (0.2, 0.1);
/// A fit is right if nothing is off by more than this.
const RIGHT: (f64, f64) = (0.1, 0.05);

/// One fit, compared with the truth.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fitted {
    /// The seed.
    pub seed: u64,
    /// The verdict's level.
    pub level: Option<Level>,
    /// The verdict, or the error.
    pub verdict: String,
    /// The largest error of a mean, in standard deviations.
    pub shift: f64,
    /// The largest error of a standard deviation, |ln ratio|.
    pub log_ratio: f64,
    /// The quantity that is off by most.
    pub worst: String,
}

/// All fits of one posterior by one method.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The posterior.
    pub problem: String,
    /// Its kind.
    pub kind: String,
    /// The method.
    pub method: String,
    /// The fits.
    pub fits: Vec<Fitted>,
}

impl Fitted {
    /// Whether an error is large enough to matter.
    pub fn is_wrong(&self) -> bool {
        self.shift > WRONG.0 || self.log_ratio > WRONG.1.ln_1p()
    }

    /// Whether all errors are small.
    pub fn is_right(&self) -> bool {
        self.shift < RIGHT.0 && self.log_ratio < RIGHT.1.ln_1p()
    }

    /// Whether the verdict lets a user rely on the numbers.
    pub fn is_trusted(&self) -> bool {
        matches!(self.level, Some(Level::Reliable | Level::Corrected))
    }
}

impl Row {
    /// Fits that satisfy a condition.
    pub fn count(&self, condition: impl Fn(&Fitted) -> bool) -> usize {
        self.fits.iter().filter(|fit| condition(fit)).count()
    }
}

/// Fits a posterior by a method from one seed.
pub fn fit(problem: &Problem, facts: &[Fact], method: &str, seed: u64) -> Fitted {
    let run =
        || -> Result<Posterior, FitError> { Fit::named(method)?.seed(seed).run(&problem.density) };
    match run() {
        Ok(posterior) => compare(&posterior, facts, seed),
        Err(error) => Fitted {
            seed,
            level: None,
            verdict: error.to_string(),
            shift: f64::MAX,
            log_ratio: f64::MAX,
            worst: String::new(),
        },
    }
}

fn compare(posterior: &Posterior, facts: &[Fact], seed: u64) -> Fitted {
    let verdict = posterior.verdict();
    let found = match verdict.level {
        Level::Corrected => posterior.corrected_summaries(),
        _ => posterior.summaries(),
    };
    let mut fitted = Fitted {
        seed,
        level: Some(verdict.level),
        verdict: verdict.to_string(),
        shift: 0.0,
        log_ratio: 0.0,
        worst: String::new(),
    };
    let own = |name: &str| found.iter().find(|one: &&Summary| one.name == name);
    let mut largest = 0.0;
    for fact in facts {
        let Some(one) = own(&fact.name) else {
            continue;
        };
        let shift = (one.mean - fact.mean).abs() / fact.sd;
        let log_ratio = (one.sd / fact.sd).ln().abs();
        let size = (shift / WRONG.0).max(log_ratio / WRONG.1);
        if size > largest {
            largest = size;
            fitted.worst.clone_from(&fact.name);
        }
        fitted.shift = fitted.shift.max(shift);
        fitted.log_ratio = fitted.log_ratio.max(log_ratio);
    }
    fitted
}
