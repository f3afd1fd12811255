//! The second opinion: Markov chains that start from the draws and show how those drift.
//!
//! Draws of the posterior keep their distribution under a kernel that leaves the posterior
//! invariant; draws of any other distribution move toward it. Chains detect what weights cannot:
//! regions that the draws never visit.

use lehr_density::rows_here;
use lehr_numeric::pareto::{Pareto, TailShape};
use lehr_numeric::summary::mean;

use super::agreement::{Agreement, DrawsKind, agreement, is_sure, listed};
use super::quantity::columns;
use super::remedy::Remedies;
use super::replacement::ReplacementDraws;
use super::{Reason, Subject, work};
use crate::chains::{ChainError, ChainProgress, Chains, Hmc, LogDensity, Trace};
use crate::error::TrainError;
use crate::estimate::Level;
use crate::guide::{WhitenedDensity, Whitening};
use crate::posterior::{Moments, Opinion, Posterior, Quantity};
use crate::run::Run;
use lehr_rows::watch::{End, Progress, Wish};

/// Rounds of chains, each three times as long as the last and in the coordinates that it found. One
/// is enough if nothing is wrong.
const ROUNDS: u32 = 3;
/// The most numbers that all rounds together may read, except that the first round always runs.
const MOST_WORK: usize = 1_500_000_000;
/// The most draws of chains that are kept as replacements.
const MOST_DRAWS: usize = 8192;

/// The chains of the last round, and their diagnostics.
pub(super) struct OpinionChains {
    trace: Trace,
    chains: Chains,
}

/// The number of chains and their first length: enough to detect a tenth of a standard deviation if
/// the table is small, fewer if a gradient on all rows is slow.
struct Length {
    chains: usize,
    draws: usize,
}

impl Length {
    /// `None` if chains would take longer than the fit.
    fn of(subject: &Subject<'_>) -> Option<Length> {
        let (chains, draws) = match work(subject.density) {
            0..10_000 => (64, 64),
            10_000..100_000 => (32, 32),
            100_000..300_000 => (16, 48),
            _ => return None,
        };
        let drawn = subject.draws.len() / subject.density.latents().size();
        Some(Length {
            chains: chains.min(drawn),
            draws,
        })
    }

    /// The sampler of a round.
    fn hmc(&self, round: u32) -> Hmc {
        Hmc {
            draws: self.chains * self.draws * 3_usize.pow(round),
            warm_up: 24,
            target_acceptance: 0.8,
            most_leapfrogs: 16,
        }
    }
}

/// The estimate from the unweighted draws that chains should confirm.
fn raw(pareto: &Pareto) -> DrawsKind {
    match TailShape::of(pareto) {
        TailShape::Even | TailShape::Light => DrawsKind::RawWithWeights,
        TailShape::Heavy | TailShape::Uncertain => DrawsKind::Raw,
    }
}

/// Runs chains from the draws, and longer ones until they confirm the draws or can replace them.
///
/// # Errors
/// If the observer stops the fit.
pub(super) fn run(
    subject: &Subject<'_>,
    quantities: &mut [Quantity],
    run: &mut Run<'_>,
) -> Result<Option<OpinionChains>, TrainError> {
    let density = subject.density;
    if density.locals().is_some() || !rows_here(density).is_resident() {
        return Ok(None);
    }
    let Some(length) = Length::of(subject) else {
        return Ok(None);
    };
    let size = density.latents().size();
    let mut from = subject.draws[..length.chains * size].to_vec();
    let mut whitening = subject.whitening().clone();
    let (mut found, mut read) = (None, 0);
    for round in 0..ROUNDS {
        let hmc = length.hmc(round);
        let Some(trace) = from_draws(&from, subject, &whitening, &hmc, run)? else {
            break;
        };
        note(quantities, &trace, subject);
        read += trace.gradients as usize * work(density);
        let last = |chain: usize| ((chain + 1) * trace.length() - 1) * size;
        let ends = (0..length.chains).map(|chain| &trace.draws[last(chain)..][..size]);
        from = ends.flatten().copied().collect();
        whitening = Whitening::of_draws(&trace.draws, size);
        let chains = Chains::of(&trace);
        let reliable = chains.level() == Level::Reliable;
        let settled = agreement(quantities, raw(subject.pareto)) == Agreement::Agrees
            || reliable && is_sure(quantities);
        found = Some(OpinionChains { trace, chains });
        // The next round would read three times as many numbers as the last.
        if settled || read.saturating_mul(3) > MOST_WORK {
            break;
        }
    }
    Ok(found)
}

/// The draws of the chains, if those of the guide are wrong or could not be confirmed, and the
/// chains are reliable by their own diagnostics and determine every quantity.
pub(super) fn stand_in(
    quantities: &[Quantity],
    heard: &OpinionChains,
    subject: &Subject<'_>,
) -> Option<ReplacementDraws> {
    let raw = agreement(quantities, raw(subject.pareto));
    let able = heard.chains.level() == Level::Reliable && is_sure(quantities);
    if raw == Agreement::Agrees || !able {
        return None;
    }
    let trace = heard.trace.thinned(MOST_DRAWS);
    Some(ReplacementDraws::Chains {
        chains: Box::new(Chains::of(&trace)),
        draws: trace.draws,
    })
}

/// Chains in whitened coordinates, from one draw each; `None` if they cannot run.
fn from_draws(
    from: &[f64],
    subject: &Subject<'_>,
    whitening: &Whitening,
    hmc: &Hmc,
    run: &mut Run<'_>,
) -> Result<Option<Trace>, TrainError> {
    let size = subject.density.latents().size();
    let place = WhitenedDensity {
        params: subject.params,
        ..WhitenedDensity::new(subject.density, whitening)
    };
    let log_density = LogDensity::new(place, from.len() / size);
    let start = from
        .chunks_exact(size)
        .flat_map(|z| whitening.coordinates(z));
    let mut stopped = Ok(());
    let watch = &mut |progress: &ChainProgress| {
        let end = End::At(progress.total);
        stopped = run.tell(&Progress::counted(progress.done, "draws of chains", end));
        stopped.as_ref().map_or(Wish::Stop, |()| Wish::Continue)
    };
    let trace: Result<Trace, ChainError> =
        hmc.run_from(start.collect(), &log_density, subject.seed, watch);
    stopped?;
    Ok(trace.ok())
}

/// Records the chains' moments of every quantity.
fn note(quantities: &mut [Quantity], trace: &Trace, subject: &Subject<'_>) {
    let columns = columns(subject.density, &trace.draws, subject.params);
    let mut columns = columns.into_iter();
    for quantity in quantities {
        // Quantities that are the same in every draw are left out.
        let own = columns.find(|(name, _)| *name == quantity.name);
        quantity.reference = own.map(|(_, values)| Moments::of_chains(&values, trace.chains));
    }
}

impl Opinion {
    pub(super) fn of(heard: &OpinionChains) -> Opinion {
        let trace = &heard.trace;
        Opinion {
            chains: trace.chains,
            length: trace.length(),
            acceptance: mean(&trace.acceptances),
            gradients: trace.gradients,
            level: heard.chains.level(),
        }
    }
}

pub(super) fn testify(posterior: &Posterior, _: &Remedies) -> Option<Reason> {
    let importance = posterior.importance()?;
    let opinion = importance.examination.opinion.as_ref()?;
    let quantities = &importance.examination.quantities;
    let chains = opinion.chains;
    // Chains that disagree with each other confirm nothing.
    let own = match agreement(quantities, raw(&importance.pareto)) {
        Agreement::Agrees if opinion.level == Level::Untrusted => Agreement::Unknown,
        own => own,
    };
    // Nearly equal weights correct nothing, and heavy-tailed ones agree only by chance.
    let light = TailShape::of(&importance.pareto) == TailShape::Light;
    let repaired = light && agreement(quantities, DrawsKind::Weighted) == Agreement::Agrees;
    let (level, sentence) = match own {
        Agreement::Agrees => (
            Level::Reliable,
            format!("{chains} Markov chains that start from the draws stay where they are"),
        ),
        Agreement::Differs(off) if posterior.chains().is_some() => (
            Level::Reliable,
            format!(
                "the draws are those of {chains} Markov chains that started from the fit's own, \
                 which were off: {}",
                listed(&off)
            ),
        ),
        Agreement::Unknown if posterior.chains().is_some() => (
            Level::Reliable,
            format!(
                "the draws are those of {chains} Markov chains that started from the fit's own, \
                 which could not be confirmed"
            ),
        ),
        Agreement::Differs(off) if repaired => (
            Level::Corrected,
            format!(
                "weights repair what {chains} Markov chains find to be off: {}",
                listed(&off)
            ),
        ),
        Agreement::Differs(off) => (
            Level::Untrusted,
            format!(
                "{chains} Markov chains that start from the draws move away: {}",
                listed(&off)
            ),
        ),
        Agreement::Unknown => (
            Level::Doubtful,
            format!(
                "{chains} Markov chains that start from the draws mix too slowly to confirm them"
            ),
        ),
    };
    Some(Reason::new(level, sentence))
}
