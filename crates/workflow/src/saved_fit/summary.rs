//! Draws of a coefficient as moments and quantiles.

use lehr_numeric::summary::{WeightedSample, mean, mean_error, quantile, sd, sorted};
use lehr_regression::{Groups, NamedDraws};
use lehr_report::{Coefficient, Summary};

use super::SavedFit;

impl SavedFit {
    /// Summaries of the coefficients, with the corrected ones if weights correct the fit.
    pub fn coefficients(&self, groups: Groups) -> Vec<Coefficient> {
        let mut all = self.kept_coefficients(groups);
        if groups == Groups::Include {
            all.extend(self.spared_coefficients());
        }
        all
    }

    /// The same for coefficients with kept draws.
    pub(crate) fn kept_coefficients(&self, groups: Groups) -> Vec<Coefficient> {
        let weights = self.is_corrected().then(|| self.posterior.weights());
        let chains = self.posterior.n_chains();
        let one = |draws: NamedDraws| Coefficient {
            summary: Summary {
                mcse: Some(error(&draws.values, chains)),
                ..plain(&draws.values)
            },
            corrected: (weights.as_deref()).map(|weights| weigh(&draws.values, weights)),
            effect: draws.name.effect(),
            name: draws.name.to_string(),
        };
        self.raw_draws(groups).into_iter().map(one).collect()
    }
}

/// The Monte Carlo standard error of the mean of independent draws, or of draws from this many
/// chains.
pub(crate) fn error(values: &[f64], chains: Option<usize>) -> f64 {
    match chains {
        None => sd(values) / (values.len() as f64).sqrt(),
        Some(count) => {
            let length = (values.len() / count.max(1)).max(1);
            mean_error(&values.chunks_exact(length).collect::<Vec<_>>())
        }
    }
}

/// The summary of equally weighted draws.
pub(crate) fn plain(values: &[f64]) -> Summary {
    let in_order = sorted(values);
    let at = |probability| quantile(&in_order, probability);
    Summary {
        mean: mean(values),
        mcse: None,
        sd: sd(values),
        q5: at(0.05),
        q50: at(0.5),
        q95: at(0.95),
        quartiles: Some([at(0.25), at(0.75)]),
    }
}

/// The summary of weighted draws.
pub(crate) fn weigh(values: &[f64], weights: &[f64]) -> Summary {
    let draws = WeightedSample::new(values, weights);
    Summary {
        mean: draws.mean(),
        mcse: Some(draws.mean_error()),
        sd: draws.sd(),
        q5: draws.quantile(0.05),
        q50: draws.quantile(0.5),
        q95: draws.quantile(0.95),
        quartiles: Some([draws.quantile(0.25), draws.quantile(0.75)]),
    }
}
