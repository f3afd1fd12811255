//! The part of a report about Markov chains.

use serde::{Deserialize, Serialize};

/// The Markov chains behind a fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChainReport {
    /// How many chains there are.
    pub count: usize,
    /// Iterations of each before the first draw that is kept.
    pub warm_up: usize,
    /// Trajectories that diverged.
    pub divergences: usize,
    /// The smallest E-BFMI of the chains.
    pub energy_information: f64,
    /// The energy of every draw, one chain after another.
    pub energies: Vec<f64>,
    /// The quality of the draws of each coefficient.
    pub quantities: Vec<ChainQuantity>,
}

/// The quality of the draws of one number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChainQuantity {
    /// The number.
    pub name: String,
    /// R̂
    pub r_hat: f64,
    /// Effective draws for its centre.
    pub bulk: f64,
    /// Effective draws for its 5 % and 95 % quantiles.
    pub tail: f64,
    /// Its draws, one chain after another; empty if no picture shows them.
    pub values: Vec<f64>,
}

impl ChainReport {
    /// The draws of each chain.
    pub(crate) fn split_chains<'v>(
        &self,
        values: &'v [f64],
    ) -> impl ExactSizeIterator<Item = &'v [f64]> {
        values.chunks_exact((values.len() / self.count.max(1)).max(1))
    }
}
