//! Records of a fit besides its draws: their diagnostics, and their origin.

use lehr_density::{Density, StoredForm};
use lehr_numeric::pareto::Pareto;
use serde::{Deserialize, Serialize};

use super::Examination;
use crate::chains::Chains;
use crate::estimate::{Choices, Level, Seconds};
use crate::local::Integration;
use crate::train::TrainingRecord;

/// The diagnostics of draws.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Diagnostics {
    /// Draws of an approximation, with importance weights.
    Importance(Importance),
    /// Draws of Markov chains.
    Chains(Chains),
}

/// The diagnostics of weighted draws.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Importance {
    /// The smoothed log weights of the draws, with their diagnostics.
    pub pareto: Pareto,
    /// The source of the draws.
    pub proposal: Proposal,
    /// The findings of the draws' examination.
    pub examination: Examination,
    /// The chains whose draws replaced the guide's own, if those were wrong.
    pub chains: Option<Box<Chains>>,
}

/// The source of weighted draws.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Proposal {
    /// A guide, with the record of its training.
    Guide(TrainingRecord),
    /// Markov chains on an approximation of the posterior, of whose draws these are some.
    Chains(Box<Chains>),
}

/// The name in place of a method if the draws come from the prior.
pub const PRIOR: &str = "prior";

/// The stored contents of methods that keep no rows of the user.
pub(crate) const NO_ROWS: &str = "no rows of the table";

/// What a method reports of a fit besides the draws.
pub(crate) struct FitRecord {
    /// The method, with the stored form of the fit.
    pub(crate) method: StoredForm,
    /// The user's rows that are stored with it, in words.
    pub(crate) contents: String,
    /// The automatic choices.
    pub(crate) choices: Choices,
    /// Wall-clock time.
    pub(crate) seconds: Seconds,
}

/// The origin of a posterior, from which more draws can be made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The method, with the stored form of the fit.
    pub method: StoredForm,
    /// The model, if it can be stored.
    pub model: Option<StoredForm>,
    /// The model in words.
    pub description: String,
    /// The seed.
    pub seed: u64,
    /// Rows of the table.
    pub rows: usize,
    /// Whether they were reduced.
    pub condensed: bool,
    /// The integration of local latents, if there were any.
    pub integration: Option<Integration>,
    /// The version of this crate.
    pub version: String,
    /// The user's rows that are stored with the method, in words.
    pub contents: String,
    /// The methods that were tried, if several were.
    pub attempts: Vec<Attempt>,
}

impl Origin {
    /// The origin of a fit of this model by a method, with the stored contents of rows.
    pub fn of(density: &dyn Density, method: StoredForm, seed: u64, contents: String) -> Origin {
        Origin {
            method,
            model: density.origin(),
            description: density
                .predictive()
                .map_or_else(String::new, lehr_density::Predictive::describe),
            seed,
            rows: density.total_rows(),
            condensed: false,
            integration: None,
            version: env!("CARGO_PKG_VERSION").into(),
            contents,
            attempts: Vec::new(),
        }
    }
}

/// A method that was tried, or skipped for lack of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The method.
    pub method: String,
    /// Its time in seconds.
    pub seconds: f64,
    /// The reliability of its numbers; `None` if there are none.
    pub level: Option<Level>,
    /// The reason, in words.
    pub words: String,
}

impl Attempt {
    /// The attempt in one line.
    pub fn line(&self) -> String {
        let Attempt {
            method,
            seconds,
            level,
            words,
        } = self;
        match level {
            Some(level) => format!("{method}, {seconds:.1} s: {level}: {words}"),
            None => format!("{method}: {words}"),
        }
    }
}
