//! The Markov chain loop: find a start, run chains in its whitening, judge their draws. Every
//! method that runs chains is this loop with its own sampler.

use std::sync::Arc;
use std::time::Instant;

use lehr_density::{Density, Stored};
use lehr_numeric::pareto::Pareto;
use serde::{Deserialize, Serialize};

use crate::bytes::{decoded, encoded};
use crate::chains::{
    ChainError, ChainProgress, ChainStage, Chains, Failure, Hmc, LogDensity, Sample, Trace, Watch,
    log_evidence,
};
use crate::error::{FitError, StartError, TrainError};
use crate::estimate::{Choices, Evidence, Seconds};
use crate::expansion::{MAX_DENSE, has_hierarchy};
use crate::guide::{Base, FullRank, MeanField, WhitenedDensity, Whitening};
use crate::judge::{Subject, find_modes};
use crate::method::{LOCALS_HINT, MethodInfo, Sampler};
use crate::posterior::{Diagnostics, NO_ROWS, Origin, Posterior};
use crate::run::Run;
use crate::setting::{Setting, parsed};
use crate::start::{RunMaximiser, Start, StartRequest, choose, is_linear_without_hierarchy};
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
            Setting::count("chains", "N", "Markov chains", &mut self.chains),
            Setting::count(
                "warm-up",
                "N",
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
    /// The log density in the coordinates of the frame.
    pub log_density: LogDensity<'a>,
    /// The frame.
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
        draws: usize,
        seed: u64,
    ) -> Target<'a> {
        Target {
            log_density: LogDensity::new(place, method.lanes()),
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
    check(method, density, run)?;
    let clock = Instant::now();
    run.begin(Phase::START);
    let (name, whitening) = start(method, density, run)?;
    let start = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let place = WhitenedDensity::new(density, &whitening);
    let target = Target::new(method, place, run.draws, run.seed);
    let compile = clock.elapsed().as_secs_f64();
    run.begin(Phase::CHAINS);
    let clock = Instant::now();
    let trace = sampled(method, &target, run)?;
    let bytes = encoded(&(&whitening, method.bytes()));
    let fitted = ChainFit {
        law: DrawsOf::Posterior,
        name: method.info().name,
        bytes,
        contents: NO_ROWS.into(),
        choices: choices(name, &Chains::of(&trace)),
        trace,
        seconds: Seconds {
            start,
            compile,
            train: clock.elapsed().as_secs_f64(),
            evaluate: 0.0,
        },
    };
    conclude(fitted, density, run)
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

/// Draws of chains, with their origin.
pub(crate) struct ChainFit {
    /// The distribution of the draws.
    pub(crate) law: DrawsOf,
    /// The method.
    pub(crate) name: &'static str,
    /// The stored form of the fit.
    pub(crate) bytes: Vec<u8>,
    /// The user's rows that it contains, in words.
    pub(crate) contents: String,
    /// The automatic choices.
    pub(crate) choices: Choices,
    /// The draws.
    pub(crate) trace: Trace,
    /// Wall-clock time.
    pub(crate) seconds: Seconds,
}

/// Judges the draws. For stopped chains the evidence is not computed, because it needs values on
/// all rows.
pub(crate) fn conclude(
    fitted: ChainFit,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<Posterior, FitError> {
    let clock = Instant::now();
    let ChainFit {
        mut trace,
        mut choices,
        ..
    } = fitted;
    if !trace.is_complete() {
        let words = format!("after {} of {} draws", trace.len(), trace.planned);
        choices.push(("stopped".into(), words));
    }
    let evidence = if trace.is_complete() && fitted.law == DrawsOf::Posterior {
        evidence(&trace, density, run)?
    } else {
        None
    };
    trace
        .doubts
        .extend(missed(&trace, evidence.as_ref(), density, run)?);
    let chains = Chains::of(&trace);
    let origin = Origin {
        method: Stored {
            name: fitted.name.into(),
            bytes: fitted.bytes,
        },
        ..Origin::of(density, run.seed, fitted.contents)
    };
    Ok(Posterior {
        draws: trace.draws,
        latents: density.latents().clone(),
        spared: None,
        params: density.params().clone(),
        param_values: Vec::new(),
        evidence,
        choices,
        diagnostics: Diagnostics::Chains(chains),
        origin,
        seconds: Seconds {
            evaluate: clock.elapsed().as_secs_f64(),
            ..fitted.seconds
        },
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
    let base: Arc<dyn Base> = if density.latents().size() <= MAX_DENSE {
        Arc::new(FullRank::default())
    } else {
        Arc::new(MeanField::default())
    };
    let request = StartRequest {
        density,
        base,
        seed: run.seed,
        climber: &RunMaximiser::new(run),
        plain: is_linear_without_hierarchy(density),
        ends_at_best: true,
        expands: false,
    };
    let found = match method.start() {
        None => choose(&request),
        Some(start) => start.find(&request).map(|found| (start.name(), found)),
    };
    let found = found.map_err(|error| match error {
        StartError::Batch(error) => error.into(),
        StartError::Train(error) => error.into(),
        StartError::Refusal { problem, hint } => refused(method.info(), problem, &hint),
    });
    found.map(|(name, point)| (name, point.whitening))
}

/// The error of a method that cannot fit a model.
pub(crate) fn refused(info: &MethodInfo, problem: impl Into<String>, hint: &str) -> FitError {
    FitError::Setting {
        method: info.name,
        problem: problem.into(),
        hint: hint.into(),
    }
}

/// The error of chains, as an error of the fit.
pub(crate) fn refusal(info: &MethodInfo, error: ChainError) -> FitError {
    match error {
        ChainError::Stopped { done } => FitError::Train(TrainError::Stopped {
            doing: Phase::CHAINS.doing,
            done: format!("{done} draws of the warm-up"),
            saved: None,
        }),
        ChainError::NoStart { .. } => refused(
            info,
            error.to_string(),
            "standardise the columns, or give every latent a proper prior",
        ),
        ChainError::Sampler(problem) => refused(info, problem, "check the settings of the chains"),
    }
}

/// Refuses models and settings that chains do not support.
pub(crate) fn check(
    method: &dyn ChainMethod,
    density: &dyn Density,
    run: &Run<'_>,
) -> Result<(), FitError> {
    check_model(method.info(), method.problem(), density, run)
}

/// The same for a method that does not use the loop of this file, with the problem of its settings.
pub(crate) fn check_model(
    info: &MethodInfo,
    problem: Option<String>,
    density: &dyn Density,
    run: &Run<'_>,
) -> Result<(), FitError> {
    let refuse = |problem: String, hint: &str| Err(refused(info, problem, hint));
    let locals = density.locals();
    if let Some(site) = locals.and_then(|own| own.layout().sites().first()) {
        let problem = format!(
            "the model gives each row a latent of its own, {:?}",
            site.name
        );
        return refuse(problem, LOCALS_HINT);
    }
    if density.latents().size() == 0 {
        let problem = "the model has no latents to infer".into();
        return refuse(problem, "sample at least one site");
    }
    if let Some(site) = density.params().sites().first() {
        let problem = format!(
            "{:?} is learned, not random, and chains keep it fixed",
            site.name
        );
        return refuse(problem, "give it a prior: sample it instead");
    }
    if run.draws < 25 {
        let problem = format!(
            "{} draws were asked for, fewer than the 25 a verdict needs",
            run.draws
        );
        return refuse(problem, "1000 is usual");
    }
    match problem {
        Some(problem) => refuse(problem, "leave it out for the usual value"),
        None => Ok(()),
    }
}

/// Makes a method from its stored settings.
pub type ReadMethod = fn(&[u8]) -> Result<Box<dyn ChainMethod>, FitError>;

/// Chains that can be run again.
struct ChainSampler {
    whitening: Whitening,
    method: Box<dyn ChainMethod>,
}

/// Restores a fit by chains; `read` makes their method.
///
/// # Errors
/// If the bytes are not those of such a fit.
pub fn restore_chains(bytes: &[u8], read: ReadMethod) -> Result<Box<dyn Sampler>, FitError> {
    let (whitening, settings): (Whitening, Vec<u8>) = decoded(bytes)?;
    let method = read(&settings)?;
    Ok(Box::new(ChainSampler { whitening, method }))
}

impl Sampler for ChainSampler {
    /// Runs the chains again, on the rows that the density is bound to.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        let method = self.method.as_ref();
        let place = WhitenedDensity::new(density, &self.whitening);
        let target = Target::new(method, place, count, seed);
        let trace = method.sample(&target, &mut |_: &ChainProgress| Wish::Continue);
        let mut draws = trace.map_err(|error| refusal(method.info(), error))?.draws;
        draws.truncate(count * density.latents().size());
        Ok(draws)
    }
}
