//! Subsampling MCMC: chains over the latents and a random subset of the rows, with an estimate of
//! the log likelihood that is corrected for its variance (Dang et al. 2019, perturbed form).

use lehr_density::{Point, Rows};
use lehr_graph::Expr;
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::mean;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::hmc::{ChainLength, DualAverage, Iterations, Lockstep, Noise, Step, Stride};
use super::log_density::LogDensity;
use super::log_density_fn::LogDensityFn;
use super::stage::Watch;
use super::trace::{ChainError, Trace};
use crate::bytes::encoded;
use crate::expansion::{Mode, TaylorOrder, row_remainder};
use crate::guide::{Context, RowInput, WhitenedDensity};
use crate::surrogate::{FixedRows, Quadratic};
use lehr_rows::watch::Wish;

/// G, the number of blocks of a subset, one of which is exchanged per iteration.
const BLOCKS: usize = 25;
/// The most leapfrog steps of a trajectory.
const MOST_LEAPFROGS: usize = 1000;
/// The most starts that are tried for each chain.
const TRIES: u64 = 100;

/// The perturbed log density of the latents and a subset U of m rows outside W, with n′ = N − |W|,
/// tₙ the expansion of the log likelihood ℓₙ of row n at the mode, and dₙ = ℓₙ − tₙ its remainder:
///
/// ```text
/// ℓ̂(z, U)  = Σ_all tₙ + Σ_W dₙ + (n′/m) Σ_U dₙ
/// σ̂²(z, U) = (n′²/m)(1 − m/n′) Σ_U (dₙ − d̄)²/(m − 1)
/// ln π(z, U) = log p(z) + ℓ̂ − ½σ̂²
/// ```
///  Rows are drawn without replacement: with it, a subset that repeats one row would have σ̂² = 0,
///  and π could outgrow the prior.
pub struct PerturbedDensity<'d> {
    log_density: LogDensity<'d>,
    /// The rows outside W, in the numbering of batches.
    others: Vec<usize>,
    /// m
    count: usize,
}

impl<'d> PerturbedDensity<'d> {
    /// The rows of a subset, in the numbering of batches.
    fn rows(&self, subset: &Subset) -> Vec<usize> {
        let places = subset.places.iter();
        places.map(|place| self.others[*place]).collect()
    }

    /// With the rows of W, increasing and in the numbering of batches, and m rows in a subset.
    ///
    /// # Panics
    /// Unless 2 ≤ m < n′.
    pub fn new(
        place: WhitenedDensity<'d>,
        mode: &Mode,
        summed: &[usize],
        count: usize,
    ) -> PerturbedDensity<'d> {
        let n_rows = place.density.n_rows();
        let others = (0..n_rows).filter(|row| summed.binary_search(row).is_err());
        let others: Vec<usize> = others.collect();
        assert!(
            (2..others.len()).contains(&count),
            "{count} of {} rows are a subset",
            others.len()
        );
        let own = FixedRows::in_batch_order(place.density, summed);
        let log_density = LogDensity::with(place, 1, |context, x| {
            let left = RowRemainders::new(context, x, mode);
            let subset = RowInput::Batch {
                size: count,
                purpose: "subset".into(),
            };
            let drawn = left.of(context, &context.rows("subset", &subset));
            let whole = Quadratic::of(mode).term(context, &left.at);
            let mut value = context.density().log_prior(&left.at) + whole;
            if !own.is_empty() {
                value = value + left.of(context, &own.rows(context)).sum();
            }
            let (all, m) = (others.len() as f64, count as f64);
            let apart = (drawn - drawn.mean()).square().sum();
            let variance = (all * all / m * (1.0 - m / all) / (m - 1.0)) * apart;
            [value + (all / m) * drawn.sum() - 0.5 * variance, variance]
        });
        PerturbedDensity {
            log_density,
            others,
            count,
        }
    }
}

/// A point, and the mode at which rows are expanded.
struct RowRemainders<'g> {
    at: Point<'g>,
    mode: Point<'g>,
    offset: Expr<'g>,
}

impl<'g> RowRemainders<'g> {
    fn new(context: &Context<'g, '_>, x: Expr<'g>, mode: &Mode) -> RowRemainders<'g> {
        let at = context.at(x);
        let latents = context.fixed(
            "perturbed_mode",
            [mode.latents.len()],
            &mode.latents.as_slice().into(),
        );
        RowRemainders {
            offset: at.latents - latents,
            // Two separate nodes, because the expansion is differentiated at the mode while the
            // direction stays fixed.
            mode: Point::new(latents.anchor(), at.params),
            at,
        }
    }

    /// dₙ of these rows.
    fn of(&self, context: &Context<'g, '_>, rows: &Rows<'g>) -> Expr<'g> {
        let both = [&self.mode, &self.at];
        row_remainder(
            context.density(),
            both,
            rows,
            self.offset,
            TaylorOrder::Second,
        )
    }
}

/// U: distinct places among the rows outside W, in blocks.
#[derive(Clone)]
struct Subset {
    places: Vec<usize>,
    taken: Vec<bool>,
}

impl Subset {
    fn of(places: Vec<usize>, total: usize) -> Subset {
        let mut taken = vec![false; total];
        for place in &places {
            taken[*place] = true;
        }
        Subset { places, taken }
    }

    /// Every subset of this size is equally likely.
    fn drawn(count: usize, total: usize, stream: &mut Stream) -> Subset {
        let mut places = vec![0; count];
        stream.choose_without_replacement(total as u64, &mut places);
        let places = places.into_iter().map(|place| place as usize).collect();
        Subset::of(places, total)
    }

    /// The same with one block exchanged for places outside of it. The reverse move is equally
    /// likely.
    fn swapped(&self, stream: &mut Stream) -> Subset {
        let (count, total) = (self.places.len(), self.taken.len());
        let blocks = BLOCKS.min(count);
        let block = below(stream, blocks);
        let block = block * count / blocks..(block + 1) * count / blocks;
        let mut new = self.clone();
        // At most as many as there are outside, in case the subset contains nearly all rows.
        for at in block.take(total - count) {
            let fresh = loop {
                let place = below(stream, total);
                if !self.taken[place] && !new.taken[place] {
                    break place;
                }
            };
            new.taken[self.places[at]] = false;
            new.taken[fresh] = true;
            new.places[at] = fresh;
        }
        new
    }
}

/// A number below `count`, all equally likely.
fn below(stream: &mut Stream, count: usize) -> usize {
    ((stream.uniform() * count as f64) as usize).min(count - 1)
}

/// One chain over (z, U).
pub struct SubsampledChain<'a> {
    perturbed: &'a PerturbedDensity<'a>,
    lockstep: Lockstep<'a>,
    subset: Subset,
    variance: f64,
}

impl<'a> SubsampledChain<'a> {
    /// At whitened coordinates, with a random subset.
    pub fn new(perturbed: &'a PerturbedDensity<'a>, x: Vec<f64>, stream: &mut Stream) -> Self {
        let subset = Subset::drawn(perturbed.count, perturbed.others.len(), stream);
        SubsampledChain::with(perturbed, x, subset)
    }

    fn with(perturbed: &'a PerturbedDensity<'a>, x: Vec<f64>, subset: Subset) -> Self {
        // Nothing can be evaluated before the rows are set.
        let mut lanes = perturbed.log_density.lanes();
        lanes.set_subset(&perturbed.rows(&subset));
        let mut chain = SubsampledChain {
            lockstep: Lockstep::within(lanes, x),
            perturbed,
            subset,
            variance: 0.0,
        };
        chain.refresh();
        chain.lockstep.gradients = 1;
        chain
    }

    /// The rows of the subset, in the numbering of batches.
    pub fn rows(&self) -> Vec<usize> {
        self.perturbed.rows(&self.subset)
    }

    /// σ̂²
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// Sets the rows of the subset, and evaluates.
    fn refresh(&mut self) {
        let rows = self.rows();
        self.lockstep.lanes.set_subset(&rows);
        self.lockstep.refresh();
        self.variance = self.lockstep.lanes.further(0);
    }

    /// Exchanges a block of the subset with probability min(1, π(z, U′)/π(z, U)); returns whether
    /// it did.
    pub fn swap(&mut self, stream: &mut Stream) -> bool {
        let new = self.subset.swapped(stream);
        let old = std::mem::replace(&mut self.subset, new);
        let before = (
            self.lockstep.values.clone(),
            self.lockstep.slopes.clone(),
            self.variance,
        );
        self.refresh();
        // NaN is not accepted.
        let gain = self.lockstep.values[0] - before.0[0];
        if stream.uniform() < gain.exp() {
            return true;
        }
        self.subset = old;
        let rows = self.rows();
        self.lockstep.lanes.set_subset(&rows);
        (self.lockstep.values, self.lockstep.slopes, self.variance) = before;
        false
    }

    /// One iteration: a swap, and a trajectory of z with U fixed; returns whether it swapped.
    fn iterate(&mut self, stream: &mut Stream, stride: &Stride, noise: &Noise) -> (bool, Step) {
        let swapped = self.swap(stream);
        let x = self.lockstep.x.clone();
        let step = self.lockstep.step(stride, noise);
        if self.lockstep.x != x {
            self.variance = self.lockstep.lanes.further(0);
        }
        (swapped, step)
    }
}

/// The settings of chains over (z, U).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ecs {
    /// How many chains there are.
    pub chains: usize,
    /// Draws kept of all chains together.
    pub draws: usize,
    /// Iterations before those, which adapt the step size.
    pub warm_up: usize,
    /// The target acceptance of the step size.
    pub target_acceptance: f64,
}

impl Default for Ecs {
    fn default() -> Self {
        Ecs {
            chains: 4,
            draws: 4000,
            warm_up: 300,
            target_acceptance: 0.8,
        }
    }
}

/// The draws, and statistics of the subsets.
pub struct EcsTrace {
    /// The draws of z.
    pub trace: Trace,
    /// σ̂² of every draw that was kept.
    pub variances: Vec<f64>,
    /// The share of swaps that were accepted.
    pub swapped: f64,
}

/// The state that changes while chains run.
#[derive(Serialize, Deserialize)]
struct EcsState {
    iteration: usize,
    x: Vec<Vec<f64>>,
    subsets: Vec<Vec<usize>>,
    average: DualAverage,
    kept: Iterations,
    variances: Vec<f64>,
    swapped: Vec<f64>,
    gradients: u64,
    divergences: u64,
}

impl Ecs {
    /// Runs the chains. If `watch` asks to stop, the draws made so far are kept.
    ///
    /// # Errors
    /// If no start is found, or the stop came before the first draw.
    pub fn run(
        &self,
        perturbed: &PerturbedDensity<'_>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<EcsTrace, ChainError> {
        let mut state: EcsState = match watch.earlier() {
            Some(bytes) => postcard::from_bytes(&bytes).map_err(|_| ChainError::damaged())?,
            None => self.started(perturbed, seed)?,
        };
        let total = perturbed.others.len();
        let own = state.x.iter().zip(&state.subsets);
        let mut chains: Vec<SubsampledChain<'_>> = own
            .map(|(x, places)| {
                let subset = Subset::of(places.clone(), total);
                SubsampledChain::with(perturbed, x.clone(), subset)
            })
            .collect();
        let length = ChainLength {
            chains: self.chains,
            warm_up: self.warm_up,
            kept: self.draws.div_ceil(self.chains),
        };
        while state.iteration < length.total() {
            self.advance(&mut state, &mut chains, seed);
            let progress = length.progress(state.iteration, state.divergences);
            if watch.look(&progress, &|| encoded(&state)) == Wish::Stop {
                break;
            }
        }
        let done = (state.iteration, state.gradients);
        let trace = length.trace(&state.kept, &perturbed.log_density, done)?;
        Ok(EcsTrace {
            trace,
            variances: state.variances,
            swapped: mean(&state.swapped),
        })
    }

    /// Draws of the whitening Gaussian with random subsets, at which the log density is finite.
    fn started(&self, perturbed: &PerturbedDensity<'_>, seed: u64) -> Result<EcsState, ChainError> {
        let origin = perturbed.log_density.origin();
        let start = |chain: usize| {
            (0..TRIES).find_map(|attempt| {
                let name = format!("subsampled start {chain}");
                let mut stream = Stream::new(seed, &name, attempt);
                let x = origin.iter().map(|centre| centre + stream.normal());
                let started = SubsampledChain::new(perturbed, x.collect(), &mut stream);
                started.lockstep.values[0].is_finite().then_some(started)
            })
        };
        let found: Option<Vec<SubsampledChain<'_>>> = (0..self.chains).map(start).collect();
        let tries = TRIES as usize;
        let found = found.ok_or(ChainError::NoStart { tries })?;
        Ok(EcsState {
            iteration: 0,
            x: found.iter().map(|chain| chain.lockstep.x.clone()).collect(),
            subsets: found.into_iter().map(|one| one.subset.places).collect(),
            average: DualAverage::new(0.5, self.target_acceptance),
            kept: Iterations::default(),
            variances: Vec::new(),
            swapped: Vec::new(),
            gradients: 0,
            divergences: 0,
        })
    }

    /// One iteration of every chain.
    fn advance(&self, state: &mut EcsState, chains: &mut [SubsampledChain<'_>], seed: u64) {
        let warm = state.iteration < self.warm_up;
        let step_size = state.average.in_warm_up(warm);
        let (size, iteration) = (chains[0].lockstep.x.len(), state.iteration as u64);
        let noise = Noise::new(seed, iteration, size, chains.len());
        let stride = noise.stride(step_size, MOST_LEAPFROGS);
        let each = chains.par_iter_mut().enumerate().map(|(place, chain)| {
            let mut stream = Stream::new(seed, &format!("subset {place}"), iteration);
            chain.iterate(&mut stream, &stride, &noise.of_chain(place))
        });
        let (swapped, steps): (Vec<bool>, Vec<Step>) = each.collect();
        state.gradients += (chains.len() * (stride.leapfrogs + 1)) as u64;
        let swapped = swapped.into_iter().map(|one| f64::from(u8::from(one)));
        let step = Step::joined(steps);
        for (place, chain) in chains.iter().enumerate() {
            state.x[place].clone_from(&chain.lockstep.x);
            state.subsets[place].clone_from(&chain.subset.places);
        }
        if warm {
            state.average.update(step.mean_acceptance());
        } else {
            state.divergences += step.divergences().count() as u64;
            state.swapped.extend(swapped);
            state
                .variances
                .extend(chains.iter().map(SubsampledChain::variance));
            state.kept.push(&state.x.concat(), step);
        }
        state.iteration += 1;
    }
}
