//! `hmc`: Hamiltonian Monte Carlo with the chains as lanes of one plan, in lockstep.

use std::f64::consts::FRAC_PI_2;

use lehr_numeric::dense::small::add;
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use super::log_density::{Lanes, LogDensity};
use super::stage::Watch;
use super::trace::{ChainError, ChainProgress, Trace};
use crate::bytes::encoded;
use lehr_rows::watch::Wish;

/// An energy error beyond this is a divergence.
const LARGEST_ERROR: f64 = 1000.0;

/// Hamiltonian Monte Carlo in whitened coordinates, where the posterior is near N(0, 1) and a
/// trajectory of length π/2 gives a nearly independent draw.
///
/// ```text
/// ε ← ε̄·U(0.9, 1.1);  L ← max(1, round(½π·U(0.8, 1.2)/ε));  p ~ N(0, 1) per chain
/// L leapfrog steps;  each chain accepts by itself with min(1, exp(H₀ − H₁))
/// ```
///  All chains use the same ε and L, so that a leapfrog step of all of them is one run of the plan.
///  During the warm-up ln ε̄ follows the mean acceptance by dual averaging.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hmc {
    /// Draws kept of all chains together.
    pub draws: usize,
    /// Iterations before those, which adapt the step size.
    pub warm_up: usize,
    /// The target acceptance of the step size.
    pub target_acceptance: f64,
    /// The most leapfrog steps of a trajectory.
    pub most_leapfrogs: usize,
}

impl Default for Hmc {
    fn default() -> Self {
        Hmc {
            draws: 4000,
            warm_up: 150,
            target_acceptance: 0.8,
            most_leapfrogs: usize::MAX,
        }
    }
}

/// The default number of chains.
pub const CHAINS: usize = 16;

impl Hmc {
    /// Runs one chain per lane of the log density.
    ///
    /// If `watch` asks to stop, the draws made so far are kept.
    pub fn run(
        &self,
        log_density: &LogDensity<'_>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<Trace, ChainError> {
        let start = log_density.starts(log_density.n_lanes(), seed)?.concat();
        self.run_from(start, log_density, seed, watch)
    }

    /// Runs chains that start at these coordinates, one chain after another.
    pub fn run_from(
        &self,
        start: Vec<f64>,
        log_density: &LogDensity<'_>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<Trace, ChainError> {
        let chains = log_density.n_lanes();
        let length = ChainLength {
            chains,
            warm_up: self.warm_up,
            kept: self.draws.div_ceil(chains),
        };
        let mut state = match watch.earlier() {
            Some(bytes) => postcard::from_bytes(&bytes).map_err(|_| ChainError::damaged())?,
            None => HmcState {
                iteration: 0,
                x: start,
                average: DualAverage::new(0.5, self.target_acceptance),
                kept: Iterations::default(),
                gradients: 0,
                divergences: 0,
            },
        };
        let mut lockstep = Lockstep::new(log_density, state.x.clone());
        if state.iteration > 0 {
            lockstep.gradients = state.gradients;
        }
        while state.iteration < length.total() {
            let warm = state.iteration < self.warm_up;
            let step_size = state.average.in_warm_up(warm);
            let noise = Noise::new(seed, state.iteration as u64, log_density.size(), chains);
            let step = lockstep.step(&noise.stride(step_size, self.most_leapfrogs), &noise);
            if warm {
                state.average.update(step.mean_acceptance());
            } else {
                state.divergences += step.divergences().count() as u64;
                state.kept.push(&lockstep.x, step);
            }
            state.iteration += 1;
            let progress = length.progress(state.iteration, state.divergences);
            state.x.copy_from_slice(&lockstep.x);
            state.gradients = lockstep.gradients;
            if watch.look(&progress, &|| encoded(&state)) == Wish::Stop {
                break;
            }
        }
        let done = (state.iteration, lockstep.gradients);
        length.trace(&state.kept, log_density, done)
    }

    /// Moves chains through the warm-up; returns the step size.
    pub(super) fn settle(&self, lockstep: &mut Lockstep<'_>, seed: u64) -> f64 {
        let (size, chains) = (lockstep.lanes.size(), lockstep.values.len());
        let mut average = DualAverage::new(0.5, self.target_acceptance);
        for iteration in 0..self.warm_up as u64 {
            let noise = Noise::new(seed, iteration, size, chains);
            let stride = noise.stride(average.step_size(), self.most_leapfrogs);
            average.update(lockstep.step(&stride, &noise).mean_acceptance());
        }
        average.settled()
    }
}

/// min(1, e^gain), the probability with which a move is accepted; zero for NaN.
pub(super) fn acceptance(gain: f64) -> f64 {
    if gain.is_nan() {
        0.0
    } else {
        gain.exp().min(1.0)
    }
}

/// The length of chains in lockstep.
#[derive(Clone, Copy)]
pub(super) struct ChainLength {
    pub(super) chains: usize,
    pub(super) warm_up: usize,
    /// Kept iterations of each chain.
    pub(super) kept: usize,
}

impl ChainLength {
    /// All iterations.
    pub(super) fn total(&self) -> usize {
        self.warm_up + self.kept
    }

    /// The progress after some iterations.
    pub(super) fn progress(&self, iterations: usize, divergences: u64) -> ChainProgress {
        ChainProgress {
            done: (iterations * self.chains) as u64,
            total: (self.total() * self.chains) as u64,
            divergences,
        }
    }

    /// The draws of chains that ended after some iterations and gradients.
    ///
    /// # Errors
    /// If no iteration was kept.
    pub(super) fn trace(
        &self,
        kept: &Iterations,
        log_density: &LogDensity<'_>,
        (iterations, gradients): (usize, u64),
    ) -> Result<Trace, ChainError> {
        let trace = Trace {
            warm_up: self.warm_up,
            planned: self.kept * self.chains,
            gradients,
            ..kept.trace(log_density)
        };
        let done = (iterations * self.chains) as u64;
        if trace.is_empty() {
            Err(ChainError::Stopped { done })
        } else {
            Ok(trace)
        }
    }
}

/// The complete state of running chains, which a checkpoint stores.
#[derive(Serialize, Deserialize)]
struct HmcState {
    iteration: usize,
    x: Vec<f64>,
    average: DualAverage,
    kept: Iterations,
    gradients: u64,
    divergences: u64,
}

/// The step size and the number of leapfrog steps of one iteration, the same for all chains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stride {
    /// ε
    pub step_size: f64,
    /// L
    pub leapfrogs: usize,
}

/// The random numbers of one iteration. Those of a chain do not depend on the number of chains.
pub struct Noise {
    /// p, one chain after another.
    pub momentum: Vec<f64>,
    /// One number per chain, uniform on [0, 1), that decides whether it accepts.
    pub accept: Vec<f64>,
    /// U(0.9, 1.1) and U(0.8, 1.2), the same for all chains.
    pub jitter: [f64; 2],
}

impl Noise {
    /// The noise of an iteration of `chains` chains with `size` coordinates each.
    pub fn new(seed: u64, iteration: u64, size: usize, chains: usize) -> Noise {
        let mut jitter = [0.0; 2];
        Stream::new(seed, "hmc stride", iteration).fill_uniform(&mut jitter);
        let mut noise = Noise {
            momentum: vec![0.0; chains * size],
            accept: Vec::with_capacity(chains),
            jitter: [0.9 + 0.2 * jitter[0], 0.8 + 0.4 * jitter[1]],
        };
        for (chain, momentum) in noise.momentum.chunks_exact_mut(size).enumerate() {
            let mut stream = Stream::new(seed, &format!("hmc {chain}"), iteration);
            stream.fill_normal(momentum);
            noise.accept.push(stream.uniform());
        }
        noise
    }

    /// The part of one chain.
    pub(super) fn of_chain(&self, chain: usize) -> Noise {
        let size = self.momentum.len() / self.accept.len();
        Noise {
            momentum: self.momentum[chain * size..][..size].to_vec(),
            accept: vec![self.accept[chain]],
            jitter: self.jitter,
        }
    }

    /// ε around ε̄, and L around a quarter turn, at most `most`.
    pub(super) fn stride(&self, step_size: f64, most: usize) -> Stride {
        let step_size = step_size * self.jitter[0];
        let leapfrogs = (FRAC_PI_2 * self.jitter[1] / step_size).round();
        Stride {
            step_size,
            leapfrogs: (leapfrogs as usize).max(1).min(most),
        }
    }
}

/// Several chains that move together: position, log density and slope of each.
pub struct Lockstep<'a> {
    pub(super) lanes: Lanes<'a>,
    /// x, one chain after another.
    pub x: Vec<f64>,
    /// log p(D, T(x)) of each.
    pub(super) values: Vec<f64>,
    pub(super) slopes: Vec<f64>,
    /// Gradients computed so far.
    pub gradients: u64,
}

/// The result of an iteration, chain by chain.
#[derive(Serialize, Deserialize)]
pub struct Step {
    /// The energy of the new state of each chain.
    pub energies: Vec<f64>,
    /// min(1, exp(H₀ − H₁)); zero if the trajectory diverged.
    pub acceptances: Vec<f64>,
    pub(super) diverged: Vec<bool>,
}

impl Step {
    /// The steps of single chains, as one of all.
    pub(super) fn joined(steps: Vec<Step>) -> Step {
        let mut steps = steps.into_iter();
        let mut all = steps.next().expect("a chain");
        for step in steps {
            all.energies.extend(step.energies);
            all.acceptances.extend(step.acceptances);
            all.diverged.extend(step.diverged);
        }
        all
    }

    pub(super) fn mean_acceptance(&self) -> f64 {
        self.acceptances.iter().sum::<f64>() / self.acceptances.len() as f64
    }

    /// The chains whose trajectory diverged.
    pub(super) fn divergences(&self) -> impl Iterator<Item = usize> + '_ {
        let chains = self.diverged.iter().enumerate();
        chains.filter_map(|(chain, diverged)| diverged.then_some(chain))
    }
}

impl<'a> Lockstep<'a> {
    /// Chains at these positions, one after another.
    pub fn new(log_density: &'a LogDensity<'a>, x: Vec<f64>) -> Lockstep<'a> {
        Lockstep::within(log_density.lanes(), x)
    }

    /// The same in memory that already has the inputs that chains do not change.
    pub(super) fn within(mut lanes: Lanes<'a>, x: Vec<f64>) -> Lockstep<'a> {
        let (mut values, mut slopes) = (vec![0.0; lanes.count()], vec![0.0; x.len()]);
        lanes.evaluate(&x, &mut values, &mut slopes);
        Lockstep {
            lanes,
            gradients: values.len() as u64,
            x,
            values,
            slopes,
        }
    }

    /// Moves the chains to other positions.
    pub(super) fn place(&mut self, x: Vec<f64>) {
        self.x = x;
        self.refresh();
    }

    /// Evaluates the present positions again, after the log density has changed.
    pub(super) fn refresh(&mut self) {
        self.gradients += self.values.len() as u64;
        self.lanes
            .evaluate(&self.x, &mut self.values, &mut self.slopes);
    }

    /// Leapfrog steps of every chain: kick ½, drift, kick, …, drift, kick ½.
    pub fn leapfrog(&mut self, stride: &Stride, momentum: &mut [f64]) {
        let step = stride.step_size;
        add(momentum, 0.5 * step, &self.slopes);
        for k in 1..=stride.leapfrogs {
            add(&mut self.x, step, momentum);
            self.lanes
                .evaluate(&self.x, &mut self.values, &mut self.slopes);
            let kick = if k == stride.leapfrogs {
                0.5 * step
            } else {
                step
            };
            add(momentum, kick, &self.slopes);
        }
        self.gradients += (stride.leapfrogs * self.values.len()) as u64;
    }

    /// One iteration: a trajectory of every chain, which each accepts or rejects independently.
    pub fn step(&mut self, stride: &Stride, noise: &Noise) -> Step {
        let (x, values, slopes) = (self.x.clone(), self.values.clone(), self.slopes.clone());
        let before = self.energies(&noise.momentum);
        let mut momentum = noise.momentum.clone();
        self.leapfrog(stride, &mut momentum);
        let mut energies = self.energies(&momentum);
        let size = self.lanes.size();
        let (mut acceptances, mut diverged) = (Vec::new(), Vec::new());
        for (chain, energy) in energies.iter_mut().enumerate() {
            let error = *energy - before[chain];
            // NaN is a divergence as well.
            diverged.push(error.is_nan() || error >= LARGEST_ERROR);
            let acceptance = acceptance(-error);
            acceptances.push(acceptance);
            if noise.accept[chain] >= acceptance {
                let own = chain * size..(chain + 1) * size;
                self.x[own.clone()].copy_from_slice(&x[own.clone()]);
                self.slopes[own.clone()].copy_from_slice(&slopes[own]);
                self.values[chain] = values[chain];
                *energy = before[chain];
            }
        }
        Step {
            energies,
            acceptances,
            diverged,
        }
    }

    /// ½|p|² − log p(D, T(x)) of each chain.
    fn energies(&self, momentum: &[f64]) -> Vec<f64> {
        let kinetic = momentum.chunks_exact(self.lanes.size());
        let kinetic = kinetic.map(|p| 0.5 * p.iter().map(|p| p * p).sum::<f64>());
        kinetic
            .zip(&self.values)
            .map(|(k, value)| k - value)
            .collect()
    }
}

/// Dual averaging of ln ε (Nesterov 2009; Hoffman & Gelman 2014, γ = 0.05, t₀ = 10, κ = 0.75).
#[derive(Serialize, Deserialize)]
pub(super) struct DualAverage {
    target: f64,
    centre: f64,
    error: f64,
    log_step: f64,
    log_average: f64,
    count: f64,
}

impl DualAverage {
    pub(super) fn new(step_size: f64, target: f64) -> DualAverage {
        DualAverage {
            target,
            centre: (10.0 * step_size).ln(),
            error: 0.0,
            log_step: step_size.ln(),
            log_average: step_size.ln(),
            count: 0.0,
        }
    }

    pub(super) fn update(&mut self, acceptance: f64) {
        self.count += 1.0;
        let share = 1.0 / (self.count + 10.0);
        self.error += share * (self.target - acceptance - self.error);
        self.log_step = self.centre - self.count.sqrt() / 0.05 * self.error;
        let share = self.count.powf(-0.75);
        self.log_average += share * (self.log_step - self.log_average);
    }

    pub(super) fn step_size(&self) -> f64 {
        self.log_step.exp()
    }

    /// The step size within the warm-up, or the average after it.
    pub(super) fn in_warm_up(&self, warm: bool) -> f64 {
        if warm {
            self.step_size()
        } else {
            self.settled()
        }
    }

    /// The average, which is used after the warm-up.
    pub(super) fn settled(&self) -> f64 {
        self.log_average.exp()
    }
}

/// The kept iterations, one after another.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Iterations {
    positions: Vec<Vec<f64>>,
    steps: Vec<Step>,
}

impl Iterations {
    pub(super) fn push(&mut self, x: &[f64], step: Step) {
        self.positions.push(x.to_vec());
        self.steps.push(step);
    }

    /// The same, one chain after another.
    pub(super) fn trace(&self, log_density: &LogDensity<'_>) -> Trace {
        let (size, length) = (log_density.size(), self.steps.len());
        let chains = self.steps.first().map(|step| step.energies.len());
        let mut trace = Trace {
            chains: chains.unwrap_or_default(),
            ..Trace::default()
        };
        for chain in 0..trace.chains {
            let mut acceptance = 0.0;
            for (draw, (x, step)) in self.positions.iter().zip(&self.steps).enumerate() {
                let x = &x[chain * size..(chain + 1) * size];
                trace.draws.extend(log_density.latents(x));
                trace.energies.push(step.energies[chain]);
                acceptance += step.acceptances[chain];
                let diverged = step.diverged[chain].then_some(chain * length + draw);
                trace.divergences.extend(diverged);
            }
            trace.acceptances.push(acceptance / length.max(1) as f64);
        }
        trace
    }
}
