//! The start `natural`: a Gaussian by natural gradients while θ is learned, then the best Gaussian
//! at that θ.

mod gaussian_update;
mod steps;

pub use steps::{NaturalSteps, applies};

use lehr_density::Density;
use lehr_numeric::lbfgs::StopReason;
use lehr_rows::RowsError;

use super::quadrature::climb_from;
use super::{Start, StartRequest, StartingPoint, Walk, laplace};
use crate::bytes::{decoded, encoded};
use crate::error::StartError;
use crate::expansion::ExpansionPoint;
use crate::fixed::DensityAtParams;
use crate::run::StageFingerprint;
use lehr_rows::watch::{End, Progress};

/// With more latents a step takes too long.
const MOST_LATENTS: usize = 512;
/// Rows of a batch.
const BATCH: usize = 256;
/// The number of steps.
const STEPS: u64 = 3000;
/// The learning rate of θ up to [`LEVEL`] steps, and at the last step, towards which it decreases
/// geometrically.
const RATES: [f64; 2] = [1e-2, 1e-4];
const LEVEL: u64 = 1800;
/// ρ at the first step, from [`RAMP`] steps on, and at the last. It decreases with the rate, so
/// that the end averages over more rows.
const SHARES: [f64; 3] = [1e-2, 0.1, 2e-2];
const RAMP: u64 = 200;

/// A Gaussian by natural gradients while parameters θ are learned, and then the best Gaussian at
/// that θ on all rows: for functions by inducing points.
#[derive(Clone, Copy, Debug)]
pub struct Natural;

impl Start for Natural {
    fn name(&self) -> &'static str {
        "natural"
    }

    fn help(&self) -> &'static str {
        "natural gradients while parameters are learned, for Gaussian processes by inducing points"
    }

    fn find(&self, request: &StartRequest<'_>) -> Result<StartingPoint, StartError> {
        let density = request.density;
        if density.latents().size() > MOST_LATENTS || !request.plain || !applies(density) {
            return Err(StartError::Refusal {
                problem: format!(
                    "a start by natural gradients needs one linear predictor per row whose slopes \
                     are learned, Gaussian priors, rows in memory and at most {MOST_LATENTS} latents"
                ),
                hint: "start from variational".into(),
            });
        }
        let batch = BATCH.min(density.n_rows());
        let mut learning = NaturalWalk {
            steps: NaturalSteps::new(density, batch, request.seed)?,
            density,
            seed: request.seed,
            done: 0,
            bound: f64::NAN,
        };
        request.maximiser.walk(&mut learning)?;
        Ok(found(request, &learning.steps)?)
    }
}

/// ρ of a step, and its learning rate of θ.
pub fn pace(step: u64) -> (f64, f64) {
    let between = |first: f64, last: f64, way: f64| first * (last / first).powf(way.min(1.0));
    let fallen = step.saturating_sub(LEVEL) as f64 / (STEPS - LEVEL) as f64;
    let risen = step as f64 / RAMP as f64;
    let [low, high, last] = SHARES;
    let share = if step < LEVEL {
        between(low, high, risen)
    } else {
        between(high, last, fallen)
    };
    (share, between(RATES[0], RATES[1], fallen))
}

/// The steps in progress.
struct NaturalWalk<'d> {
    steps: NaturalSteps<'d>,
    density: &'d dyn Density,
    seed: u64,
    done: u64,
    /// The last estimate.
    bound: f64,
}

impl Walk for NaturalWalk<'_> {
    fn stamp(&mut self) -> StageFingerprint {
        let first = self.steps.first_look();
        StageFingerprint::of(first.iter().chain([&(self.seed as f64)]))
    }

    fn advance(&mut self) -> Result<bool, StartError> {
        let (share, rate) = pace(self.done);
        let bound = self.steps.step(self.done, share, rate);
        self.bound = bound.ok_or_else(|| broken(self.density, &self.steps, self.done))?;
        self.done += 1;
        Ok(self.done < STEPS)
    }

    fn progress(&self) -> Progress {
        let (_, rate) = pace(self.done);
        Progress {
            bound: self.bound,
            rate,
            ..Progress::counted(self.done, "steps", End::At(STEPS))
        }
    }

    fn saved(&self) -> Vec<u8> {
        encoded(&(self.done, self.steps.saved()))
    }

    fn restore(&mut self, bytes: &[u8]) -> Option<()> {
        let (done, saved) = decoded(bytes).ok()?;
        self.done = done;
        self.steps.restore(saved);
        Some(())
    }

    fn is_done(&self) -> bool {
        self.done >= STEPS
    }
}

/// The best Gaussian at the learned θ; if there is none, the last one of the steps.
fn found(request: &StartRequest<'_>, steps: &NaturalSteps<'_>) -> Result<StartingPoint, RowsError> {
    let density = request.density;
    let centre = ExpansionPoint {
        latents: steps.latents(),
        params: steps.params().to_vec(),
        log_joint: f64::NAN,
        iterations: STEPS as usize,
        reason: StopReason::Iterations,
    };
    let fixed = DensityAtParams::new(density, steps.params());
    let alone = ExpansionPoint {
        params: Vec::new(),
        ..centre.clone()
    };
    let kind = request.base.info().covariance;
    let curvature = alone.curvature(&fixed)?;
    let best = climb_from(&fixed, &alone, &curvature, steps.precision(), kind);
    let Some(mut best) = best else {
        return laplace::around(request, centre, None);
    };
    best.centre.params = centre.params;
    StartingPoint::at_best(best, request)
}

/// The learned values at which the bound is no longer finite.
fn broken(density: &dyn Density, steps: &NaturalSteps<'_>, step: u64) -> StartError {
    /// Longer ones are not worth printing.
    const SHORT: usize = 4;
    let sites = density.params().constrain_values(steps.params());
    let short = sites.iter().filter(|site| site.values.len() <= SHORT);
    let words: Vec<String> = short
        .map(|site| {
            let numbers: Vec<String> = site.values.iter().map(|v| format!("{v:.3e}")).collect();
            format!("{} = {}", site.name, numbers.join(", "))
        })
        .collect();
    StartError::Refusal {
        problem: format!(
            "the bound is not finite after {step} steps, at {}",
            words.join("; ")
        ),
        hint: "the covariance of the inducing points cannot be factorised there, or a row is \
               impossible: ask for fewer points with k, standardise the columns, and look for rows \
               far from all others"
            .into(),
    }
}
