//! The Markov chain loop: find a start, run chains in its whitening, judge their draws. Every
//! method that runs chains is this loop with its own sampler.

use std::sync::Arc;
use std::time::Instant;

use lehr_density::Density;
use lehr_numeric::pareto::Pareto;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bytes::{decoded, stored};
use crate::chains::{
    ChainError, ChainProgress, ChainStage, Chains, Failure, Hmc, LogDensity, Sample, Trace, Watch,
    log_evidence,
};
use crate::error::{FitError, TrainError};
use crate::estimate::{Choices, Evidence, Seconds};
use crate::expansion::{MAX_DENSE, has_hierarchy};
use crate::guide::{WhitenedDensity, Whitening};
use crate::judge::{Subject, find_modes};
use crate::method::{MethodInfo, Sampler, gaussian_up_to};
use crate::posterior::{Diagnostics, FitRecord, NO_ROWS, Posterior};
use crate::run::Run;
use crate::setting::{Setting, parsed};
use crate::start::{RunMaximiser, Start, StartRequest, find_start, is_linear_without_hierarchy};
use lehr_rows::watch::{Phase, Wish};

/// A method that runs Markov chains: its part of the loop.
pub trait ChainMethod: Send + Sync {
    /// Its row.
    fn info(&self) -> &'static MethodInfo;

    /// The start of its chains, if one was requested.
    fn start(&self) -> Option<&Arc<dyn Start>>;

    /// The number of chains that move as lanes of one plan.
    fn lanes(&self) -> usize {
        1
    }

    /// The problem with its settings, for any model.
    fn problem(&self) -> Option<String>;

    /// Runs the chains.
    ///
    /// # Errors
    /// If they cannot start, or are stopped before any draw is kept.
    fn sample(&self, target: &Target<'_>, watch: &mut dyn Watch) -> Result<Trace, ChainError>;

    /// Its settings in serialised form.
    fn bytes(&self) -> Vec<u8>;
}

/// The settings that all samplers have. Settings that are `None` are chosen by the rules of
/// `docs/methods.md`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SamplerSettings {
    /// How many chains there are.
    pub chains: Option<usize>,
    /// Warm-up draws of each chain.
    pub warm_up: Option<usize>,
    /// The target acceptance of step sizes.
    pub target_acceptance: Option<f64>,
}

impl SamplerSettings {
    /// The settings by name.
    pub fn settings(&mut self) -> Vec<Setting<'_>> {
        let target_acceptance = &mut self.target_acceptance;
        vec![
            Setting::count("chains", "Markov chains", &mut self.chains),
            Setting::count(
                "warm-up",
                "draws of each chain that find its step size and are not kept",
                &mut self.warm_up,
            ),
            Setting::new(
                "target-accept",
                "P",
                "the acceptance that step sizes aim at",
                move |text| {
                    *target_acceptance = Some(parsed(text, "a number")?);
                    Ok(())
                },
            ),
        ]
    }

    /// The problem with the settings.
    pub fn problem(&self) -> Option<String> {
        if self.chains == Some(0) {
            return Some("0 chains were asked for".into());
        }
        let acceptance = self.target_acceptance.filter(|a| !(*a > 0.0 && *a < 1.0));
        acceptance.map(|a| format!("expected an acceptance between 0 and 1, found {a}"))
    }

    /// Hamiltonian Monte Carlo in lockstep with these settings.
    pub(crate) fn hmc(&self, draws: usize) -> Hmc {
        let usual = Hmc::default();
        Hmc {
            draws,
            warm_up: self.warm_up.unwrap_or(usual.warm_up),
            target_acceptance: self.target_acceptance.unwrap_or(usual.target_acceptance),
            ..usual
        }
    }
}

/// The target of chains, and the wanted number of draws.
pub struct Target<'a> {
    /// The log density in whitened coordinates.
    pub log_density: LogDensity<'a>,
    /// The whitening.
    pub whitening: &'a Whitening,
    /// Whether a latent is the standard deviation of others, which causes narrow regions.
    pub hierarchical: bool,
    /// Draws of all chains together.
    pub draws: usize,
    /// The seed.
    pub seed: u64,
}

impl<'a> Target<'a> {
    fn new(
        method: &dyn ChainMethod,
        place: WhitenedDensity<'a>,
        asked: (usize, u64),
    ) -> Target<'a> {
        Target::on(LogDensity::new(place, method.lanes()), place, asked)
    }

    /// The target with a log density of its own, for this many draws and this seed.
    pub(crate) fn on(
        log_density: LogDensity<'a>,
        place: WhitenedDensity<'a>,
        (draws, seed): (usize, u64),
    ) -> Target<'a> {
        Target {
            log_density,
            whitening: place.whitening,
            hierarchical: has_hierarchy(place.density),
            draws,
            seed,
        }
    }

    /// Numbers that distinguish chains which must not share a checkpoint.
    pub(crate) fn numbers(&self, method: &dyn ChainMethod) -> Vec<f64> {
        let settings = method.bytes().into_iter().map(f64::from);
        let name = method.info().name.bytes().map(f64::from);
        let mut numbers: Vec<f64> = name.chain(settings).collect();
        numbers.extend([self.draws as f64, f64::from_bits(self.seed)]);
        numbers.extend(self.log_density.fingerprint());
        numbers
    }
}

/// Fits a model by chains.
///
/// # Errors
/// If a setting cannot work with this model, or the chains cannot run.
pub fn fit(
    method: &dyn ChainMethod,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<Posterior, FitError> {
    check(method.info(), method.problem(), density, run)?;
    let clock = Instant::now();
    run.begin(Phase::START);
    let (name, whitening) = start(method, density, run)?;
    let start = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let place = WhitenedDensity::new(density, &whitening);
    let target = Target::new(method, place, (run.draws, run.seed));
    let compile = clock.elapsed().as_secs_f64();
    run.begin(Phase::CHAINS);
    let clock = Instant::now();
    let trace = sampled(method, &target, run)?;
    let record = FitRecord {
        method: stored(method.info().name, &(&whitening, method.bytes())),
        contents: NO_ROWS.into(),
        choices: choices(name, &Chains::of(&trace)),
        seconds: Seconds {
            start,
            compile,
            train: clock.elapsed().as_secs_f64(),
            evaluate: 0.0,
        },
    };
    conclude(DrawsOf::Posterior, trace, record, density, run)
}

/// Runs the chains as a stage of a run.
pub(crate) fn sampled(
    method: &dyn ChainMethod,
    target: &Target<'_>,
    run: &mut Run<'_>,
) -> Result<Trace, FitError> {
    let numbers = target.numbers(method);
    let mut stage = ChainStage::new(run, &numbers)?;
    let sampled = method.sample(target, &mut stage);
    stage.finish()?;
    sampled.map_err(|error| match refusal(method.info(), error) {
        FitError::Train(TrainError::Stopped { doing, done, .. }) => {
            let saved = run.checkpoint.as_ref().map(|one| one.path.clone());
            FitError::Train(TrainError::Stopped { doing, done, saved })
        }
        other => other,
    })
}

/// The distribution of the draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrawsOf {
    /// The posterior itself.
    Posterior,
    /// An approximation of it, from whose draws no evidence can be computed.
    Approximation,
}

/// Judges the draws. For stopped chains the evidence is not computed, because it needs values on
/// all rows.
pub(crate) fn conclude(
    law: DrawsOf,
    mut trace: Trace,
    mut record: FitRecord,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<Posterior, FitError> {
    let clock = Instant::now();
    if !trace.is_complete() {
        let words = format!("after {} of {} draws", trace.len(), trace.planned);
        record.choices.push(("stopped".into(), words));
    }
    let evidence = if trace.is_complete() && law == DrawsOf::Posterior {
        evidence(&trace, density, run)?
    } else {
        None
    };
    trace
        .doubts
        .extend(missed(&trace, evidence.as_ref(), density, run)?);
    record.seconds.evaluate = clock.elapsed().as_secs_f64();
    let diagnostics = Diagnostics::Chains(Chains::of(&trace));
    Ok(Posterior {
        evidence,
        ..Posterior::new(density, trace.draws, diagnostics, record, run.seed)
    })
}

/// The log evidence, unless it cannot be computed or the observer stops the fit.
fn evidence(
    trace: &Trace,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<Option<Evidence>, FitError> {
    run.begin(Phase::EVIDENCE);
    let sample = Sample {
        draws: &trace.draws,
        chains: trace.chains,
        weights: None,
    };
    let found = match log_evidence(density, &sample, run) {
        Err(TrainError::Stopped { .. }) => None,
        found => found?,
    };
    Ok(found.map(Evidence::estimated))
}

/// A failure that chains which agree cannot detect: a mode that all of them miss.
fn missed(
    trace: &Trace,
    evidence: Option<&Evidence>,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<Option<Failure>, FitError> {
    if !trace.is_complete() {
        return Ok(None);
    }
    run.begin(Phase::EXAMINE);
    let own = evidence.map_or(f64::NEG_INFINITY, |one| one.estimate.mean);
    let even = Pareto::even_weights(trace.len(), own);
    let subject = Subject::new(density, &[], &trace.draws, &even, run.seed);
    let modes = match find_modes(&subject, run) {
        Err(TrainError::Stopped { .. }) => Vec::new(),
        found => found?,
    };
    let largest = modes.iter().map(|mode| mode.mass).fold(0.0, f64::max);
    Ok((!modes.is_empty()).then(|| {
        let share = 100.0 * largest;
        let found = format!("a mode that all chains miss (about {share:.0} % of the mass)");
        let advice = "tell the modes apart in the model, by a prior or an order";
        Failure::new(found, advice).untrusted()
    }))
}

pub(crate) fn choices(start: &str, chains: &Chains) -> Choices {
    let acceptance = lehr_numeric::summary::mean(&chains.acceptances);
    let per_draw = chains.gradients as f64 / chains.energies.len() as f64;
    [
        ("start", start.to_owned()),
        ("chains", chains.count.to_string()),
        ("draws of each chain", chains.length.to_string()),
        ("warm-up", chains.warm_up.to_string()),
        ("acceptance", format!("{acceptance:.2}")),
        ("gradients per draw", format!("{per_draw:.1}")),
    ]
    .map(|(what, how)| (what.to_owned(), how))
    .to_vec()
}

/// The whitening for chains: as dense as that of guides.
fn start(
    method: &dyn ChainMethod,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<(&'static str, Whitening), FitError> {
    let request = StartRequest {
        density,
        base: gaussian_up_to(MAX_DENSE, density),
        seed: run.seed,
        maximiser: &RunMaximiser::new(run),
        plain: is_linear_without_hierarchy(density),
        ends_at_best: true,
        expands: false,
    };
    let found = find_start(method.start(), &request);
    let (name, point) = found.map_err(|error| method.info().start_error(error))?;
    Ok((name, point.whitening))
}

/// The error of chains, as an error of the fit.
pub(crate) fn refusal(info: &MethodInfo, error: ChainError) -> FitError {
    match error {
        ChainError::Stopped { done } => FitError::Train(TrainError::Stopped {
            doing: Phase::CHAINS.doing,
            done: format!("{done} draws of the warm-up"),
            saved: None,
        }),
        ChainError::NoStart { .. } => {
            let hint = "standardise the columns, or give every latent a proper prior";
            info.refuse(error.to_string(), hint)
        }
        ChainError::Sampler(problem) => info.refuse(problem, "check the settings of the chains"),
        ChainError::Rows(lost) => lost.into(),
    }
}

/// Refuses models that chains do not support, and settings with a problem.
pub(crate) fn check(
    info: &MethodInfo,
    problem: Option<String>,
    density: &dyn Density,
    run: &Run<'_>,
) -> Result<(), FitError> {
    info.check_latents(density)?;
    if let Some(site) = density.params().sites().first() {
        let name = &site.name;
        let problem = format!("{name:?} is learned, not random, and chains keep it fixed");
        return Err(info.refuse(problem, "give it a prior: sample it instead"));
    }
    info.check_settings(run.draws, problem)
}

/// z of the first draws of chains that were run again: this many numbers.
pub(crate) fn first_draws(
    info: &MethodInfo,
    trace: Result<Trace, ChainError>,
    numbers: usize,
) -> Result<Vec<f64>, FitError> {
    let mut draws = trace.map_err(|error| refusal(info, error))?.draws;
    draws.truncate(numbers);
    Ok(draws)
}

/// Chains that can be run again.
struct ChainSampler<M> {
    whitening: Whitening,
    method: M,
}

/// Restores a fit by chains of this method.
///
/// # Errors
/// If the bytes are not those of such a fit.
pub fn restore_chains<M: ChainMethod + DeserializeOwned + 'static>(
    bytes: &[u8],
) -> Result<Box<dyn Sampler>, FitError> {
    let (whitening, settings): (Whitening, Vec<u8>) = decoded(bytes)?;
    let method: M = decoded(&settings)?;
    Ok(Box::new(ChainSampler { whitening, method }))
}

impl<M: ChainMethod> Sampler for ChainSampler<M> {
    /// Runs the chains again, on the rows that the density is bound to.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        let place = WhitenedDensity::new(density, &self.whitening);
        let target = Target::new(&self.method, place, (count, seed));
        let watch = &mut |_: &ChainProgress| Wish::Continue;
        let trace = self.method.sample(&target, watch);
        first_draws(self.method.info(), trace, count * density.latents().size())
    }
}
