//! Fresh draws of a trained guide, weighed on every row of the table.

use crate::full_data::{FullData, LocalRows, Query};
use crate::guide::{Gradient, Guide, Learned, PARAMS, Place};
use crate::observer::{End, Progress};
use crate::run::{Run, Stamp};
use crate::train::{TrainError, compile_within, weigh_prior};
use lehr_numeric::batch::BatchError;

/// Draws per run.
const LANES: usize = 16;
/// Sets the noise of evaluation apart from that of training.
const APART: u64 = 0x5eed_0000_e7a1_0a7e;

/// Draws and their log weights.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// z, one draw after another.
    pub latents: Vec<f64>,
    /// log p(D, z) − log q of each draw, on all rows: the mean is the bound.
    pub log_weights: Vec<f64>,
}

/// Draws z without weighing it on any row. A chain on a surrogate needs no table for this.
pub fn draw(
    place: Place<'_>,
    guide: &dyn Guide,
    learned: &Learned,
    (count, seed): (usize, u64),
) -> Result<Evaluated, BatchError> {
    let seed = seed.wrapping_add(APART);
    let compiled = |lanes: usize| {
        compile_within(place, learned, (lanes, seed), |context| {
            let weighed = weigh_prior(context, guide, Gradient::Total);
            vec![weighed.latents, weighed.log_weight]
        })
    };
    let (mut program, mut lanes) = (compiled(LANES)?, LANES);
    if program.reads_batches() {
        // The lanes of a run share its batch, but draws must be independent of one another.
        (program, lanes) = (compiled(1)?, 1);
    }
    program.set_learned(&learned.values);
    let size = place.density.latents().size();
    let mut drawn = Evaluated {
        latents: Vec::with_capacity(count * size),
        log_weights: Vec::with_capacity(count),
    };
    for step in 0..count.div_ceil(lanes) as u64 {
        program.fill(place.density.source(), step);
        program.run();
        let more = lanes.min(count - drawn.log_weights.len());
        drawn
            .latents
            .extend_from_slice(&program.output(0)[..more * size]);
        drawn
            .log_weights
            .extend_from_slice(&program.output(1)[..more]);
    }
    Ok(drawn)
}

/// Draws z and weighs it on every row, streamed.
pub fn evaluate(
    place: Place<'_>,
    guide: &dyn Guide,
    learned: &Learned,
    (count, seed): (usize, u64),
) -> Result<Evaluated, TrainError> {
    weigh_draws(place, guide, learned, count, &mut Run::new(seed, count))
}

/// As [`evaluate`], as a stage of a run: it is saved along the way and can be stopped.
pub(crate) fn weigh_draws(
    place: Place<'_>,
    guide: &dyn Guide,
    learned: &Learned,
    count: usize,
    run: &mut Run<'_>,
) -> Result<Evaluated, TrainError> {
    let mut drawn = draw(place, guide, learned, (count, run.seed))?;
    let mut stamp = Stamp::of(drawn.latents.iter().chain(&drawn.log_weights));
    // Draws are cheap and the same again: the weights of those that were weighed are all there
    // is to save.
    let mut weighed: Vec<f64> = run.resume(&stamp)?.unwrap_or_default();
    let size = place.density.latents().size();
    let params = learned.get(PARAMS).unwrap_or(&[]);
    let rows = LocalRows::new(place.density);
    let query = Query::LogLikelihood { lanes: LANES };
    let mut block = vec![0.0; LANES * size];
    while weighed.len() < count {
        let here = weighed.len()..count.min(weighed.len() + LANES);
        let latents = &drawn.latents[here.start * size..here.end * size];
        block[..latents.len()].copy_from_slice(latents);
        let sums = rows.sum(query, &[&block, params]);
        // A likelihood that does not depend on z is the same for every lane.
        let added = drawn.log_weights[here].iter().zip(sums[0].iter().cycle());
        weighed.extend(added.map(|(weight, value)| weight + value));
        let done = weighed.len() as u64;
        let progress = Progress::counted(done, "draws", End::At(count as u64));
        run.look(&mut stamp, &progress, &weighed)?;
    }
    run.finish(&stamp, &weighed)?;
    drawn.log_weights = weighed;
    Ok(drawn)
}
