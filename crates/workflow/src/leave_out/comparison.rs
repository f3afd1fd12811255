//! The comparison of several models of the same rows: differences of predictive densities, and
//! stacking weights.

use lehr_infer::posterior::Estimate;
use lehr_learn::distinct_names;
use serde::Serialize;

use super::measure::{Loo, LooMeasure};
use crate::error::LooError;
use crate::saved_fit::SavedFit;

/// Steps of the search for stacking weights; each raises the score.
const STEPS: usize = 2000;

/// One model of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedModel {
    /// The name that the user gave it.
    pub name: String,
    /// Its formula, or a description.
    pub model: String,
    /// Its expected log predictive density.
    pub elpd_loo: LooMeasure,
    /// Its effective number of parameters.
    pub p_loo: f64,
    /// Its `elpd` minus that of the best, with the error of the paired difference.
    pub difference: LooMeasure,
    /// Its weight in the mixture of all models with the best predictions.
    pub stacking_weight: f64,
    /// Its log evidence, if all models have one on the same rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_evidence: Option<f64>,
    /// The standard error of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_evidence_se: Option<f64>,
    /// Rows whose k̂ is too high.
    pub n_high_k: usize,
}

/// Models, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelComparison {
    /// The models.
    pub models: Vec<ComparedModel>,
    /// Rows of the table.
    pub n_rows: u64,
    /// Rows that were left out one by one.
    pub n_left_out: usize,
    /// Notes on the comparison.
    pub notes: Vec<String>,
}

/// The columns that any of the fits reads.
pub fn columns_of(fits: &[&SavedFit]) -> Vec<String> {
    let all = fits.iter().flat_map(|fit| fit.subject.columns());
    let names = distinct_names(all).into_iter();
    names.map(str::to_owned).collect()
}

/// The columns whose values may be missing for all of the fits.
pub fn optional_columns_of<'f>(fits: &[&'f SavedFit]) -> Vec<&'f str> {
    let names = fits.first().map(|fit| fit.subject.optional_columns());
    let mut names = names.unwrap_or_default();
    let is_read = |fit: &&&SavedFit, name: &str| fit.subject.columns().contains(&name);
    let needed = |name: &str| {
        let mut readers = fits.iter().filter(|fit| is_read(fit, name));
        readers.any(|fit| !fit.subject.optional_columns().contains(&name))
    };
    names.retain(|name| !needed(name));
    names
}

/// Compares models by leaving out the same rows of each. The names are the user's.
///
/// # Panics
/// Without a model, or if a model leaves out other rows than the first.
pub fn compare_models(models: &[(String, &SavedFit, Loo)]) -> Result<ModelComparison, LooError> {
    check(models)?;
    let first = &models[0].2;
    let weights = stacking(models);
    let elpd: Vec<LooMeasure> = models.iter().map(|(_, _, loo)| loo.elpd()).collect();
    let best = (0..models.len())
        .max_by(|a, b| elpd[*a].estimate.total_cmp(&elpd[*b].estimate))
        .expect("at least one model");
    let comparable = evidences(models);
    let one = |(place, (name, saved, loo)): (usize, &(String, &SavedFit, Loo))| {
        let summary = loo.summary().ok();
        let evidence = comparable.as_ref().map(|all| all[place]);
        ComparedModel {
            name: name.clone(),
            model: saved.subject.title(),
            elpd_loo: elpd[place],
            p_loo: summary.as_ref().map_or(f64::NAN, |summary| summary.p_loo),
            difference: difference(loo, &models[best].2),
            stacking_weight: weights[place],
            log_evidence: evidence.map(|one| one.mean),
            log_evidence_se: evidence.map(|one| one.error),
            n_high_k: summary.map_or(0, |summary| summary.n_high_k),
        }
    };
    let mut compared: Vec<ComparedModel> = models.iter().enumerate().map(one).collect();
    compared.sort_by(|a, b| b.elpd_loo.estimate.total_cmp(&a.elpd_loo.estimate));
    Ok(ModelComparison {
        models: compared,
        n_rows: first.n_rows,
        n_left_out: first.rows.len(),
        notes: notes(models),
    })
}

/// Refuses models with other rows, another response, or another covariate with errors or gaps than
/// the first.
fn check(models: &[(String, &SavedFit, Loo)]) -> Result<(), LooError> {
    let (_, first_fit, first) = &models[0];
    for (_, saved, loo) in models {
        if loo.n_rows != first.n_rows {
            let (first, other) = (first.n_rows, loo.n_rows);
            return Err(LooError::Rows { first, other });
        }
        let (one, other) = (first_fit.subject.response(), saved.subject.response());
        if one != other {
            return Err(LooError::Responses { first: one, other });
        }
        let of = |saved: &SavedFit| saved.subject.scored_covariate();
        let (one, other) = (of(first_fit), of(saved));
        if one != other {
            let [first, other] = [one, other].map(|term| term.unwrap_or_else(|| "none".into()));
            return Err(LooError::Covariates { first, other });
        }
        let same = (loo.rows.iter().zip(&first.rows)).all(|(a, b)| a.row == b.row);
        assert!(same && loo.rows.len() == first.rows.len(), "the same rows");
    }
    Ok(())
}

/// The difference of two models row by row.
fn difference(one: &Loo, other: &Loo) -> LooMeasure {
    let pairs = || one.rows.iter().zip(&other.rows);
    let values: Vec<f64> = pairs().map(|(a, b)| a.left.elpd - b.left.elpd).collect();
    let cheap: Vec<f64> = pairs().map(|(a, b)| a.cheap - b.cheap).collect();
    one.total(&values, &cheap, one.cheap_sum - other.cheap_sum)
}

/// The weights of the mixture of models that predicts the rows best (Yao, Vehtari, Simpson & Gelman
/// 2018): Σ log Σ w p is concave in w, and each step of EM raises it.
fn stacking(models: &[(String, &SavedFit, Loo)]) -> Vec<f64> {
    let rows = models[0].2.rows.len();
    let density = |row: usize| -> Vec<f64> {
        let logs = models.iter().map(|(_, _, loo)| loo.rows[row].left.elpd);
        let top = logs.clone().fold(f64::NEG_INFINITY, f64::max);
        logs.map(|value| (value - top).exp()).collect()
    };
    let densities: Vec<Vec<f64>> = (0..rows).map(density).collect();
    mixture(&densities, models.len())
}

/// The weights that maximise Σ log Σ w p, starting from equal ones.
fn mixture(densities: &[Vec<f64>], count: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / count as f64; count];
    for _ in 0..STEPS {
        let mut next = vec![0.0; count];
        for row in densities {
            let whole: f64 = row.iter().zip(&weights).map(|(p, w)| p * w).sum();
            for ((sum, p), weight) in next.iter_mut().zip(row).zip(&weights) {
                *sum += p * weight / whole;
            }
        }
        let total: f64 = next.iter().sum();
        for (weight, sum) in weights.iter_mut().zip(next) {
            *weight = sum / total;
        }
    }
    weights
}

/// The log evidence of each model; `None` unless every model has one on as many rows.
fn evidences(models: &[(String, &SavedFit, Loo)]) -> Option<Vec<Estimate>> {
    let rows = models[0].1.posterior.origin.rows;
    let one = |(_, saved, _): &(String, &SavedFit, Loo)| {
        let same = saved.posterior.origin.rows == rows;
        let evidence = saved.posterior.evidence.as_ref().filter(|_| same);
        evidence.map(|evidence| evidence.estimate)
    };
    models.iter().map(one).collect()
}

fn notes(models: &[(String, &SavedFit, Loo)]) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, saved, loo) in models {
        if let Some(summary) = loo.summary().ok().filter(|summary| summary.n_high_k > 0) {
            let have = match summary.n_high_k {
                1 => "row has",
                _ => "rows have",
            };
            notes.push(format!(
                "{name}: {} {have} k above {:.2}, so its elpd is uncertain; lehr loo --refit",
                summary.n_high_k, summary.k_threshold
            ));
        }
        if !saved.is_trusted() {
            notes.push(format!("{name}: the diagnostics of the fit warn"));
        }
        if saved.posterior.origin.rows as u64 != loo.n_rows {
            notes.push(format!(
                "{name}: fitted to {} rows, scored on {}",
                saved.posterior.origin.rows, loo.n_rows
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacking_weights_are_the_shares_of_rows_that_each_model_alone_explains() {
        let row = |k: usize| {
            let first = f64::from(k.is_multiple_of(4));
            vec![first, 1.0 - first]
        };
        let weights = mixture(&(0..40).map(row).collect::<Vec<_>>(), 2);
        assert!((weights[0] - 0.25).abs() < 1e-9 && (weights[1] - 0.75).abs() < 1e-9);
        let better = mixture(&vec![vec![1.0, 0.9]; 20], 2);
        assert!(better[0] > 0.99, "{better:?}");
    }
}
