//! The start `map`: the mode of the posterior, with the guide's own scale.

use lehr_density::Density;

use super::prior::Prior;
use super::{Alone, Centre, Climber, Request, Start, StartError, StartingPoint};
use crate::full_data::{AllRows, FullData, Query};
use crate::guide::Frame;
use lehr_numeric::lbfgs::{LbfgsSettings, Reason};

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

    fn find(&self, request: &Request<'_>) -> Result<StartingPoint, StartError> {
        Ok(StartingPoint {
            centre: Some(request.mode()?),
            ..StartingPoint::in_frame(Frame::Identity, request)
        })
    }
}

/// Climbs to the mode, over all rows at every step. Where the model's own start is no place to
/// climb from, smaller spreads are tried.
pub fn find_mode(density: &dyn Density, settings: LbfgsSettings) -> Centre {
    climb_to_mode(density, settings, &Alone).expect("nobody stops it")
}

/// As [`find_mode`], by somebody who may be stopped.
pub(crate) fn climb_to_mode(
    density: &dyn Density,
    settings: LbfgsSettings,
    climber: &dyn Climber,
) -> Result<Centre, StartError> {
    let mut found = climb(
        density,
        Centre::with_spreads(density, 1.0),
        settings,
        climber,
    )?;
    for size in [0.1, 0.01] {
        if found.reason != Reason::BadStart {
            break;
        }
        found = climb(
            density,
            Centre::with_spreads(density, size),
            settings,
            climber,
        )?;
    }
    Ok(found)
}

fn climb(
    density: &dyn Density,
    from: Centre,
    settings: LbfgsSettings,
    climber: &dyn Climber,
) -> Result<Centre, StartError> {
    let size = density.latents().size();
    let start = [from.latents, from.params].concat();
    let mut prior = Prior::new(density);
    let rows = AllRows::of(density);
    let found = climber.climb(&start, settings, &mut |point, slope| {
        let (z, params) = point.split_at(size);
        let own = prior.run(z, params);
        let sums = rows.sum(Query::Slopes, &[z, params]);
        let parts = [(own.output(1), &sums[1]), (own.output(2), &sums[2])];
        let mut at = 0;
        for (a, b) in parts {
            for (a, b) in a.iter().zip(b) {
                slope[at] = a + b;
                at += 1;
            }
        }
        own.output(0)[0] + sums[0][0]
    })?;
    let (latents, params) = found.point.split_at(size);
    Ok(Centre {
        latents: latents.to_vec(),
        params: params.to_vec(),
        log_joint: found.value,
        iterations: found.iterations,
        reason: found.reason,
    })
}
