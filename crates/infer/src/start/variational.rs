//! The start `variational`: the best independent Gaussian for fixed draws, for models in which the
//! mode is misleading.  The joint density of random effects and their unknown standard deviation
//! has no useful maximum. In the centred form it grows without bound as the standard deviation goes
//! to 0; in the non-centred form its maximum has too large a standard deviation and effects too
//! near 0. The bound of a Gaussian has a maximum near the posterior in either form. With the draws
//! held fixed that bound is a smooth function, which a quasi-Newton method climbs in some hundred
//! evaluations (Giordano, Ingram and Broderick, "Black box variational inference with a
//! deterministic objective", 2024).

use lehr_density::Density;
use lehr_numeric::lbfgs::{LbfgsSettings, Maximum, StopReason};

use super::{Maximiser, PlainMaximiser, Start, StartRequest, StartingPoint, laplace};
use crate::error::StartError;
use crate::expansion::ExpansionPoint;
use crate::guide::{
    LOG_SCALE, LearnedBlocks, MEAN, MeanField, PARAMS, RowInput, Whitening, all_blocks,
};
use crate::objective::Score;
use crate::train::{Task, TrainSettings};

/// Draws that are held fixed.
const DRAWS: usize = 8;
/// Rows that are held fixed where the table has more.
const ROWS: usize = 1 << 17;
/// A start need not be exact: training continues from it with fresh draws.
const SEARCH: LbfgsSettings = LbfgsSettings {
    memory: 20,
    iterations: 300,
    gradient_tolerance: 1e-2,
    gain_tolerance: 1e-8,
    first_step: 1.0,
};

/// The best independent Gaussian for a fixed set of draws, which then whitens the guide's
/// coordinates: for models whose mode is far from the posterior, as with standard deviations of
/// groups.
#[derive(Clone, Copy, Debug)]
pub struct Variational;

impl Start for Variational {
    fn name(&self) -> &'static str {
        "variational"
    }

    fn help(&self) -> &'static str {
        "the best independent Gaussian for a fixed set of draws"
    }

    fn find(&self, request: &StartRequest<'_>) -> Result<StartingPoint, StartError> {
        let IndependentGaussian { centre, whitening } =
            climb_to_independent(request.density, request.seed, request.maximiser)?;
        Ok(laplace::around(request, centre, Some(whitening))?)
    }
}

/// An independent Gaussian near the posterior.
pub struct IndependentGaussian {
    /// Its mean, and θ.
    pub centre: ExpansionPoint,
    /// The coordinates in which it is standard normal.
    pub whitening: Whitening,
}

/// The default beginning, and alternatives if the bound is not finite around it: the size of standard
/// deviations, and the width of the first Gaussian in units of the curvature's scales.
const SIZES: [f64; 3] = [1.0, 0.1, 0.01];

/// Climbs to the best independent Gaussian for a fixed set of draws, from the first beginning that
/// succeeds.
///
/// # Errors If the table has too many rows to number, or every beginning fails.
pub fn best_independent(
    density: &dyn Density,
    seed: u64,
) -> Result<IndependentGaussian, StartError> {
    climb_to_independent(density, seed, &PlainMaximiser)
}

fn climb_to_independent(
    density: &dyn Density,
    seed: u64,
    maximiser: &dyn Maximiser,
) -> Result<IndependentGaussian, StartError> {
    for size in SIZES {
        if let Some(found) = climb_from(density, seed, size, maximiser)? {
            return Ok(found);
        }
    }
    let narrowest = SIZES[SIZES.len() - 1];
    Err(StartError::Refusal {
        problem: format!(
            "the bound is not finite around spreads of 1 and not even of {narrowest}, so there is \
             nothing to climb"
        ),
        hint: "give every site a proper prior and look for rows of an impossible size".into(),
    })
}

/// The best from one beginning; `None` if the bound is not finite, or not with other draws.
fn climb_from(
    density: &dyn Density,
    seed: u64,
    size: f64,
    maximiser: &dyn Maximiser,
) -> Result<Option<IndependentGaussian>, StartError> {
    let whitening =
        ExpansionPoint::with_spreads(density, size).diagonal_whitening(density, seed)?;
    let guide = MeanField::default();
    let mut learned = LearnedBlocks::new(all_blocks(density, &guide));
    whitening.start(&mut learned);
    if let Some(range) = learned.range_of(LOG_SCALE) {
        let narrower = size.ln();
        for log in &mut learned.values[range] {
            *log += narrower;
        }
    }
    let score = Score {
        rows: rows(density),
        control: None,
    };
    let task = Task {
        density,
        whitening: &whitening,
        guide: &guide,
        score: &score,
        seed,
    };
    let (maximum, is_sound) = climb(&task, &learned, maximiser)?;
    learned.values.copy_from_slice(&maximum.point);
    Ok(is_sound.then(|| independent(&whitening, &learned, &maximum)))
}

fn rows(density: &dyn Density) -> RowInput {
    if density.n_rows() <= ROWS {
        return RowInput::All;
    }
    RowInput::Batch {
        size: ROWS,
        purpose: "settle".into(),
    }
}

/// Sets of draws with which a maximum is checked.
const TRIALS: u64 = 4;

/// A maximum for some draws, and whether the bound is finite there with other draws, too.
fn climb(
    task: &Task<'_>,
    learned: &LearnedBlocks,
    maximiser: &dyn Maximiser,
) -> Result<(Maximum, bool), StartError> {
    let settings = TrainSettings {
        lanes: DRAWS,
        ..TrainSettings::default()
    };
    let mut program = task.program(learned, &settings)?;
    let source = task.density.source();
    program.fill(source, 0);
    let blocks = learned.blocks().len();
    let maximum = maximiser.climb(&learned.values, SEARCH, &mut |point, slope| {
        program.set_learned(point);
        program.run();
        program.gather(1..=blocks, slope);
        Ok(program.output(0)[0])
    })?;
    program.set_learned(&maximum.point);
    let mut is_finite = |trial: u64| {
        program.fill(source, trial);
        program.run();
        program.output(0)[0].is_finite()
    };
    let is_sound = maximum.reason != StopReason::BadStart && (1..=TRIALS).all(&mut is_finite);
    Ok((maximum, is_sound))
}

/// The Gaussian in the latents' own coordinates.
fn independent(
    whitening: &Whitening,
    learned: &LearnedBlocks,
    found: &Maximum,
) -> IndependentGaussian {
    let Whitening::Diagonal { shift, scale } = whitening else {
        unreachable!("the frame of independent latents is diagonal");
    };
    let block = |name| learned.range_of(name).map(|range| &learned.values[range]);
    let mean = block(MEAN).expect("a block of every Gaussian");
    let log_scale = block(LOG_SCALE).expect("a block of every Gaussian");
    let place = |((shift, scale), mean): ((&f64, &f64), &f64)| shift + scale * mean;
    let latents: Vec<f64> = shift.iter().zip(&**scale).zip(mean).map(place).collect();
    let scale = (scale.iter().zip(log_scale)).map(|(scale, log)| scale * log.exp());
    IndependentGaussian {
        whitening: Whitening::Diagonal {
            shift: latents.as_slice().into(),
            scale: scale.collect(),
        },
        centre: ExpansionPoint {
            latents,
            params: block(PARAMS).unwrap_or_default().to_vec(),
            log_joint: found.value,
            iterations: found.iterations,
            reason: found.reason,
        },
    }
}
