//! Draws of a coefficient as moments and quantiles.

use lehr_numeric::summary::{Weighted, mean, quantile, sd, sorted};
use lehr_regression::{Groups, NamedDraws};
use lehr_report::{Coefficient, Summary};

use crate::saved::SavedFit;

/// Summaries of all coefficients; the corrected ones besides where weights correct the fit.
pub(crate) fn summaries(saved: &SavedFit, groups: Groups) -> Vec<Coefficient> {
    let weights = saved
        .is_corrected()
        .then(|| saved.posterior.pareto.weights());
    let one = |draws: NamedDraws| Coefficient {
        summary: plain(&draws.values),
        corrected: weights
            .as_deref()
            .map(|weights| weigh(&draws.values, weights)),
        name: draws.name,
    };
    saved.coefficients(groups).into_iter().map(one).collect()
}

/// Only the effects of single groups.
pub(crate) fn group_summaries(saved: &SavedFit) -> Vec<Coefficient> {
    let others = saved.coefficients(Groups::Leave).len();
    summaries(saved, Groups::Include).split_off(others)
}

/// The summary of draws that all count the same.
pub(crate) fn plain(values: &[f64]) -> Summary {
    let in_order = sorted(values);
    let at = |probability| quantile(&in_order, probability);
    Summary {
        mean: mean(values),
        sd: sd(values),
        q5: at(0.05),
        q50: at(0.5),
        q95: at(0.95),
        quartiles: Some([at(0.25), at(0.75)]),
    }
}

/// The summary of weighted draws.
pub(crate) fn weigh(values: &[f64], weights: &[f64]) -> Summary {
    let draws = Weighted::new(values, weights);
    Summary {
        mean: draws.mean(),
        sd: draws.sd(),
        q5: draws.quantile(0.05),
        q50: draws.quantile(0.5),
        q95: draws.quantile(0.95),
        quartiles: Some([draws.quantile(0.25), draws.quantile(0.75)]),
    }
}
