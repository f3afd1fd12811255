//! The second opinion: Markov chains that start from the draws and show where those drift to.
//!
//! Draws of the posterior stay what they are under a kernel that leaves the posterior invariant;
//! draws of anything else move toward it. The chains see what weights cannot: places that the
//! draws never visit.

use lehr_numeric::summary::{mean, normal_quantile};
use serde::{Deserialize, Serialize};

use super::Subject;
use super::quantity::{Gap, Moments, Quantity, columns};
use super::{Level, Reason, Shape, Witness, work};
use crate::chains::{Chains, Hmc, LogDensity, Place, Trace};
use crate::guide::Frame;
use crate::observer::Wish;
use crate::pass::is_resident;
use crate::posterior::Posterior;

pub(super) const WITNESS: Witness = Witness {
    name: "chains",
    gives_way: false,
    testify,
};

/// A mean that is off by more than this many standard deviations, and a standard deviation by more
/// than this share, is named.
pub const MOST_SHIFT: f64 = 0.1;
/// See [`MOST_SHIFT`].
pub const MOST_RATIO: f64 = 0.05;
/// What is known less well than this has not been confirmed.
const KNOWN_SHIFT: f64 = 0.25;
const KNOWN_RATIO: f64 = 0.15;
/// How often all quantities together may seem to be off by chance.
const CHANCE: f64 = 0.003;
/// Rounds of chains, each longer than the last and in the coordinates that it found. One is enough
/// where nothing is off.
const ROUNDS: usize = 2;

/// Chains that were run from the draws. What they say of every quantity is with the quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// How many chains there were.
    pub chains: usize,
    /// Draws of each that count.
    pub length: usize,
    /// Their mean acceptance.
    pub acceptance: f64,
    /// Gradients on all rows that they took.
    pub gradients: u64,
}

/// What the chains say of one account of the quantities.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Agreement {
    /// Nothing is off, as far as matters.
    Agrees,
    /// These are off, the worst first.
    Differs(Vec<Off>),
    /// The chains know too little.
    Unknown,
}

/// A quantity that is off.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Off {
    pub(super) name: String,
    pub(super) gap: Gap,
}

impl Off {
    /// How far it is off, in multiples of what is tolerated.
    fn size(&self) -> f64 {
        let wide = self.gap.log_ratio.abs() / MOST_RATIO;
        (self.gap.shift.abs() / MOST_SHIFT).max(wide)
    }
}

impl std::fmt::Display for Off {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Gap {
            shift, log_ratio, ..
        } = self.gap;
        let (name, ratio) = (&self.name, log_ratio.exp());
        write!(f, "{name} (mean off by {shift:+.2} sd, sd × {ratio:.2})")
    }
}

/// The z-value beyond which one of so many quantities is off and not there by chance.
pub(super) fn beyond_chance(quantities: usize) -> f64 {
    -normal_quantile(0.5 * CHANCE / quantities.max(1) as f64)
}

/// Those of some gaps that matter and are not there by chance, the worst first.
pub(super) fn off<'a>(gaps: impl Iterator<Item = (&'a str, Gap)>, z: f64) -> Vec<Off> {
    let matters = |(_, gap): &(&str, Gap)| {
        gap.shift.abs() > MOST_SHIFT.max(z * gap.shift_error)
            || gap.log_ratio.abs() > MOST_RATIO.max(z * gap.log_ratio_error)
    };
    let found = gaps.filter(matters).map(|(name, gap)| Off {
        name: name.to_owned(),
        gap,
    });
    let mut found: Vec<Off> = found.collect();
    found.sort_by(|a, b| b.size().total_cmp(&a.size()));
    found
}

/// Compares one account of every quantity with that of the chains.
pub(super) fn agreement(quantities: &[Quantity], account: fn(&Quantity) -> &Moments) -> Agreement {
    let z = beyond_chance(quantities.len());
    let gap = |one: &'_ Quantity| one.chains.map(|chains| account(one).gap_from(&chains));
    let gaps: Option<Vec<Gap>> = quantities.iter().map(gap).collect();
    let Some(gaps) = gaps else {
        return Agreement::Unknown;
    };
    let names = quantities.iter().map(|one| one.name.as_str());
    let off = off(names.zip(gaps.iter().copied()), z);
    // What is not a number is not known.
    let known = |one: &Quantity| {
        let own = one.chains.as_ref();
        own.is_some_and(|chains| {
            let (mean, sd) = (chains.mean_error / chains.sd, chains.sd_error);
            z * mean < KNOWN_SHIFT && z * sd < KNOWN_RATIO
        })
    };
    if !off.is_empty() {
        Agreement::Differs(off)
    } else if quantities.iter().all(known) {
        Agreement::Agrees
    } else {
        Agreement::Unknown
    }
}

/// How many chains run for how long: as many as tell a tenth of a standard deviation where the
/// table is small, fewer where a gradient on all rows takes long.
struct Length {
    chains: usize,
    draws: usize,
}

impl Length {
    /// `None` where chains would take longer than the fit, and on larger tables where the weights
    /// are all but equal: what could still be wrong then lies in the tails.
    fn of(subject: &Subject<'_>) -> Option<Length> {
        let alike = Shape::of(subject.pareto) == Shape::Alike;
        let (chains, draws) = match work(subject.density) {
            0..10_000 => (64, 64),
            _ if alike => return None,
            10_000..100_000 => (32, 32),
            100_000..300_000 => (16, 48),
            _ => return None,
        };
        Some(Length { chains, draws })
    }
}

/// Runs chains from the draws, and longer ones where those do not agree with them.
pub(super) fn run(subject: &Subject<'_>, quantities: &mut [Quantity]) -> Option<Trace> {
    let density = subject.density;
    if density.locals().is_some() || !is_resident(density) {
        return None;
    }
    let mut length = Length::of(subject)?;
    let size = density.latents().size();
    length.chains = length.chains.min(subject.draws.len() / size);
    let mut from = subject.draws[..length.chains * size].to_vec();
    let mut frame = Frame::of_draws(subject.draws, size);
    let mut found = None;
    for round in 0..ROUNDS {
        let hmc = Hmc {
            draws: length.chains * length.draws * (1 + 2 * round),
            warm_up: 24,
            target_acceptance: 0.8,
            most_leapfrogs: 16,
        };
        let trace = from_draws(&from, subject, &frame, &hmc)?;
        take(quantities, &trace, subject);
        if agreement(quantities, |one| &one.raw) == Agreement::Agrees {
            found = Some(trace);
            break;
        }
        let last = |chain: usize| ((chain + 1) * trace.length() - 1) * size;
        let ends = (0..length.chains).map(|chain| &trace.draws[last(chain)..][..size]);
        from = ends.flatten().copied().collect();
        frame = Frame::of_draws(&trace.draws, size);
        found = Some(trace);
    }
    found
}

/// Draws of chains that stand in for those of a guide, and what they are worth.
pub struct StandIn {
    /// z, one chain after another.
    pub draws: Vec<f64>,
    /// What the draws are worth.
    pub chains: Chains,
}

/// The draws of the chains, where they find the others to be off and are reliable by the measures
/// of chains.
pub(super) fn stand_in(quantities: &[Quantity], trace: Trace) -> Option<StandIn> {
    let raw = agreement(quantities, |one| &one.raw);
    if !matches!(raw, Agreement::Differs(_)) {
        return None;
    }
    let chains = Chains::of(&trace);
    (chains.level() == Level::Reliable).then_some(StandIn {
        draws: trace.draws,
        chains,
    })
}

/// Chains in a frame, from one draw each.
fn from_draws(from: &[f64], subject: &Subject<'_>, frame: &Frame, hmc: &Hmc) -> Option<Trace> {
    let size = subject.density.latents().size();
    let place = Place {
        density: subject.density,
        frame,
        params: subject.params,
    };
    let log_density = LogDensity::new(place, from.len() / size);
    let start = from.chunks_exact(size).flat_map(|z| frame.coordinates(z));
    let nobody = &mut |_: &_| Wish::Continue;
    let trace = hmc.run_from(start.collect(), &log_density, subject.seed, nobody);
    trace.ok()
}

/// Notes what the chains say of every quantity.
fn take(quantities: &mut [Quantity], trace: &Trace, subject: &Subject<'_>) {
    let columns = columns(subject.density.latents(), &trace.draws);
    let mut columns = columns.into_iter();
    for quantity in quantities {
        // Quantities that are the same in every draw are left out.
        let own = columns.find(|(name, _)| *name == quantity.name);
        quantity.chains = own.map(|(_, values)| Moments::of_chains(&values, trace.chains));
    }
}

impl Opinion {
    pub(super) fn of(trace: &Trace) -> Opinion {
        Opinion {
            chains: trace.chains,
            length: trace.length(),
            acceptance: mean(&trace.acceptances),
            gradients: trace.gradients,
        }
    }
}

/// The first few names, and how many more there are.
pub(super) fn listed(off: &[Off]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = off.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = match off.len().saturating_sub(SHOWN) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    shown.join(", ") + &more
}

fn testify(posterior: &Posterior) -> Option<Reason> {
    let examination = &posterior.importance()?.examination;
    let opinion = examination.opinion.as_ref()?;
    let quantities = &examination.quantities;
    let chains = opinion.chains;
    let raw = agreement(quantities, |one| &one.raw);
    let weighted = agreement(quantities, |one| &one.weighted);
    // Weights that are all but equal repair nothing, and those with a heavy tail agree by chance.
    let light = Shape::of(&posterior.importance()?.pareto) == Shape::Light;
    let (level, sentence) = match (raw, weighted) {
        (Agreement::Differs(off), _) if posterior.chains().is_some() => (
            Level::Reliable,
            format!(
                "the draws are those of {chains} Markov chains that started from the fit's own, \
                 which were off: {}",
                listed(&off)
            ),
        ),
        (Agreement::Agrees, _) => (
            Level::Reliable,
            format!("{chains} Markov chains that start from the draws stay where they are"),
        ),
        (Agreement::Differs(off), Agreement::Agrees) if light => (
            Level::Corrected,
            format!(
                "weights repair what {chains} Markov chains find to be off: {}",
                listed(&off)
            ),
        ),
        (Agreement::Differs(off), _) => (
            Level::Untrusted,
            format!(
                "{chains} Markov chains that start from the draws move away: {}",
                listed(&off)
            ),
        ),
        (Agreement::Unknown, _) => (
            Level::Doubtful,
            format!(
                "{chains} Markov chains that start from the draws mix too slowly to confirm them"
            ),
        ),
    };
    Some(Reason {
        witness: WITNESS.name.into(),
        level,
        sentence,
        advice: None,
    })
}
