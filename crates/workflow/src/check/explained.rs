//! How much of the response's variance a fit explains, and how much of it lies between groups.

use std::f64::consts::PI;

use lehr_density::{Density, Predictor, RowSet};
use lehr_model::Bound;
use lehr_numeric::summary::{mean, sd};
use lehr_regression::{Family, Groups, Regression};
use lehr_report::{Coefficient, Summary};

use crate::saved_fit::{SavedFit, error, plain};

/// Draws whose shares are computed at the most.
const DRAWS: usize = 200;
/// Rows that they are computed on at the most.
const ROWS: usize = 1000;

impl SavedFit {
    /// Shares of variance: R² on some of the fit's rows, as of all effects and as of those that all groups
    /// share, and of each group term the correlation of two responses of one group (ICC).
    pub fn explained(&self) -> Vec<Coefficient> {
        let within = self.subject.regression().map(|own| correlations(self, own));
        let measured = self.data_check.explained.iter();
        // Some of the draws, which are far apart in their chains.
        let measured = measured.map(|(name, values)| share(name, values, None));
        measured.chain(within.unwrap_or_default()).collect()
    }
}

/// R² of each draw on some rows: the variance of the rows' means over itself and the mean square of what
/// they leave open: the rows' own variances and, without the effects of groups, what those add to the means.
/// Nothing where the response has no mean or no variance.
pub(crate) fn explained(
    saved: &SavedFit,
    density: &Bound,
    rows: &[usize],
) -> Vec<(String, Vec<f64>)> {
    let set = RowSet::List(&rows[..rows.len().min(ROWS)]);
    let mut predictor = Predictor::new(density, density.columns(), density.source(), &set);
    let (mut conditional, mut marginal) = (Vec::new(), Vec::new());
    let regression = saved.subject.regression();
    let effects = regression.map(|own| own.group_places(density.latents()));
    let effects = effects.unwrap_or_default();
    for mut draw in saved.draws_on(density, &set, DRAWS) {
        let Some((means, within)) = moments(&mut predictor, &draw, saved.params()) else {
            return Vec::new();
        };
        conditional.push(share_of(&means, within));
        if effects.is_empty() {
            continue;
        }
        for places in &effects {
            draw[places.clone()].fill(0.0);
        }
        let Some((shared, _)) = moments(&mut predictor, &draw, saved.params()) else {
            return Vec::new();
        };
        let apart = means.iter().zip(&shared).map(|(a, b)| (a - b).powi(2));
        let apart = apart.sum::<f64>() / means.len() as f64;
        marginal.push(share_of(&shared, within + apart));
    }
    if effects.is_empty() {
        return vec![("R2".into(), conditional)];
    }
    // All groups share no effect but the intercept.
    if marginal.iter().all(|share| *share == 0.0) {
        return vec![("R2 conditional".into(), conditional)];
    }
    vec![
        ("R2 conditional".into(), conditional),
        ("R2 marginal".into(), marginal),
    ]
}

/// The rows' means and the mean of their variances.
fn moments(predictor: &mut Predictor, z: &[f64], params: &[f64]) -> Option<(Vec<f64>, f64)> {
    let moments = predictor.moments(z, params).into_iter().next()?;
    let (means, own) = (moments.mean?, moments.variance?);
    let within = mean(&own);
    let total = sd(&means).powi(2) + within;
    (total.is_finite() && total > 0.0).then_some((means, within))
}

/// The variance of these means over itself and what they leave open.
fn share_of(means: &[f64], open: f64) -> f64 {
    let between = sd(means).powi(2);
    // Means that differ by rounding are equal.
    let rounding = (1e-12 * mean(means)).powi(2);
    if between <= rounding {
        return 0.0;
    }
    between / (between + open)
}

/// The share of each group term in the variance of the predictor and the noise around it, where groups
/// have intercepts only: with slopes it depends on the row.
fn correlations(saved: &SavedFit, regression: &Regression) -> Vec<Coefficient> {
    let Some(labels) = regression.plain_groups() else {
        return Vec::new();
    };
    let draws = saved.even_draws(Groups::Leave);
    let squares = |name: &str| -> Option<Vec<f64>> {
        let own = draws.iter().find(|one| one.name.to_string() == name)?;
        Some(own.values.iter().map(|value| value * value).collect())
    };
    let count = saved.posterior.n_draws();
    let noise = match regression.family() {
        Family::Gaussian => squares("sigma"),
        Family::Bernoulli | Family::Binomial | Family::Ordinal => Some(vec![PI * PI / 3.0; count]),
        Family::OrdinalProbit => Some(vec![1.0; count]),
        _ => None,
    };
    let own: Option<Vec<Vec<f64>>> = labels
        .iter()
        .map(|label| squares(&format!("sd({label})")))
        .collect();
    let (Some(noise), Some(own)) = (noise, own) else {
        return Vec::new();
    };
    let total = |k: usize| noise[k] + own.iter().map(|one| one[k]).sum::<f64>();
    let totals: Vec<f64> = (0..count).map(total).collect();
    let shares = labels.iter().zip(&own).map(|(label, own)| {
        let values: Vec<f64> = own.iter().zip(&totals).map(|(a, b)| a / b).collect();
        let chains = saved.posterior.n_chains();
        share(&format!("ICC({label})"), &values, chains)
    });
    shares.collect()
}

fn share(name: &str, values: &[f64], chains: Option<usize>) -> Coefficient {
    let summary = Summary {
        mcse: Some(error(values, chains)),
        ..plain(values)
    };
    Coefficient::new(name, summary)
}
