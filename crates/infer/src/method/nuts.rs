//! `nuts`: the No-U-Turn sampler of nuts-rs on all rows, one thread and one workspace per chain.

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use lehr_density::Density;
use lehr_numeric::stream::Stream;
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, EuclideanAdaptOptions, HasDims,
    LogpError, LowRankNutsSettings, Math, NutsSettings, Settings, Storable, Value, WalnutsOptions,
    rand,
};
use serde::{Deserialize, Serialize};

use super::{Method, MethodInfo, Setting};
use crate::chains::{
    self, ChainError, ChainMethod, ChainProgress, Lanes, LogDensity, NotFinite, Target, Trace,
    Watch, restore_chains, starts,
};
use crate::fit::FitError;
use crate::guide::Frame;
use crate::observer::Wish;
use crate::posterior::Posterior;
use crate::run::Run;
use crate::start::{Start, setting};
use crate::train::{decoded, encoded};

/// The row of this method.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "nuts",
    aliases: &[],
    help: "Markov chains on all rows, by the No-U-Turn sampler",
    needs: "all rows in memory",
    cost: "all rows, a few to hundreds of times per draw",
    when: "the reference: hierarchies, and whatever is small enough",
    remedy: "write spreads non-centred, raise target-accept, or set walnuts",
    reads_all_rows: true,
    new: || Box::new(Nuts::default()),
    restore: |bytes| {
        restore_chains(bytes, |bytes| {
            let nuts: Nuts = decoded(bytes)?;
            Ok(Box::new(nuts))
        })
    },
};

/// The No-U-Turn sampler. What is `None` is chosen by the rules of `docs/methods.md`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Nuts {
    /// How many chains there are.
    pub chains: Option<usize>,
    /// Draws of each chain that are not kept.
    pub warm_up: Option<usize>,
    /// The acceptance that step sizes aim at.
    pub target_acceptance: Option<f64>,
    /// A trajectory has fewer than 2 to this power leapfrog steps.
    pub max_depth: Option<usize>,
    /// Whether steps are split where the energy error would be large: for funnels.
    pub walnuts: bool,
    /// Where the chains start.
    #[serde(skip)]
    pub start: Option<Arc<dyn Start>>,
}

impl Nuts {
    /// The sampler for a target. Narrow places, which spreads among the latents make, need small
    /// steps.
    fn sampler(&self, target: &Target<'_>) -> NutsSampler {
        let usual = NutsSampler::within(target.frame, target.log_density.size());
        let chains = self.chains.unwrap_or(usual.chains);
        let acceptance = if target.hierarchical {
            0.95
        } else {
            usual.target_acceptance
        };
        NutsSampler {
            chains,
            draws: target.draws.div_ceil(chains),
            warm_up: self.warm_up.unwrap_or(usual.warm_up),
            target_acceptance: self.target_acceptance.unwrap_or(acceptance),
            max_depth: self.max_depth.map_or(usual.max_depth, |depth| depth as u64),
            walnuts: self.walnuts,
            ..usual
        }
    }
}

impl ChainMethod for Nuts {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn start(&self) -> Option<&Arc<dyn Start>> {
        self.start.as_ref()
    }

    fn problem(&self) -> Option<String> {
        let flat = self.max_depth == Some(0);
        let depth = flat.then(|| "trajectories of depth 0 were asked for".into());
        chains::problem(self.chains, self.target_acceptance).or(depth)
    }

    fn sample(&self, target: &Target<'_>, watch: Watch<'_>) -> Result<Trace, ChainError> {
        self.sampler(target)
            .run(&target.log_density, target.seed, watch)
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

impl Method for Nuts {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn usual_draws(&self, _: &dyn Density) -> usize {
        4000
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let walnuts = vec![
            ("no", "every leapfrog step is as long", false),
            (
                "yes",
                "steps are split where the energy error is large",
                true,
            ),
        ];
        let mut settings = chains::settings(
            &mut self.chains,
            &mut self.warm_up,
            &mut self.target_acceptance,
        );
        settings.extend([
            Setting::count(
                "max-depth",
                "N",
                "doublings of a trajectory at the most",
                &mut self.max_depth,
            ),
            Setting::one_of(
                "walnuts",
                "steps of several lengths within a trajectory, for funnels",
                walnuts,
                &mut self.walnuts,
            ),
            setting(&mut self.start),
        ]);
        settings
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        chains::fit(self, density, run)
    }
}

/// The No-U-Turn sampler (Hoffman & Gelman 2014) with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NutsSampler {
    /// How many chains there are.
    pub chains: usize,
    /// Draws kept of each chain.
    pub draws: usize,
    /// Draws before those, in which step size and metric are found.
    pub warm_up: usize,
    /// The acceptance that step sizes aim at.
    pub target_acceptance: f64,
    /// A trajectory has fewer than 2 to this power leapfrog steps.
    pub max_depth: u64,
    /// Whether steps are split where the energy error would be large (WALNUTS): for funnels.
    pub walnuts: bool,
    /// What adapts during the warm-up.
    pub metric: Metric,
}

/// The momentum variance that the warm-up finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// A diagonal.
    Diagonal,
    /// A diagonal and a few directions.
    LowRank,
}

impl NutsSampler {
    /// The usual settings in a frame: a dense one leaves little for the warm-up to find.
    pub fn within(frame: &Frame, latents: usize) -> NutsSampler {
        const MOST_LOW_RANK: usize = 2000;
        let dense = matches!(frame, Frame::Dense { .. });
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
    /// When `watch` asks to stop, what has been drawn is kept.
    pub fn run(
        &self,
        log_density: &LogDensity<'_>,
        seed: u64,
        watch: &mut dyn FnMut(&ChainProgress) -> Wish,
    ) -> Result<Trace, ChainError> {
        let run = NutsRun {
            nuts: self,
            log_density,
            starts: starts(log_density, self.chains, seed)?,
            seed,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        };
        match self.metric {
            Metric::Diagonal => run.all(self.fill(DiagNutsSettings::default()), watch),
            Metric::LowRank => run.all(self.fill(LowRankNutsSettings::default()), watch),
        }
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
    log_density: &'a LogDensity<'a>,
    starts: Vec<Vec<f64>>,
    seed: u64,
    /// The next chain that no thread has taken.
    next: AtomicUsize,
    stopped: AtomicBool,
}

/// What a thread tells the one that watches.
enum Report {
    Draws { count: u64, divergences: u64 },
    Chain(usize, Result<Kept, ChainError>),
}

/// What is kept of one chain.
#[derive(Default)]
struct Kept {
    draws: Vec<f64>,
    energies: Vec<f64>,
    divergences: Vec<usize>,
    saturated: Vec<usize>,
    acceptance: f64,
    gradients: u64,
}

impl NutsRun<'_> {
    /// As many threads as the current pool has take one chain after another; this one watches.
    fn all<S: Settings>(
        &self,
        settings: S,
        watch: &mut dyn FnMut(&ChainProgress) -> Wish,
    ) -> Result<Trace, ChainError> {
        let threads = rayon::current_num_threads();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| ChainError::Sampler(error.to_string()))?;
        let mut kept: Vec<Option<Kept>> = self.starts.iter().map(|_| None).collect();
        let (sender, receiver) = channel();
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
        .and_then(|progress| join(kept, self.log_density.size(), progress.done))
        .map(|trace| Trace {
            warm_up: self.nuts.warm_up,
            ..trace
        })
    }

    fn watch(
        &self,
        mut progress: ChainProgress,
        receiver: &Receiver<Report>,
        kept: &mut [Option<Kept>],
        watch: &mut dyn FnMut(&ChainProgress) -> Wish,
    ) -> Result<ChainProgress, ChainError> {
        let mut failure = None;
        for report in receiver {
            match report {
                Report::Draws { count, divergences } => {
                    progress.done += count;
                    progress.divergences += divergences;
                    if watch(&progress) == Wish::Stop {
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

    fn work<S: Settings>(&self, settings: S, sender: &Sender<Report>) {
        loop {
            let chain = self.next.fetch_add(1, Ordering::Relaxed);
            if chain >= self.nuts.chains || self.stopped.load(Ordering::Relaxed) {
                return;
            }
            let found = self.chain(settings, chain, sender);
            // A send fails only if nobody watches any more.
            let _ = sender.send(Report::Chain(chain, found));
        }
    }

    fn chain<S: Settings>(
        &self,
        settings: S,
        chain: usize,
        sender: &Sender<Report>,
    ) -> Result<Kept, ChainError> {
        let mut random = Stream::new(self.seed, "nuts", chain as u64);
        let math = CpuMath::new(Position {
            lanes: self.log_density.lanes(),
        });
        let mut sampler = settings
            .new_chain(chain as u64, math, &mut random)
            .map_err(refused)?;
        sampler.set_position(&self.starts[chain]).map_err(refused)?;
        let mut kept = Kept::default();
        let total = self.nuts.warm_up + self.nuts.draws;
        for first in (0..total).step_by(ROUND) {
            let before = kept.divergences.len();
            let round = first..total.min(first + ROUND);
            for step in round.clone() {
                let (x, seen) = draw(&mut sampler)?;
                kept.gradients += seen.gradients;
                if step >= self.nuts.warm_up {
                    kept.push(self.log_density.latents(&x), &seen);
                }
            }
            let divergences = (kept.divergences.len() - before) as u64;
            let count = round.len() as u64;
            let _ = sender.send(Report::Draws { count, divergences });
            if self.stopped.load(Ordering::Relaxed) {
                break;
            }
        }
        kept.acceptance /= kept.energies.len().max(1) as f64;
        Ok(kept)
    }
}

impl Kept {
    fn push(&mut self, latents: Vec<f64>, seen: &Seen) {
        let draw = self.energies.len();
        self.divergences.extend(seen.diverged.then_some(draw));
        self.saturated.extend(seen.saturated.then_some(draw));
        self.draws.extend(latents);
        self.energies.push(seen.energy);
        self.acceptance += seen.acceptance;
    }
}

/// The chains side by side, as long as the shortest of those that came half as far as the
/// longest: all of them unless they were stopped.
fn join(kept: Vec<Option<Kept>>, size: usize, done: u64) -> Result<Trace, ChainError> {
    let length = |chain: &Kept| chain.energies.len();
    let chains: Vec<Kept> = kept.into_iter().flatten().collect();
    let longest = chains.iter().map(length).max().unwrap_or(0);
    let long = chains
        .iter()
        .filter(|chain| 2 * length(chain) >= longest.max(1));
    let long: Vec<&Kept> = long.collect();
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

/// What one draw tells of its trajectory.
#[derive(Default)]
struct Seen {
    energy: f64,
    acceptance: f64,
    saturated: bool,
    diverged: bool,
    gradients: u64,
}

/// One draw. The statistics are read by name: their types are the sampler's own.
fn draw<M: Math, C: Chain<M>>(sampler: &mut C) -> Result<(Box<[f64]>, Seen), ChainError> {
    let drawn = sampler.expanded_draw().map_err(refused)?;
    let (x, _, mut statistics, progress) = drawn;
    let mut seen = Seen {
        diverged: progress.diverging,
        gradients: progress.num_gradients,
        ..Seen::default()
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

/// The log density as nuts-rs wants it.
struct Position<'a> {
    lanes: Lanes<'a>,
}

/// What is not finite is a divergence, from which the sampler recovers.
impl LogpError for NotFinite {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl HasDims for Position<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        let size = self.lanes.size() as u64;
        HashMap::from([("unconstrained_parameter".to_owned(), size)])
    }
}

impl CpuLogpFunc for Position<'_> {
    type LogpError = NotFinite;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.lanes.size()
    }

    fn logp(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, NotFinite> {
        self.lanes.value(x, slope)
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        _: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(Vec::new())
    }
}
