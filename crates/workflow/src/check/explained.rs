//! The explained share of the response's variance, and the share between groups.

use std::f64::consts::PI;

use lehr_density::{Density, Predictor, RowSet};
use lehr_model::Bound;
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{mean, sd};
use lehr_regression::{Family, Groups, Regression};
use lehr_report::{Coefficient, Summary};

use super::sample::some_rows;
use crate::saved_fit::{SavedFit, error, plain};

/// The most draws for which shares are computed.
const DRAWS: usize = 200;
/// The most rows on which they are computed.
const ROWS: usize = 1000;

impl SavedFit {
    /// Shares of variance: R² on some of the fit's rows, with all effects and with fixed effects
    /// only, and for each group term the intraclass correlation (ICC).
    pub fn explained(&self) -> Vec<Coefficient> {
        let within = self.subject.regression().map(|own| correlations(self, own));
        let measured = self.data_check.explained.iter();
        // Some of the draws, far apart in their chains.
        let measured = measured.map(|(name, values)| share(name, values, None));
        measured.chain(within.unwrap_or_default()).collect()
    }
}

/// R² of each draw on some rows: the variance of the rows' means, divided by itself plus the mean
/// residual variance: the rows' own variances and, without random effects, the variance that those
/// add to the means. Where the rows are a sample of the table, each draw has its own bootstrap sample
/// of them, so that the spread of the draws contains the sampling error. Empty if the response has no
/// mean or no variance.
pub(crate) fn explained(saved: &SavedFit, density: &Bound) -> Vec<(String, Vec<f64>)> {
    let origin = &saved.posterior.origin;
    let rows = some_rows(density.n_rows(), ROWS, origin.seed);
    let mut bootstrap = (rows.len() < origin.rows)
        .then(|| Stream::new(origin.seed, "rows of an explained share", 0));
    let set = RowSet::List(&rows);
    let mut predictor = Predictor::new(density, density.columns(), density.source(), &set);
    let (mut conditional, mut marginal) = (Vec::new(), Vec::new());
    let regression = saved.subject.regression();
    let effects = regression.map(|own| own.group_places(density.latents()));
    let effects = effects.unwrap_or_default();
    for mut draw in saved.draws_on(density, &set, DRAWS) {
        let picks: Option<Vec<usize>> = bootstrap.as_mut().map(|stream| {
            let pick = |_| stream.below(rows.len() as u64) as usize;
            (0..rows.len()).map(pick).collect()
        });
        let picks = picks.as_deref();
        let Some((means, within)) = moments(&mut predictor, &draw, saved.params(), picks) else {
            return Vec::new();
        };
        conditional.push(share_of(&means, within));
        if effects.is_empty() {
            continue;
        }
        for places in &effects {
            draw[places.clone()].fill(0.0);
        }
        let Some((shared, _)) = moments(&mut predictor, &draw, saved.params(), picks) else {
            return Vec::new();
        };
        let apart = means.iter().zip(&shared).map(|(a, b)| (a - b).powi(2));
        let apart = apart.sum::<f64>() / means.len() as f64;
        marginal.push(share_of(&shared, within + apart));
    }
    if effects.is_empty() {
        return vec![("R2".into(), conditional)];
    }
    let mut shares = vec![("R2 conditional".into(), conditional)];
    // Otherwise the only fixed effect is the intercept.
    if marginal.iter().any(|share| *share != 0.0) {
        shares.push(("R2 marginal".into(), marginal));
    }
    shares
}

/// The means of the picked rows, of all rows if none are picked, and the mean of their variances.
fn moments(
    predictor: &mut Predictor,
    z: &[f64],
    params: &[f64],
    picks: Option<&[usize]>,
) -> Option<(Vec<f64>, f64)> {
    let moments = predictor.moments(z, params).into_iter().next()?;
    let picked = |values: Vec<f64>| match picks {
        Some(picks) => picks.iter().map(|row| values[*row]).collect(),
        None => values,
    };
    let (means, own) = (picked(moments.mean?), picked(moments.variance?));
    let within = mean(&own);
    let total = sd(&means).powi(2) + within;
    (total.is_finite() && total > 0.0).then_some((means, within))
}

/// The variance of these means, divided by itself plus the residual variance.
fn share_of(means: &[f64], open: f64) -> f64 {
    let between = sd(means).powi(2);
    // Means that differ only by rounding are equal.
    let rounding = (1e-12 * mean(means)).powi(2);
    if between <= rounding {
        return 0.0;
    }
    between / (between + open)
}

/// The share of each group term in the variance of the predictor plus noise, if group terms have
/// only intercepts: with slopes it depends on the row.
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
    let own = labels.iter().map(|label| squares(&format!("sd({label})")));
    let own: Option<Vec<Vec<f64>>> = own.collect();
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
