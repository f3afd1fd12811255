//! The No-U-Turn sampler of nuts-rs: one thread and one workspace per chain.

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard};

use lehr_numeric::stream::Stream;
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, EuclideanAdaptOptions, HasDims,
    LogpError, LowRankNutsSettings, Math, NutsSettings, Settings, Storable, Value, WalnutsOptions,
    rand,
};
use serde::{Deserialize, Serialize};

use super::gradient_cache::{GradientCache, MOST_REMEMBERED};
use super::log_density_fn::{Evaluator, LogDensityFn, ValueError, starts};
use super::stage::Watch;
use super::trace::{ChainError, ChainProgress, Trace};
use crate::bytes::encoded;
use crate::guide::Whitening;
use lehr_rows::watch::Wish;

/// The No-U-Turn sampler (Hoffman & Gelman 2014) with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NutsSampler {
    /// How many chains there are.
    pub chains: usize,
    /// Draws kept of each chain.
    pub draws: usize,
    /// Draws before those, which adapt step size and metric.
    pub warm_up: usize,
    /// The target acceptance of step sizes.
    pub target_acceptance: f64,
    /// A trajectory has fewer than 2 to this power leapfrog steps.
    pub max_depth: u64,
    /// Whether steps are split where the energy error would be large (WALNUTS): for funnels.
    pub walnuts: bool,
    /// The metric that the warm-up adapts.
    pub metric: Metric,
}

/// The momentum variance that the warm-up adapts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// A diagonal.
    Diagonal,
    /// A diagonal plus a few directions.
    LowRank,
}

impl NutsSampler {
    /// The default settings for a whitening: after a dense one, little is left to adapt.
    pub fn within(whitening: &Whitening, latents: usize) -> NutsSampler {
        const MOST_LOW_RANK: usize = 2000;
        let dense = matches!(whitening, Whitening::Dense { .. });
        let low_rank = !dense && latents <= MOST_LOW_RANK;
        NutsSampler {
            chains: 4,
            draws: 1000,
            warm_up: if dense { 300 } else { 800 },
            target_acceptance: 0.8,
            max_depth: 10,
            walnuts: false,
            metric: [Metric::Diagonal, Metric::LowRank][usize::from(low_rank)],
        }
    }

    /// Runs all chains. The bits depend on the seed alone, not on the number of threads.
    ///
    /// If `watch` asks to stop, the draws made so far are kept.
    pub fn run(
        &self,
        function: &dyn LogDensityFn,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<Trace, ChainError> {
        let mut first = function.evaluator();
        let mut slope = vec![0.0; function.size()];
        let is_finite = |x: &[f64]| first.value(x, &mut slope).is_ok();
        let run = NutsRun {
            nuts: self,
            function,
            starts: starts(&function.origin(), is_finite, self.chains, seed)?,
            memories: self.memories(function.size(), watch)?,
            seed,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        };
        match self.metric {
            Metric::Diagonal => run.all(self.fill(DiagNutsSettings::default()), watch),
            Metric::LowRank => run.all(self.fill(LowRankNutsSettings::default()), watch),
        }
    }

    /// The chains' records: of an earlier run, or empty.
    fn memories(
        &self,
        size: usize,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Mutex<ChainRecord>>, ChainError> {
        let keeps = watch.keeps();
        let fresh = |_| {
            let cache = keeps.then(|| GradientCache::new(size, MOST_REMEMBERED / self.chains));
            cache.map_or(ChainRecord::Nothing, ChainRecord::GradientCache)
        };
        let memories: Vec<ChainRecord> = match watch.earlier() {
            None => (0..self.chains).map(fresh).collect(),
            Some(bytes) => postcard::from_bytes(&bytes).map_err(|_| ChainError::damaged())?,
        };
        if memories.len() != self.chains {
            return Err(ChainError::damaged());
        }
        Ok(memories.into_iter().map(Mutex::new).collect())
    }

    fn fill<A>(&self, mut settings: Euclidean<A>) -> Euclidean<A>
    where
        A: Debug + Copy + Default + serde::Serialize,
    {
        settings.num_tune = self.warm_up as u64;
        settings.num_draws = self.draws as u64;
        settings.maxdepth = self.max_depth;
        settings.walnuts = self.walnuts.then(WalnutsOptions::default);
        let step_size = &mut settings.adapt_options.step_size_settings;
        step_size.target_accept = self.target_acceptance;
        settings
    }
}

type Euclidean<A> = NutsSettings<EuclideanAdaptOptions<A>>;

/// Draws between two reports of a chain.
const ROUND: usize = 10;

/// All chains of one run.
struct NutsRun<'a> {
    nuts: &'a NutsSampler,
    function: &'a dyn LogDensityFn,
    starts: Vec<Vec<f64>>,
    /// The record of each chain, from which it is resumed.
    memories: Vec<Mutex<ChainRecord>>,
    seed: u64,
    /// The next chain that no thread runs yet.
    next: AtomicUsize,
    stopped: AtomicBool,
}

/// A chain's record, from which it can be resumed.
#[derive(Serialize, Deserialize)]
enum ChainRecord {
    /// Nothing: the chain is not to be resumed.
    Nothing,
    /// All values that its sampler has received. The sampler's state is private, but with the same
    /// values it repeats the same steps.
    GradientCache(GradientCache),
    /// The finished chain.
    Chain(ChainDraws),
}

/// A message from a sampling thread to the watching one.
enum Report {
    Draws { count: u64, divergences: u64 },
    Chain(usize, Result<ChainDraws, ChainError>),
}

/// The kept results of one chain.
#[derive(Clone, Default, Serialize, Deserialize)]
struct ChainDraws {
    draws: Vec<f64>,
    energies: Vec<f64>,
    divergences: Vec<usize>,
    saturated: Vec<usize>,
    acceptance: f64,
    gradients: u64,
}

impl NutsRun<'_> {
    /// Threads run one chain after another, as many as the function supports, while the present
    /// thread watches.
    fn all<S: Settings>(&self, settings: S, watch: &mut dyn Watch) -> Result<Trace, ChainError> {
        let threads = self.function.threads(self.nuts.chains);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| ChainError::Sampler(error.to_string()))?;
        let mut kept: Vec<Option<ChainDraws>> = self.starts.iter().map(|_| None).collect();
        // The channel is bounded, so that chains wait for the watcher and a stop takes effect
        // within a few rounds, however busy the machine is.
        let (sender, receiver) = sync_channel(threads);
        let progress = ChainProgress {
            total: (self.nuts.chains * (self.nuts.warm_up + self.nuts.draws)) as u64,
            ..ChainProgress::default()
        };
        pool.in_place_scope(|scope| {
            for _ in 0..threads.min(self.nuts.chains) {
                let sender = sender.clone();
                scope.spawn(move |_| self.work(settings, &sender));
            }
            drop(sender);
            self.watch(progress, &receiver, &mut kept, watch)
        })
        .and_then(|progress| join(kept, self.function.size(), progress.done))
        .map(|trace| Trace {
            warm_up: self.nuts.warm_up,
            planned: self.nuts.draws * self.nuts.chains,
            ..trace
        })
    }

    fn watch(
        &self,
        mut progress: ChainProgress,
        receiver: &Receiver<Report>,
        kept: &mut [Option<ChainDraws>],
        watch: &mut dyn Watch,
    ) -> Result<ChainProgress, ChainError> {
        let mut failure = None;
        for report in receiver {
            match report {
                Report::Draws { count, divergences } => {
                    progress.done += count;
                    progress.divergences += divergences;
                    if watch.look(&progress, &|| self.state()) == Wish::Stop {
                        self.stopped.store(true, Ordering::Relaxed);
                    }
                }
                Report::Chain(chain, Ok(found)) => kept[chain] = Some(found),
                Report::Chain(_, Err(error)) => {
                    self.stopped.store(true, Ordering::Relaxed);
                    failure = failure.or(Some(error));
                }
            }
        }
        failure.map_or(Ok(progress), Err)
    }

    /// The records of all chains.
    fn state(&self) -> Vec<u8> {
        let memories = self.memories.iter();
        let memories: Vec<_> = memories
            .map(|one| one.lock().expect("no chain panics half-way"))
            .collect();
        encoded(
            &memories
                .iter()
                .map(|one| &**one)
                .collect::<Vec<&ChainRecord>>(),
        )
    }

    fn work<S: Settings>(&self, settings: S, sender: &SyncSender<Report>) {
        loop {
            let chain = self.next.fetch_add(1, Ordering::Relaxed);
            if chain >= self.nuts.chains || self.stopped.load(Ordering::Relaxed) {
                return;
            }
            let found = match &*self.memory(chain) {
                ChainRecord::Chain(kept) => Some(kept.clone()),
                ChainRecord::Nothing | ChainRecord::GradientCache(_) => None,
            };
            let found = match found {
                // A chain that was finished in an earlier run.
                Some(kept) => {
                    let count = (self.nuts.warm_up + self.nuts.draws) as u64;
                    let divergences = kept.divergences.len() as u64;
                    let _ = sender.send(Report::Draws { count, divergences });
                    Ok(kept)
                }
                None => self.chain(settings, chain, sender),
            };
            // Sending fails only if the watcher has ended.
            let _ = sender.send(Report::Chain(chain, found));
        }
    }

    fn memory(&self, chain: usize) -> MutexGuard<'_, ChainRecord> {
        let memory = self.memories[chain].lock();
        memory.expect("no chain panics half-way")
    }

    fn chain<S: Settings>(
        &self,
        settings: S,
        chain: usize,
        sender: &SyncSender<Report>,
    ) -> Result<ChainDraws, ChainError> {
        let mut random = Stream::new(self.seed, "nuts", chain as u64);
        let math = CpuMath::new(NutsDensity {
            evaluator: self.function.evaluator(),
            size: self.function.size(),
            memory: &self.memories[chain],
            played: 0,
        });
        let mut sampler = settings
            .new_chain(chain as u64, math, &mut random)
            .map_err(refused)?;
        sampler.set_position(&self.starts[chain]).map_err(refused)?;
        let mut kept = ChainDraws::default();
        let total = self.nuts.warm_up + self.nuts.draws;
        for first in (0..total).step_by(ROUND) {
            let before = kept.divergences.len();
            let round = first..total.min(first + ROUND);
            for step in round.clone() {
                let (x, seen) = draw(&mut sampler)?;
                kept.gradients += seen.gradients;
                if step >= self.nuts.warm_up {
                    kept.push(self.function.kept(&x), &seen);
                }
            }
            let divergences = (kept.divergences.len() - before) as u64;
            let count = round.len() as u64;
            let _ = sender.send(Report::Draws { count, divergences });
            if self.stopped.load(Ordering::Relaxed) {
                break;
            }
        }
        let complete = kept.energies.len() == self.nuts.draws;
        kept.acceptance /= kept.energies.len().max(1) as f64;
        let mut memory = self.memory(chain);
        if complete && !matches!(*memory, ChainRecord::Nothing) {
            *memory = ChainRecord::Chain(kept.clone());
        }
        Ok(kept)
    }
}

impl ChainDraws {
    fn push(&mut self, latents: Vec<f64>, seen: &TrajectoryStatistics) {
        let draw = self.energies.len();
        self.divergences.extend(seen.diverged.then_some(draw));
        self.saturated.extend(seen.saturated.then_some(draw));
        self.draws.extend(latents);
        self.energies.push(seen.energy);
        self.acceptance += seen.acceptance;
    }
}

/// Joins the chains at the length of the shortest one that reached at least half of the longest:
/// all of them, unless they were stopped.
fn join(kept: Vec<Option<ChainDraws>>, size: usize, done: u64) -> Result<Trace, ChainError> {
    let length = |chain: &ChainDraws| chain.energies.len();
    let chains: Vec<ChainDraws> = kept.into_iter().flatten().collect();
    let longest = chains.iter().map(length).max().unwrap_or(0);
    let long = chains
        .iter()
        .filter(|chain| 2 * length(chain) >= longest.max(1));
    let long: Vec<&ChainDraws> = long.collect();
    let shortest = long.iter().map(|chain| length(chain)).min();
    let shortest = shortest.ok_or(ChainError::Stopped { done })?;
    let mut trace = Trace::default();
    for (chain, kept) in long.iter().enumerate() {
        let within = |draw: &&usize| **draw < shortest;
        let number = |draw: &usize| chain * shortest + draw;
        let divergences = kept.divergences.iter().filter(within).map(number);
        trace.divergences.extend(divergences);
        trace.saturated += kept.saturated.iter().filter(within).count();
        trace.draws.extend(&kept.draws[..shortest * size]);
        trace.energies.extend(&kept.energies[..shortest]);
        trace.acceptances.push(kept.acceptance);
        trace.gradients += kept.gradients;
    }
    trace.chains = long.len();
    Ok(trace)
}

/// The statistics of the trajectory behind one draw.
#[derive(Default)]
struct TrajectoryStatistics {
    energy: f64,
    acceptance: f64,
    saturated: bool,
    diverged: bool,
    gradients: u64,
}

/// One draw. The statistics are read by name, because their types belong to the sampler.
fn draw<M: Math, C: Chain<M>>(
    sampler: &mut C,
) -> Result<(Box<[f64]>, TrajectoryStatistics), ChainError> {
    let drawn = sampler.expanded_draw().map_err(refused)?;
    let (x, _, mut statistics, progress) = drawn;
    let mut seen = TrajectoryStatistics {
        diverged: progress.diverging,
        gradients: progress.num_gradients,
        ..TrajectoryStatistics::default()
    };
    let dims = (&*sampler.math()).into();
    for (name, value) in statistics.get_all(&dims) {
        match (name, value) {
            ("energy", Some(Value::ScalarF64(energy))) => seen.energy = energy,
            ("mean_tree_accept", Some(Value::ScalarF64(mean))) => seen.acceptance = mean,
            ("maxdepth_reached", Some(Value::ScalarBool(reached))) => seen.saturated = reached,
            _ => {}
        }
    }
    Ok((x, seen))
}

fn refused(error: impl Display) -> ChainError {
    ChainError::Sampler(format!("{error:#}"))
}

/// The log density in the form that nuts-rs requires.
struct NutsDensity<'a> {
    evaluator: Box<dyn Evaluator + 'a>,
    size: usize,
    memory: &'a Mutex<ChainRecord>,
    /// How many values of the cache have been replayed.
    played: usize,
}

/// A value that is not finite is a divergence, from which the sampler recovers.
impl LogpError for ValueError {
    fn is_recoverable(&self) -> bool {
        *self == ValueError::NotFinite
    }
}

impl HasDims for NutsDensity<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        let size = self.size as u64;
        HashMap::from([("unconstrained_parameter".to_owned(), size)])
    }
}

impl CpuLogpFunc for NutsDensity<'_> {
    type LogpError = ValueError;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.size
    }

    fn logp(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, ValueError> {
        let mut memory = self.memory.lock().expect("no chain panics half-way");
        let ChainRecord::GradientCache(cache) = &mut *memory else {
            drop(memory);
            return self.evaluator.value(x, slope);
        };
        let known = cache.play(self.played, slope);
        self.played += 1;
        if let Some(value) = known {
            return Some(value)
                .filter(|value| value.is_finite())
                .ok_or(ValueError::NotFinite);
        }
        drop(memory);
        let found = self.evaluator.value(x, slope);
        if found == Err(ValueError::Lost) {
            return found;
        }
        let mut memory = self.memory.lock().expect("no chain panics half-way");
        if let ChainRecord::GradientCache(cache) = &mut *memory {
            cache.record(found.unwrap_or(f64::NAN), slope);
        }
        found
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        _: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(Vec::new())
    }
}
