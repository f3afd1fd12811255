//! The results of chains: draws, energies, and failures.

use lehr_rows::RowsError;

use super::failure::Failure;

/// Draws of several chains of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// How many chains there are.
    pub chains: usize,
    /// Iterations of each before the first draw that is kept.
    pub warm_up: usize,
    /// The number of draws planned for all chains; there are fewer if they were stopped.
    pub planned: usize,
    /// z of every draw, one chain after another.
    pub draws: Vec<f64>,
    /// The energy of every draw, ½|p|² − log p(D, z), in the same order.
    pub energies: Vec<f64>,
    /// The draws, by number, whose trajectory diverged.
    pub divergences: Vec<usize>,
    /// How many trajectories were cut at the maximal depth.
    pub saturated: usize,
    /// The mean acceptance of each chain.
    pub acceptances: Vec<f64>,
    /// Gradients computed, the warm-up included.
    pub gradients: u64,
    /// Doubts of the method itself about the draws.
    pub doubts: Vec<Failure>,
}

impl Trace {
    /// Draws of all chains together.
    pub fn len(&self) -> usize {
        self.energies.len()
    }

    /// Whether there is no draw.
    pub fn is_empty(&self) -> bool {
        self.energies.is_empty()
    }

    /// Draws of each chain.
    pub fn length(&self) -> usize {
        self.len() / self.chains.max(1)
    }

    /// Whether the chains ran to their end.
    pub fn is_complete(&self) -> bool {
        self.len() >= self.planned
    }

    /// Every k-th draw of each chain, so that at most `most` remain in all.
    pub(crate) fn thinned(&self, most: usize) -> Trace {
        let stride = self.len().div_ceil(most.max(self.chains)).max(1);
        let (size, length) = (self.draws.len() / self.len().max(1), self.length());
        let mut thin = Trace {
            draws: Vec::new(),
            energies: Vec::new(),
            divergences: Vec::new(),
            acceptances: self.acceptances.clone(),
            doubts: self.doubts.clone(),
            ..*self
        };
        // The last of each stride, so that chains stay of equal length.
        for draw in (0..self.len()).filter(|draw| draw % length % stride == stride - 1) {
            thin.draws
                .extend_from_slice(&self.draws[draw * size..][..size]);
            if self.divergences.contains(&draw) {
                thin.divergences.push(thin.energies.len());
            }
            thin.energies.push(self.energies[draw]);
        }
        // Thinning must not make chains look stopped.
        if self.is_complete() {
            thin.planned = thin.len();
        }
        thin
    }

    /// The values of one coordinate of z, one chain after another.
    pub fn coordinate(&self, place: usize) -> Vec<f64> {
        let size = self.draws.len() / self.len().max(1);
        let values = self.draws.iter().skip(place).step_by(size.max(1));
        values.copied().collect()
    }
}

/// The progress of the chains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainProgress {
    /// Draws of all chains, the warm-up included.
    pub done: u64,
    /// The planned number of draws.
    pub total: u64,
    /// Divergences after the warm-up.
    pub divergences: u64,
}

/// The reasons why chains could not run.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// No start was found.
    #[error(
        "chains: the log density was not finite at any of {tries} starts\n  \
         hint: standardise the columns, or give the latents proper priors"
    )]
    NoStart {
        /// Starts that were tried.
        tries: usize,
    },
    /// The sampler refuses its settings, or cannot continue.
    #[error("chains: {0}\n  hint: check the settings of the chains")]
    Sampler(String),
    /// Rows cannot be reached.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// A stop before any draw was kept.
    #[error("chains: stopped after {done} draws of the warm-up\n  hint: let it run for longer")]
    Stopped {
        /// Draws made so far, all of the warm-up.
        done: u64,
    },
}

impl ChainError {
    /// The error of a state that cannot be read.
    pub(crate) fn damaged() -> ChainError {
        ChainError::Sampler("the checkpoint of the chains is damaged".into())
    }
}
