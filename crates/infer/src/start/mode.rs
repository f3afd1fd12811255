//! The start `map`: the mode of the posterior, with the guide's own scale.

use lehr_density::Density;
use lehr_density::job::{LikelihoodGradient, all_rows, local_rows};
use lehr_numeric::lbfgs::{LbfgsSettings, StopReason};
use lehr_rows::{RowStore, fold};

use super::{Maximiser, PlainMaximiser, Start, StartRequest, StartingPoint};
use crate::error::{StartError, TrainError};
use crate::expansion::{ExpansionPoint, LogPrior, MAX_DENSE};
use crate::guide::Whitening;

/// The mode, with the guide's own scale.
#[derive(Clone, Copy, Debug)]
pub struct Map;

impl Start for Map {
    fn name(&self) -> &'static str {
        "map"
    }

    fn help(&self) -> &'static str {
        "the mode of the posterior"
    }

    fn is_warm(&self) -> bool {
        false
    }

    fn find(&self, request: &StartRequest<'_>) -> Result<StartingPoint, StartError> {
        Ok(StartingPoint {
            centre: Some(request.mode()?),
            ..StartingPoint::in_whitening(Whitening::Identity, request)
        })
    }
}

/// Climbs to the mode, over all rows at every step. If the model's own start is unsuitable, smaller
/// standard deviations are tried.
///
/// # Errors
/// If rows cannot be reached.
pub fn find_mode(
    density: &dyn Density,
    settings: LbfgsSettings,
) -> Result<ExpansionPoint, TrainError> {
    climb_to_mode(density, settings, &PlainMaximiser)
}

/// As [`find_mode`], by a maximiser that may be stopped. Rows stored elsewhere are evaluated a few
/// times only: the search starts at the mode of the local rows.
pub(crate) fn climb_to_mode(
    density: &dyn Density,
    settings: LbfgsSettings,
    maximiser: &dyn Maximiser,
) -> Result<ExpansionPoint, TrainError> {
    let rows = all_rows(density);
    if density.elsewhere().is_some()
        && let Some(whitening) = sample_whitening(density, settings)?
    {
        let ascent = Ascent {
            density,
            rows: &*rows,
            whitening,
        };
        let found = ascent.climb(ExpansionPoint::start(density), WHITE, maximiser)?;
        if found.reason.has_converged() {
            return Ok(found);
        }
    }
    climb_by(&*rows, density, settings, maximiser)
}

/// If the posterior has a scale of about 1 in every direction, a slope is a distance from the mode.
/// A thousandth of the posterior's width is close enough, since each step is a pass over all rows.
const WHITE: LbfgsSettings = LbfgsSettings {
    memory: 20,
    iterations: 100,
    gradient_tolerance: 1e-3,
    gain_tolerance: 1e-14,
    first_step: f64::INFINITY,
};

/// The coordinates in which the posterior of the local rows is standard normal, with its mode at
/// the origin; `None` if it has none.
fn sample_whitening(
    density: &dyn Density,
    settings: LbfgsSettings,
) -> Result<Option<Whitening>, TrainError> {
    if density.latents().size() > MAX_DENSE || density.params().size() > 0 {
        return Ok(None);
    }
    let here = local_rows(density);
    let near = climb_by(&here, density, settings, &PlainMaximiser)?;
    if near.reason == StopReason::BadStart {
        return Ok(None);
    }
    let curvature = near.curvature_by(density, &here)?;
    Ok(curvature.dense_whitening(&near, None))
}

/// Climbs from the model's own start, or from smaller standard deviations if that is unsuitable.
fn climb_by(
    rows: &dyn RowStore,
    density: &dyn Density,
    settings: LbfgsSettings,
    maximiser: &dyn Maximiser,
) -> Result<ExpansionPoint, TrainError> {
    let ascent = Ascent {
        density,
        rows,
        whitening: Whitening::Identity,
    };
    let mut found = ascent.climb(
        ExpansionPoint::with_spreads(density, 1.0),
        settings,
        maximiser,
    )?;
    for size in [0.1, 0.01] {
        if found.reason != StopReason::BadStart {
            break;
        }
        found = ascent.climb(
            ExpansionPoint::with_spreads(density, size),
            settings,
            maximiser,
        )?;
    }
    Ok(found)
}

/// A search for the mode with sums over rows, in given coordinates.
struct Ascent<'a> {
    density: &'a dyn Density,
    rows: &'a dyn RowStore,
    whitening: Whitening,
}

impl Ascent<'_> {
    /// Climbs from a centre, or from the origin if there is a whitening.
    fn climb(
        &self,
        from: ExpansionPoint,
        settings: LbfgsSettings,
        maximiser: &dyn Maximiser,
    ) -> Result<ExpansionPoint, TrainError> {
        let size = self.density.latents().size();
        let begin = match self.whitening {
            Whitening::Identity => from.latents,
            _ => vec![0.0; size],
        };
        let start = [begin, from.params].concat();
        let mut prior = LogPrior::new(self.density);
        let found = maximiser.climb(&start, settings, &mut |point, slope| {
            let (w, params) = point.split_at(size);
            let z = self.whitening.at(w);
            let own = prior.run(&z, params);
            let job = LikelihoodGradient::new(self.density, &z, params);
            let rows = fold(self.rows, &job)?;
            let both = |own: &[f64], rows: &[f64]| -> Vec<f64> {
                own.iter().zip(rows).map(|(a, b)| a + b).collect()
            };
            let latents = both(own.output(1), &rows.latents);
            slope[..size].copy_from_slice(&self.whitening.pulled(&latents));
            slope[size..].copy_from_slice(&both(own.output(2), &rows.params));
            Ok(own.output(0)[0] + rows.value)
        })?;
        let (w, params) = found.point.split_at(size);
        Ok(ExpansionPoint {
            latents: self.whitening.at(w),
            params: params.to_vec(),
            log_joint: found.value,
            iterations: found.iterations,
            reason: found.reason,
        })
    }
}
