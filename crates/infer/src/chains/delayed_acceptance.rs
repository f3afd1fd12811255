//! Delayed acceptance: chains move on a surrogate, and their end points are accepted or rejected on
//! all rows.

use lehr_density::Density;
use lehr_density::job::{LogLikelihood, all_rows};
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use super::hmc::{ChainLength, Hmc, Iterations, Lockstep, Noise, Step, acceptance};
use super::log_density::LogDensity;
use super::stage::Watch;
use super::trace::{ChainError, Trace};
use crate::bytes::encoded;
use crate::expansion::LogPrior;
use lehr_rows::watch::Wish;
use lehr_rows::{RowStore, RowsError, fold};

/// Iterations on the surrogate for each one on all rows.
const MOVES: u64 = 5;
/// Iterations on all rows that are discarded, because the chains start at draws of the surrogate.
const SETTLING: usize = 25;

/// Chains in which every iteration is five iterations on a surrogate with frozen ε̄, and one
/// decision on all rows: a move from z to z′ is accepted with min(1, e^{r(z′) − r(z)}), where r is
/// log p(D, z) less the surrogate's log density. The moves are reversible for the surrogate's
/// posterior, so the chain is exact for the posterior of all rows (Christen & Fox 2005).
pub(crate) struct DelayedAcceptance<'a> {
    /// The model and its rows.
    pub(crate) density: &'a dyn Density,
    /// The log density on the surrogate, one lane per chain.
    pub(crate) surrogate: &'a LogDensity<'a>,
    /// The sampler on the surrogate.
    pub(crate) hmc: Hmc,
    /// The seed.
    pub(crate) seed: u64,
}

/// The state that changes while chains run.
#[derive(Serialize, Deserialize)]
struct DelayedState {
    iteration: usize,
    step_size: f64,
    x: Vec<f64>,
    kept: Iterations,
    gradients: u64,
}

impl DelayedAcceptance<'_> {
    /// Runs one chain per lane of the surrogate.
    ///
    /// If `watch` asks to stop, the draws made so far are kept.
    pub(crate) fn run(&self, watch: &mut dyn Watch) -> Result<Trace, ChainError> {
        let chains = self.surrogate.n_lanes();
        let length = ChainLength {
            chains,
            warm_up: SETTLING,
            kept: self.hmc.draws.div_ceil(chains),
        };
        let mut state = match watch.earlier() {
            Some(bytes) => postcard::from_bytes(&bytes).map_err(|_| ChainError::damaged())?,
            None => self.settled()?,
        };
        let mut lockstep = Lockstep::new(self.surrogate, state.x.clone());
        lockstep.gradients = state.gradients;
        let rows = all_rows(self.density);
        let mut joint = self.log_joint(&*rows, &lockstep.x)?;
        while state.iteration < length.total() {
            let step = self.iterate(&mut lockstep, &state, &*rows, &mut joint)?;
            if state.iteration >= SETTLING {
                state.kept.push(&lockstep.x, step);
            }
            state.iteration += 1;
            state.x.copy_from_slice(&lockstep.x);
            state.gradients = lockstep.gradients;
            let progress = length.progress(state.iteration, 0);
            if watch.look(&progress, &|| encoded(&state)) == Wish::Stop {
                break;
            }
        }
        let done = (state.iteration, lockstep.gradients);
        length.trace(&state.kept, self.surrogate, done)
    }

    /// Chains after the warm-up on the surrogate.
    fn settled(&self) -> Result<DelayedState, ChainError> {
        let start = self.surrogate.starts(self.surrogate.n_lanes(), self.seed)?;
        let mut lockstep = Lockstep::new(self.surrogate, start.concat());
        let step_size = self.hmc.settle(&mut lockstep, self.seed);
        Ok(DelayedState {
            iteration: 0,
            step_size,
            x: lockstep.x,
            kept: Iterations::default(),
            gradients: lockstep.gradients,
        })
    }

    /// One iteration of every chain; `joint` is log p(D, z) at their positions.
    fn iterate(
        &self,
        lockstep: &mut Lockstep<'_>,
        state: &DelayedState,
        rows: &dyn RowStore,
        joint: &mut [f64],
    ) -> Result<Step, RowsError> {
        let (size, chains) = (self.surrogate.size(), joint.len());
        let (x, before) = (lockstep.x.clone(), lockstep.values.clone());
        let first = self.hmc.warm_up as u64 + MOVES * state.iteration as u64;
        for iteration in first..first + MOVES {
            let noise = Noise::new(self.seed, iteration, size, chains);
            lockstep.step(&noise.stride(state.step_size, usize::MAX), &noise);
        }
        let after = self.log_joint(rows, &lockstep.x)?;
        let mut stream = Stream::new(self.seed, "delayed", state.iteration as u64);
        let mut acceptances = Vec::with_capacity(chains);
        let mut x_new = lockstep.x.clone();
        for chain in 0..chains {
            let gain = (after[chain] - lockstep.values[chain]) - (joint[chain] - before[chain]);
            let acceptance = acceptance(gain);
            acceptances.push(acceptance);
            if stream.uniform() < acceptance {
                joint[chain] = after[chain];
            } else {
                let own = chain * size..(chain + 1) * size;
                x_new[own.clone()].copy_from_slice(&x[own]);
            }
        }
        lockstep.place(x_new);
        Ok(Step {
            energies: joint.iter().map(|value| -value).collect(),
            acceptances,
            diverged: vec![false; chains],
        })
    }

    /// log p(D, z) of every chain, on all rows.
    fn log_joint(&self, rows: &dyn RowStore, x: &[f64]) -> Result<Vec<f64>, RowsError> {
        let size = self.surrogate.size();
        let draws = x.chunks_exact(size).flat_map(|x| self.surrogate.latents(x));
        let draws: Vec<f64> = draws.collect();
        let sums = fold(rows, &LogLikelihood::new(self.density, &draws, &[]))?;
        let mut prior = LogPrior::new(self.density);
        let each = draws.chunks_exact(size).zip(sums);
        Ok(each.map(|(z, value)| value + prior.at(z, &[]).0).collect())
    }
}
