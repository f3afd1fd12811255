//! Checks that a posterior under flat priors is proper: the rows must determine every latent with a
//! flat prior.  If the log density is concave, as in generalized linear models, a posterior is
//! proper if it has a maximum and decreases from there in every direction. For collinear columns
//! the curvature vanishes, and for separated responses it does not persist.

use lehr_density::Density;
use lehr_numeric::dense::{cholesky, inverse_factor};
use lehr_numeric::lbfgs::LbfgsSettings;
use lehr_numeric::vector::dot;

use crate::error::{FitError, Improper};
use crate::expansion::{ExpansionPoint, LogPrior, MAX_DENSE};
use crate::likelihood::Likelihoods;
use crate::start::find_mode;
use lehr_rows::{LANES, RowsError};

/// The distance at which the density must have decreased, in standard deviations of the curvature
/// at the maximum, and by how many nats. A Gaussian decreases by 200.
const FAR: f64 = 20.0;
const FALL: f64 = 10.0;

/// Refuses flat priors under which the posterior is not proper.
pub(crate) fn check(density: &dyn Density) -> Result<(), FitError> {
    let flat = density.improper();
    if flat.is_empty() {
        return Ok(());
    }
    let found = density.latents().size();
    if found > MAX_DENSE {
        let most = MAX_DENSE;
        return Err(Improper::Many { most, found }.into());
    }
    let settings = LbfgsSettings {
        iterations: 500,
        ..LbfgsSettings::default()
    };
    let centre = find_mode(density, settings)?;
    match open(density, &centre, &flat)? {
        None => Ok(()),
        Some(place) => Err(Improper::Open {
            name: density.latents().free_names().swap_remove(place),
        }
        .into()),
    }
}

/// A latent with a flat prior along which the density does not decrease, if there is one.
fn open(
    density: &dyn Density,
    centre: &ExpansionPoint,
    flat: &[usize],
) -> Result<Option<usize>, RowsError> {
    let (size, count) = (density.latents().size(), flat.len());
    let whole = centre.curvature(density)?.precision();
    // Proper priors bound the other latents.
    let entry = |at: usize| whole[flat[at / count] * size + flat[at % count]];
    let own: Vec<f64> = (0..count * count).map(entry).collect();
    let factor = cholesky(&own, count).and_then(|lower| inverse_factor(&lower));
    let Some(factor) = factor else {
        let flattest = |a: &usize, b: &usize| own[a * (count + 1)].total_cmp(&own[b * (count + 1)]);
        return Ok((0..count).min_by(flattest).map(|k| flat[k]));
    };
    let rows: Vec<&[f64]> = factor.values.chunks_exact(count).collect();
    // One standard deviation along a latent, with the correlated change of the others: F fₖ / |fₖ|.
    let line = |k: usize| -> Vec<f64> {
        let width = dot(rows[k], rows[k]).sqrt();
        rows.iter().map(|row| dot(row, rows[k]) / width).collect()
    };
    let ends = (0..count).flat_map(|k| {
        let along = line(k);
        [-FAR, FAR].into_iter().flat_map(move |far| {
            let mut z = centre.latents.clone();
            for (place, step) in flat.iter().zip(&along) {
                z[*place] += far * step;
            }
            z
        })
    });
    let values = log_joint(density, &centre.params, &ends.collect::<Vec<_>>())?;
    let top = log_joint(density, &centre.params, &centre.latents)?[0];
    let stays = |ends: &[f64]| !top.is_finite() || ends.iter().any(|end| *end > top - FALL);
    let found = values.chunks_exact(2).position(stays);
    Ok(found.map(|k| flat[k]))
}

/// log p(D, z) of some points, one after another.
fn log_joint(density: &dyn Density, params: &[f64], points: &[f64]) -> Result<Vec<f64>, RowsError> {
    let size = density.latents().size();
    let (mut prior, rows) = (LogPrior::new(density), Likelihoods::new(density, params));
    let mut values = Vec::with_capacity(points.len() / size);
    for part in points.chunks(LANES * size) {
        let sums = rows.of(part)?;
        let both = part.chunks_exact(size).zip(sums);
        values.extend(both.map(|(z, sum)| prior.at(z, params).0 + sum));
    }
    Ok(values)
}
