//! Records of a fit besides its draws: how good the draws are, and where they come from.

use lehr_density::{Density, Stored};
use lehr_numeric::pareto::Pareto;
use serde::{Deserialize, Serialize};

use super::Examination;
use crate::chains::Chains;
use crate::estimate::Level;
use crate::local::Integration;
use crate::train::Training;

/// What tells how good the draws are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Diagnostics {
    /// Draws of something else than the posterior, with importance weights.
    Importance(Importance),
    /// Draws of Markov chains.
    Chains(Chains),
}

/// What tells how good weighted draws are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Importance {
    /// The log weights of the draws and what they say.
    pub pareto: Pareto,
    /// Where the draws come from.
    pub proposal: Proposal,
    /// What was seen when the draws were examined.
    pub examination: Examination,
    /// Where the guide's own draws were off, the chains whose draws stand in for them.
    pub chains: Option<Box<Chains>>,
}

/// What made draws that are then weighted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Proposal {
    /// A guide that was trained so.
    Guide(Training),
    /// Markov chains on a stand-in for the posterior, of which these are some.
    Chains(Box<Chains>),
}

/// What stands in the place of a method where the draws are of the prior.
pub const PRIOR: &str = "prior";

/// What is stored of the user's rows by methods that keep none.
pub(crate) const NO_ROWS: &str = "no rows of the table";

/// Where a posterior comes from, so that it can be drawn from again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The method, and what the fit stored of itself.
    pub method: Stored,
    /// The model, if it can be stored.
    pub model: Option<Stored>,
    /// The model in words.
    pub description: String,
    /// The seed.
    pub seed: u64,
    /// Rows of the table.
    pub rows: usize,
    /// Whether they were condensed.
    pub condensed: bool,
    /// How the latents of single rows were integrated out, if there were any.
    pub integration: Option<Integration>,
    /// The version of this crate.
    pub version: String,
    /// What of the user's rows is stored with the method, in words.
    pub contents: String,
    /// What was tried on the way, where methods were chosen.
    pub attempts: Vec<Attempt>,
}

impl Origin {
    /// The origin of a fit of this model, but for its method, with what that stores of the rows.
    pub fn of(density: &dyn Density, seed: u64, contents: String) -> Origin {
        Origin {
            method: Stored {
                name: String::new(),
                bytes: Vec::new(),
            },
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

/// A method that was tried, or was not for want of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The method.
    pub method: String,
    /// What it took, in seconds.
    pub seconds: f64,
    /// How far its numbers can be relied on; `None` if there are none.
    pub level: Option<Level>,
    /// Why, in words.
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
