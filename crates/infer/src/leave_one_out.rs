//! The leave-one-out predictive density of a row by importance sampling (PSIS-LOO), from weighted
//! draws.

use lehr_density::Density;
use lehr_numeric::pareto::{Pareto, WeightError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::pointwise::pointwise;

/// One row left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// log p(yₙ | the other rows), by smoothed importance weights.
    pub elpd: f64,
    /// log p(yₙ | all rows).
    pub lpd: f64,
    /// k̂ of the weights; above [`lehr_numeric::pareto::shape_threshold`] `elpd` is unreliable.
    pub shape: f64,
    /// The posterior variance of log p(yₙ | z): the row's share in WAIC's number of parameters.
    pub variance: f64,
}

/// The predictive density of a row under the posterior of all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// log p(yₙ | all rows).
    pub lpd: f64,
    /// The posterior variance of log p(yₙ | z).
    pub variance: f64,
}

/// The predictive density of a row. `log_likelihood` holds log p(yₙ | z) of each draw,
/// `log_weights` the log of each draw's weight in the posterior, summing to one.
pub fn seen(log_likelihood: &[f64], log_weights: &[f64]) -> Seen {
    let pairs = || log_likelihood.iter().zip(log_weights);
    // A draw of weight zero is ignored, even if it makes the row impossible.
    let weighted = |of: &dyn Fn(f64) -> f64| -> f64 {
        let counted = pairs().filter(|(_, weight)| **weight > f64::NEG_INFINITY);
        counted
            .map(|(value, weight)| weight.exp() * of(*value))
            .sum()
    };
    let mean = weighted(&|value| value);
    let squares = weighted(&|value| (value - mean).powi(2));
    let evenness: f64 = log_weights.iter().map(|weight| (2.0 * weight).exp()).sum();
    Seen {
        lpd: log_sum(pairs().map(|(value, weight)| value + weight)),
        // With equal weights, the variance with divisor S − 1.
        variance: squares / (1.0 - evenness).max(f64::MIN_POSITIVE),
    }
}

/// Leaves out one row (Vehtari, Gelman & Gabry 2017), with the arguments of [`seen`]. If weights
/// correct an approximation, the log ratio of a draw is its log weight minus its log likelihood.
///
/// A draw that makes the row impossible has no finite ratio: the shape is then infinite.
pub fn leave_out(log_likelihood: &[f64], log_weights: &[f64]) -> Result<LeftOut, WeightError> {
    let Seen { lpd, variance } = seen(log_likelihood, log_weights);
    let mut left = LeftOut {
        elpd: lpd,
        lpd,
        shape: f64::INFINITY,
        variance,
    };
    let pairs = log_likelihood.iter().zip(log_weights);
    let ratios: Vec<f64> = pairs.map(|(value, weight)| weight - value).collect();
    if ratios.iter().all(|ratio| *ratio < f64::INFINITY) {
        let smoothed = Pareto::new(&ratios)?;
        let terms = log_likelihood.iter().zip(&smoothed.log_weights);
        left.elpd = log_sum(terms.map(|(value, weight)| value + weight));
        left.shape = smoothed.shape;
    }
    Ok(left)
}

/// Weighted draws of a posterior.
#[derive(Clone, Copy, Debug)]
pub struct WeightedDraws<'a> {
    /// One flat unconstrained z after another.
    pub latents: &'a [f64],
    /// θ.
    pub params: &'a [f64],
    /// One weight per draw, summing to one.
    pub weights: &'a [f64],
}

/// Leaves out each row of a density in turn.
pub fn leave_each_out(
    density: &dyn Density,
    draws: WeightedDraws<'_>,
) -> Result<Vec<LeftOut>, WeightError> {
    each_row(density, draws, leave_out).into_iter().collect()
}

/// The predictive density of each row of a density.
pub fn each_seen(density: &dyn Density, draws: WeightedDraws<'_>) -> Vec<Seen> {
    each_row(density, draws, seen)
}

/// A function of the log likelihoods of each row and the log weights of the draws.
fn each_row<T: Send>(
    density: &dyn Density,
    draws: WeightedDraws<'_>,
    of: impl Fn(&[f64], &[f64]) -> T + Sync,
) -> Vec<T> {
    let log_weights: Vec<f64> = draws.weights.iter().map(|weight| weight.ln()).collect();
    let mut all = Vec::with_capacity(density.n_rows());
    pointwise(density, draws.latents, draws.params, |rows, values| {
        let count = rows.len();
        let one = |row: usize| {
            let own: Vec<f64> = values.iter().skip(row).step_by(count).copied().collect();
            of(&own, &log_weights)
        };
        all.par_extend((0..count).into_par_iter().map(one));
    });
    all
}

/// log Σ eˣ without overflow.
fn log_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    largest
        + values
            .map(|value| (value - largest).exp())
            .sum::<f64>()
            .ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_likelihoods_leave_nothing_to_correct() {
        let left = leave_out(&[-1.5; 100], &[-(100_f64.ln()); 100]).unwrap();
        assert!((left.elpd + 1.5).abs() < 1e-12 && (left.lpd + 1.5).abs() < 1e-12);
        assert_eq!(left.shape, 0.0);
        assert!(left.variance < 1e-24);
    }

    #[test]
    fn a_draw_of_weight_zero_changes_nothing_and_an_impossible_row_is_told() {
        let values: Vec<f64> = (0..200).map(|k| -1.0 - 0.3 * f64::from(k).sin()).collect();
        let even = vec![-(200_f64.ln()); 200];
        let plain = leave_out(&values, &even).unwrap();
        let doubled: Vec<f64> = values.iter().copied().chain([-9.0; 200]).collect();
        let halved: Vec<f64> = even
            .iter()
            .copied()
            .chain([f64::NEG_INFINITY; 200])
            .collect();
        let weighted = leave_out(&doubled, &halved).unwrap();
        assert!((plain.lpd - weighted.lpd).abs() < 1e-12);
        assert!((plain.elpd - weighted.elpd).abs() < 0.01);
        let mut impossible = values;
        impossible[3] = f64::NEG_INFINITY;
        assert_eq!(leave_out(&impossible, &even).unwrap().shape, f64::INFINITY);
    }
}
