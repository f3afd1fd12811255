//! Every reported number of a fit, from its draws and their weights.

use lehr_density::{Density, FlatDraws, Site, Support};

use super::Subject;
use crate::posterior::{Gap, Moments, Quantity, site_columns, split};

/// Every number that a user may read from draws: those of the sites, and the other quantities that
/// the model names.
pub(super) fn columns(
    density: &dyn Density,
    draws: &[f64],
    params: &[f64],
) -> Vec<(String, Vec<f64>)> {
    let latents = density.latents();
    let mut all = site_columns(latents, draws);
    let Some(predictive) = density.predictive() else {
        return all;
    };
    let flat = FlatDraws {
        latents: draws,
        size: latents.size(),
        params,
    };
    let count = draws.len() / latents.size().max(1);
    for named in lehr_density::quantities(flat, |at| predictive.deterministics(at)) {
        let site = Site::new(&named.name, named.dims.as_slice(), Support::Real);
        all.extend(split(&named, &site.entry_names(), count));
    }
    all
}

/// Every number of a fit, from its draws and their weights.
pub(super) fn quantities(subject: &Subject<'_>, weights: &[f64]) -> Vec<Quantity> {
    weighted(
        columns(subject.density, subject.draws, subject.params),
        weights,
    )
}

/// Numbers by name, from their draws and weights.
pub(super) fn weighted(columns: Vec<(String, Vec<f64>)>, weights: &[f64]) -> Vec<Quantity> {
    let each = columns.into_iter().map(|(name, values)| Quantity {
        name,
        raw: Moments::of(&values),
        weighted: Moments::weighted(&values, weights),
        moved: Gap::by_weights(&values, weights),
        reference: None,
    });
    // A number that is the same in every draw, such as the diagonal of a correlation matrix, cannot
    // be wrong.
    each.filter(|one| one.raw.sd > 1e-12 * one.raw.mean.abs())
        .collect()
}
