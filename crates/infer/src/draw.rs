//! Fresh draws of a trained guide, weighed on every row of the table.

use lehr_density::Density;
use lehr_density::job::{LogLikelihood, all_rows, local_rows};
use lehr_graph::Graph;
use lehr_numeric::batch::BatchError;
use lehr_rows::watch::{End, Progress, Wish};
use lehr_rows::{LANES, PassControl, PassPosition, fold, fold_watched};

use crate::difference_estimator::{self, DifferenceEstimate};
use crate::error::TrainError;
use crate::estimate::Estimate;
use crate::guide::{Context, Guide, LearnedBlocks, PARAMS, WhitenedDensity};
use crate::likelihood::Likelihoods;
use crate::objective::weigh_prior;
use crate::program::compile_within;
use crate::run::{Run, StageFingerprint};

/// Separates the noise of evaluation from that of training.
const APART: u64 = 0x5eed_0000_e7a1_0a7e;

/// Draws and their log weights.
#[derive(Clone, Debug)]
pub struct ImportanceDraws {
    /// z, one draw after another.
    pub latents: Vec<f64>,
    /// log p(D, z) − log q of each draw, on all rows: the mean is the bound.
    pub log_weights: Vec<f64>,
    /// The accuracy of the weights, if they come from a sample of the rows.
    pub sampling: Option<DifferenceEstimate>,
}

impl ImportanceDraws {
    /// The mean of the log weights.
    pub fn bound(&self) -> Estimate {
        Estimate::of(&self.log_weights).widened(self.sample_error())
    }

    /// The error of the weights from the sample: all draws use the same rows, so it does not
    /// average out.
    pub(crate) fn sample_error(&self) -> f64 {
        (self.sampling.as_ref()).map_or(0.0, |sampling| sampling.error)
    }
}

/// Draws z without importance weights. A chain on a surrogate needs no table for this.  A chain
/// whose steps are too long for its starting point may overflow, where the posterior has no mass.
/// Another draw replaces it, and the log weights are those of a guide without such chains: the log
/// of the valid share is subtracted, so that the bound remains valid.
///
/// # Errors
/// If a batch is larger than the table.
pub fn draw(
    place: WhitenedDensity<'_>,
    guide: &dyn Guide,
    learned: &LearnedBlocks,
    (count, seed): (usize, u64),
) -> Result<ImportanceDraws, BatchError> {
    let settings = DrawSettings {
        count,
        seed,
        treatment: NonFiniteDraws::Replaced,
    };
    drawn(place, guide, learned, settings)
}

/// The number of draws, their seed, and the treatment of those that are not finite.
#[derive(Clone, Copy)]
pub(crate) struct DrawSettings {
    pub(crate) count: usize,
    pub(crate) seed: u64,
    pub(crate) treatment: NonFiniteDraws,
}

/// The treatment of draws that are not finite.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum NonFiniteDraws {
    /// They are kept, for callers that look for them.
    Kept,
    /// They are replaced by others, unless more than half of all draws are not finite.
    Replaced,
}

/// As [`draw`], with a choice for draws that are not finite.
pub(crate) fn drawn(
    place: WhitenedDensity<'_>,
    guide: &dyn Guide,
    learned: &LearnedBlocks,
    settings: DrawSettings,
) -> Result<ImportanceDraws, BatchError> {
    let (count, seed) = (settings.count, settings.seed.wrapping_add(APART));
    let compiled = |lanes: usize| {
        compile_within(place, learned, (lanes, seed), |context| {
            let (weighed, _) = weigh_prior(context, guide);
            vec![weighed.latents, weighed.log_weight]
        })
    };
    let (mut program, mut lanes) = (compiled(LANES)?, LANES);
    if program.reads_batches() {
        // The lanes of a run share a batch, but draws must be independent of one another.
        (program, lanes) = (compiled(1)?, 1);
    }
    program.set_learned(&learned.values);
    let size = place.density.latents().size();
    let mut drawn = ImportanceDraws {
        latents: Vec::with_capacity(count * size),
        log_weights: Vec::with_capacity(count),
        sampling: None,
    };
    let mut lost = 0;
    let mut step = 0;
    while drawn.log_weights.len() < count {
        program.fill(place.density.source(), step);
        program.run();
        step += 1;
        for lane in 0..lanes.min(count - drawn.log_weights.len()) {
            let z = &program.output(0)[lane * size..][..size];
            let keeps = settings.treatment == NonFiniteDraws::Kept
                || lost > count
                || z.iter().all(|entry| entry.is_finite());
            if keeps {
                drawn.latents.extend_from_slice(z);
                drawn.log_weights.push(program.output(1)[lane]);
            } else {
                lost += 1;
            }
        }
    }
    let share = drawn.log_weights.len() as f64 / (drawn.log_weights.len() + lost) as f64;
    let weights = drawn.log_weights.iter_mut();
    weights.for_each(|weight| *weight += share.ln());
    Ok(drawn)
}

/// Draws z and weighs it on every row, in a streaming pass.
pub fn evaluate(
    place: WhitenedDensity<'_>,
    guide: &dyn Guide,
    learned: &LearnedBlocks,
    (count, seed): (usize, u64),
) -> Result<ImportanceDraws, TrainError> {
    weigh_draws(place, guide, learned, count, &mut Run::new(seed, count))
}

/// As [`evaluate`], as a stage of a run: it is saved along the way and can be stopped.
pub(crate) fn weigh_draws(
    place: WhitenedDensity<'_>,
    guide: &dyn Guide,
    learned: &LearnedBlocks,
    count: usize,
    run: &mut Run<'_>,
) -> Result<ImportanceDraws, TrainError> {
    let mut drawn = draw(place, guide, learned, (count, run.seed))?;
    let params = learned.get(PARAMS).unwrap_or(&[]);
    // The expansion at the mode is known already.
    let centre = place
        .density
        .elsewhere()
        .and_then(|_| place.whitening.shift());
    let draws = (&drawn.latents[..], centre);
    let sampled = difference_estimator::log_likelihoods(place.density, draws, params, run)?;
    let values = match sampled {
        Some((values, sampling)) => {
            drawn.sampling = Some(sampling);
            values
        }
        None => log_likelihoods(place.density, &drawn.latents, params, run)?,
    };
    let weights = drawn.log_weights.iter_mut().zip(values);
    weights.for_each(|(weight, value)| *weight += value);
    Ok(drawn)
}

/// Σ log p(yₙ | z) of every draw, as a stage of a run. For any number of draws the rows are read
/// once, in blocks whose sums are added in their order.
pub(crate) fn log_likelihoods(
    density: &dyn Density,
    draws: &[f64],
    params: &[f64],
    run: &mut Run<'_>,
) -> Result<Vec<f64>, TrainError> {
    const ROWS: usize = 8192;
    if density.elsewhere().is_some() {
        return asked_elsewhere(density, draws, params, run);
    }
    let mut stamp = StageFingerprint::of(draws);
    let job = LogLikelihood::new(density, draws, params);
    let job = job.in_full_lanes().in_blocks(ROWS);
    let n_rows = density.n_rows();
    let end = End::At(n_rows as u64);
    let resume: Option<PassPosition<Vec<f64>>> = run.resume(&stamp)?;
    let mut failure = None;
    let mut look = |next: usize, sums: &Vec<f64>| {
        let progress = Progress::counted(next as u64, "rows", end);
        failure = run.look(&mut stamp, &progress, &(next, sums)).err();
        failure.as_ref().map_or(Wish::Continue, |_| Wish::Stop)
    };
    let control = PassControl {
        resume,
        look: &mut look,
    };
    let found = fold_watched(&local_rows(density), &job, control);
    if let Some(error) = failure {
        return Err(error);
    }
    let sums = found?;
    run.finish(&stamp, &(n_rows, &sums))?;
    Ok(sums)
}

/// The same, by a sample if all rows are stored elsewhere and a sample is accurate enough: a
/// message for every few draws would take longer than the chains that made them.
pub(crate) fn sparing(
    density: &dyn Density,
    draws: &[f64],
    run: &mut Run<'_>,
) -> Result<(Vec<f64>, Option<DifferenceEstimate>), TrainError> {
    if density.elsewhere().is_some()
        && let Some((values, sampling)) =
            difference_estimator::log_likelihoods(density, (draws, None), &[], run)?
    {
        return Ok((values, Some(sampling)));
    }
    Ok((log_likelihoods(density, draws, &[], run)?, None))
}

/// The same for rows that are stored elsewhere: the draws in one message share a pass.
fn asked_elsewhere(
    density: &dyn Density,
    draws: &[f64],
    params: &[f64],
    run: &mut Run<'_>,
) -> Result<Vec<f64>, TrainError> {
    const DRAWS: usize = 256;
    let (rows, size) = (all_rows(density), density.latents().size());
    let mut stamp = StageFingerprint::of(draws);
    let mut values: Vec<f64> = run.resume(&stamp)?.unwrap_or_default();
    let end = End::At((draws.len() / size) as u64);
    let done = values.len() * size;
    for some in draws[done..].chunks(DRAWS * size) {
        values.extend(fold(&*rows, &LogLikelihood::new(density, some, params))?);
        let progress = Progress::counted(values.len() as u64, "draws", end);
        run.look(&mut stamp, &progress, &values)?;
    }
    run.finish(&stamp, &values)?;
    Ok(values)
}

/// Weighs external draws of z on every row: each is treated as the end of a path of the guide,
/// whose beginning is drawn backwards. `None` if the guide cannot be run backwards.
///
/// # Errors
/// If a batch is larger than the table, or rows cannot be reached.
pub fn reverse_log_weights(
    place: WhitenedDensity<'_>,
    guide: &dyn Guide,
    learned: &LearnedBlocks,
    (draws, seed): (&[f64], u64),
) -> Result<Option<Vec<f64>>, TrainError> {
    const ENDS: &str = "ends";
    let size = place.density.latents().size();
    let graph = Graph::new();
    let context = Context::within(&graph, place.density, place.whitening);
    let ends = graph.laned_input(ENDS, [size]);
    if guide.reversed(&context, ends).is_none() {
        return Ok(None);
    }
    let run = (LANES, seed.wrapping_add(APART));
    let mut program = compile_within(place, learned, run, |context| {
        let ends = context.graph().laned_input(ENDS, [size]);
        let own = guide.reversed(context, ends).expect("it was asked before");
        let prior = context.density().log_prior(&context.at(ends));
        vec![own + context.whitening().log_volume() + prior]
    })?;
    program.set_learned(&learned.values);
    let slot = program.plan().input_named(ENDS);
    let params = learned.get(PARAMS).unwrap_or(&[]);
    let rows = Likelihoods::new(place.density, params);
    let mut weighed = Vec::with_capacity(draws.len() / size.max(1));
    let mut ends = vec![0.0; LANES * size];
    for (step, some) in draws.chunks(LANES * size).enumerate() {
        let coordinates = some
            .chunks(size)
            .flat_map(|z| place.whitening.coordinates(z));
        ends.iter_mut().zip(coordinates).for_each(|(to, w)| *to = w);
        program.workspace_mut().set_input(slot, &ends);
        program.fill(place.density.source(), step as u64);
        program.run();
        let own = program.output(0)[..some.len() / size].iter();
        weighed.extend(own.zip(rows.of(some)?).map(|(a, b)| a + b));
    }
    Ok(Some(weighed))
}
