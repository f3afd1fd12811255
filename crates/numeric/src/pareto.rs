//! Pareto-smoothed importance sampling: a diagnostic of the reliability of log weights.
//!
//! After Vehtari, Simpson, Gelman, Yao & Gabry (2024): a generalised Pareto distribution is fitted
//! to the largest weights (Zhang & Stephens 2009), its shape k̂ tells how many moments the weights
//! have, and its quantiles replace them.

use serde::{Deserialize, Serialize};

/// The reasons why log weights are refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WeightError {
    /// Fewer draws than a tail needs.
    #[error(
        "importance weights: expected at least {FEWEST} draws, found {count}\n  hint: draw more"
    )]
    Few {
        /// Draws given.
        count: usize,
    },
    /// A weight that is NaN or +∞.
    #[error(
        "importance weights: expected finite log weights or −∞, found {value} at draw {draw}\n  \
         hint: the log density is undefined at that draw"
    )]
    Bad {
        /// Place of the draw.
        draw: usize,
        /// Its log weight.
        value: f64,
    },
    /// Every weight is zero.
    #[error(
        "importance weights: expected some draw with positive weight, found none\n  \
         hint: the approximation misses the support of the posterior"
    )]
    Zero,
}

/// With fewer draws there is no tail to fit: a fifth of them must exceed four.
const FEWEST: usize = 25;
/// The effective share of draws above which weights have no visible effect.
const EVEN: f64 = 0.99;
/// Log weights within this range are equal up to rounding.
const EQUAL: f64 = 1.5e-8;

/// Smoothed weights and their diagnostics.
///
/// Weights of zero have log weight −∞, so they must be saved in a format that keeps infinities,
/// which JSON does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pareto {
    /// Smoothed log weights, normalised to sum to one, in the order given.
    pub log_weights: Vec<f64>,
    /// k̂, the shape of the tail; 0 if all weights are equal, +∞ if there is no tail to fit because
    /// most weights are tied or zero.
    pub shape: f64,
    /// (Σw)²/Σw² of the smoothed weights.
    pub effective_size: f64,
    /// The logarithm of the mean of the raw weights: an estimate of the log evidence if the weights
    /// are those of the joint density.
    pub log_evidence: f64,
    /// Standard error of `log_evidence`: that of the mean weight by the delta method, plus the
    /// uncertainty of the tail of the weights.
    pub log_evidence_error: f64,
}

impl Pareto {
    /// Smooths log weights log p(z) − log q(z) of independent draws from q.
    pub fn new(log_weights: &[f64]) -> Result<Self, WeightError> {
        let largest = check_weights(log_weights)?;
        let (log_evidence, spread) = log_mean(log_weights);
        let mut smoothed: Vec<f64> = log_weights.iter().map(|w| w - largest).collect();
        let tail = smooth_tail(&mut smoothed);
        let unknown = tail.unknown_mass(log_weights.len()) / (log_evidence - largest).exp();
        let total = smoothed.iter().map(|w| w.exp()).sum::<f64>().ln();
        for weight in &mut smoothed {
            *weight -= total;
        }
        let effective_size = 1.0 / smoothed.iter().map(|w| (2.0 * w).exp()).sum::<f64>();
        Ok(Self {
            log_weights: smoothed,
            shape: tail.shape,
            effective_size,
            log_evidence,
            log_evidence_error: spread.hypot(unknown),
        })
    }

    /// Equal weights for independent draws of the posterior itself, with this evidence.
    pub fn even_weights(draws: usize, log_evidence: f64) -> Self {
        Self {
            log_weights: vec![-(draws as f64).ln(); draws],
            shape: 0.0,
            effective_size: draws as f64,
            log_evidence,
            log_evidence_error: 0.0,
        }
    }

    /// Standard error of k̂: (1 + k)/√M for the M draws of the tail, as for maximum likelihood.
    pub fn shape_error(&self) -> f64 {
        (1.0 + self.shape.max(0.0)) / (tail_length(self.log_weights.len()) as f64).sqrt()
    }

    /// The smoothed weights themselves, summing to one.
    pub fn weights(&self) -> Vec<f64> {
        self.log_weights.iter().map(|w| w.exp()).collect()
    }
}

/// The largest k̂ at which this number of draws suffices for a correction: min(1 − 1/log₁₀S, 0.7).
pub fn shape_threshold(draws: usize) -> f64 {
    (1.0 - 1.0 / (draws as f64).log10()).min(0.7)
}

/// The information in the tail of some weights about their draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailShape {
    /// The weights are nearly equal, so that there is no relevant tail.
    Even,
    /// k̂ is below the limit, in spite of its uncertainty.
    Light,
    /// k̂ is above the limit, in spite of its uncertainty.
    Heavy,
    /// k̂ is too uncertain to decide.
    Uncertain,
}

impl TailShape {
    /// The classification of a set of weights.
    pub fn of(pareto: &Pareto) -> TailShape {
        let draws = pareto.log_weights.len();
        let (limit, error) = (shape_threshold(draws), pareto.shape_error());
        if pareto.effective_size > EVEN * draws as f64 {
            TailShape::Even
        } else if pareto.shape + error < limit {
            TailShape::Light
        } else if pareto.shape - error < limit {
            TailShape::Uncertain
        } else {
            // NaN counts as heavy.
            TailShape::Heavy
        }
    }

    /// Whether the weights correct their draws, or are nearly equal.
    pub fn serves(self) -> bool {
        matches!(self, TailShape::Even | TailShape::Light)
    }
}

/// The logarithm of the mean weight and its standard error, sd(w)/(mean(w)·√S).
///
/// Log weights of −∞ are zero weights. The estimate of the mean is unbiased, so its logarithm is on
/// average a lower bound of the log evidence.
pub fn log_mean(log_weights: &[f64]) -> (f64, f64) {
    let largest = largest_of(log_weights);
    if !largest.is_finite() {
        return (largest, f64::NAN);
    }
    let count = log_weights.len() as f64;
    let mean = log_weights.iter().map(|w| (w - largest).exp()).sum::<f64>() / count;
    let squares = log_weights
        .iter()
        .map(|w| ((w - largest).exp() - mean).powi(2));
    let squares: f64 = squares.sum();
    let variance = squares / (count - 1.0).max(1.0);
    (largest + mean.ln(), (variance / count).sqrt() / mean)
}

fn largest_of(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn check_weights(log_weights: &[f64]) -> Result<f64, WeightError> {
    let bad = |&(_, value): &(usize, &f64)| value.is_nan() || *value == f64::INFINITY;
    if let Some((draw, &value)) = log_weights.iter().enumerate().find(bad) {
        return Err(WeightError::Bad { draw, value });
    }
    if log_weights.len() < FEWEST {
        let count = log_weights.len();
        return Err(WeightError::Few { count });
    }
    let largest = largest_of(log_weights);
    if largest == f64::NEG_INFINITY {
        return Err(WeightError::Zero);
    }
    Ok(largest)
}

/// The number of draws in the tail.
fn tail_length(count: usize) -> usize {
    let count = count as f64;
    (count / 5.0).min(3.0 * count.sqrt()).ceil() as usize
}

/// The fitted tail of some weights.
struct ParetoTail {
    /// k̂
    shape: f64,
    /// σ, in units of the largest weight.
    scale: f64,
    /// Draws in it.
    length: usize,
}

impl ParetoTail {
    /// The standard error of the tail's share of the mean weight, from that of k̂: the mean of a
    /// tail is σ/(1 − k).
    fn unknown_mass(&self, draws: usize) -> f64 {
        // The largest k̂ for which the formula applies, since the mean is infinite at k = 1.
        const LAST: f64 = 0.9;
        if self.length == 0 {
            return 0.0;
        }
        let shape = self.shape.clamp(0.0, LAST);
        let error = (1.0 + shape) / (self.length as f64).sqrt();
        self.length as f64 / draws as f64 * self.scale * error / (1.0 - shape).powi(2)
    }
}

/// Replaces the tail of log weights, whose largest is 0, by quantiles of the fitted distribution.
fn smooth_tail(log_weights: &mut [f64]) -> ParetoTail {
    let none = |shape: f64| ParetoTail {
        shape,
        scale: 0.0,
        length: 0,
    };
    let count = log_weights.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| log_weights[a].total_cmp(&log_weights[b]));
    if -log_weights[order[0]] < EQUAL {
        return none(0.0);
    }
    let length = tail_length(count);
    let cutoff = log_weights[order[count - length - 1]].max(f64::MIN_POSITIVE.ln());
    order.retain(|&draw| log_weights[draw] > cutoff);
    if order.len() <= 4 {
        return none(f64::INFINITY);
    }
    let base = cutoff.exp();
    let tail = order.iter().map(|&draw| log_weights[draw].exp() - base);
    let tail: Vec<f64> = tail.collect();
    let fit = ParetoFit::new(&tail);
    if fit.shape.is_finite() && fit.scale > 0.0 {
        for (rank, &draw) in order.iter().enumerate() {
            let share = (rank as f64 + 0.5) / tail.len() as f64;
            log_weights[draw] = (fit.quantile(share) + base).ln().min(0.0);
        }
    }
    if fit.shape.is_nan() {
        return none(f64::INFINITY);
    }
    ParetoTail {
        shape: fit.shape,
        scale: fit.scale,
        length: tail.len(),
    }
}

/// A generalised Pareto distribution on (0, ∞), fitted to a sorted sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParetoFit {
    /// k, positive for heavy tails, shrunk toward 0.5 with the weight of ten draws.
    pub shape: f64,
    /// Scale σ.
    pub scale: f64,
}

impl ParetoFit {
    /// The quasi-Bayesian estimate of Zhang & Stephens (2009): a weighted mean over a grid of
    /// b = −k/σ with profile likelihood as weight. `sorted` holds exceedances in increasing
    /// order.
    pub fn new(sorted: &[f64]) -> Self {
        let count = sorted.len();
        let points = 30 + (count as f64).sqrt() as usize;
        let quartile = sorted[((count as f64 / 4.0 + 0.5) as usize).max(1) - 1];
        let top = sorted[count - 1];
        let grid = (1..=points).map(|j| {
            let offset = 1.0 - (points as f64 / (j as f64 - 0.5)).sqrt();
            1.0 / top + offset / (3.0 * quartile)
        });
        let grid: Vec<f64> = grid.collect();
        let likelihood = grid.iter().map(|&b| profile_likelihood(b, sorted));
        let likelihood: Vec<f64> = likelihood.collect();
        let weight = |at: f64| 1.0 / likelihood.iter().map(|l| (l - at).exp()).sum::<f64>();
        let (mut total, mut mean) = (0.0, 0.0);
        for (b, at) in grid.iter().zip(&likelihood) {
            let weight = weight(*at);
            if weight >= 10.0 * f64::EPSILON {
                total += weight;
                mean += weight * b;
            }
        }
        let b = mean / total;
        let raw = mean_log(b, sorted);
        let count = count as f64;
        Self {
            shape: (count * raw + 10.0 * 0.5) / (count + 10.0),
            scale: -raw / b,
        }
    }

    /// The quantile of the distribution.
    pub fn quantile(&self, share: f64) -> f64 {
        let exponential = -(-share).ln_1p();
        if self.shape.abs() < f64::EPSILON {
            return self.scale * exponential;
        }
        self.scale * (self.shape * exponential).exp_m1() / self.shape
    }
}

/// Mean of log(1 − b·x): the shape that corresponds to b.
fn mean_log(b: f64, sample: &[f64]) -> f64 {
    sample.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / sample.len() as f64
}

/// Profile log likelihood of b, up to a constant.
fn profile_likelihood(b: f64, sample: &[f64]) -> f64 {
    let shape = mean_log(b, sample);
    sample.len() as f64 * ((-b / shape).ln() - shape - 1.0)
}

#[cfg(test)]
mod tests;
