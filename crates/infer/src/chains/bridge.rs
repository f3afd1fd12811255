//! The log evidence by bridge sampling between draws of the posterior and a Gaussian fitted to some
//! of them (Meng & Wong 1996).

use lehr_density::Density;
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::{effective_size, mean, sd};

use crate::draw::sparing;
use crate::error::TrainError;
use crate::estimate::Estimate;
use crate::expansion::LogPrior;
use crate::guide::{HALF_LN_TWO_PI, Whitening};
use crate::run::Run;

/// The most draws on either side: each costs a value on all rows.
const MOST: usize = 1000;
/// The most rounds of the fixed-point iteration; about ten are usual.
const ROUNDS: usize = 200;
/// Nats. Estimates with a larger error are not reported.
const UNKNOWN: f64 = 2.0;

/// Draws of the posterior: from chains of equal length one after another, or weighted ones.
pub(crate) struct Sample<'a> {
    /// z
    pub(crate) draws: &'a [f64],
    /// How many chains there are; independent draws are one.
    pub(crate) chains: usize,
    /// Weights that sum to one, unless all are equal.
    pub(crate) weights: Option<&'a [f64]>,
}

/// ln p(D), from values on all rows at some draws on either side.
///
/// The Gaussian is fitted to the first half of every chain, and the bridge uses the second half,
/// because a Gaussian fits the draws that it was fitted to too well. `None` if the two hardly
/// overlap.
pub(crate) fn log_evidence(
    density: &dyn Density,
    sample: &Sample<'_>,
    run: &mut Run<'_>,
) -> Result<Option<Estimate>, TrainError> {
    let (size, seed) = (density.latents().size(), run.seed);
    bridged(sample, (size, seed), |points| {
        let (values, sampling) = sparing(density, points, run)?;
        let mut prior = LogPrior::new(density);
        let each = points.chunks_exact(size).zip(&values);
        let joint = each.map(|(z, value)| value + prior.at(z, &[]).0).collect();
        Ok((joint, sampling.map_or(0.0, |sampling| sampling.error)))
    })
}

/// As [`log_evidence`] for draws of `size` numbers each, with the log density that `log_joint`
/// computes at all points, and the error of each.
pub(crate) fn bridged<E>(
    sample: &Sample<'_>,
    (size, seed): (usize, u64),
    log_joint: impl FnOnce(&[f64]) -> Result<(Vec<f64>, f64), E>,
) -> Result<Option<Estimate>, E> {
    let (fitted, kept) = halves(sample.draws.len() / size, sample.chains);
    let pick = |places: &[usize]| -> Vec<f64> {
        let draws = places.iter().map(|at| &sample.draws[at * size..][..size]);
        draws.flatten().copied().collect()
    };
    let gaussian = Whitening::of_draws(&pick(&fitted), size);
    let mut points = pick(&kept);
    points.extend(drawn(&gaussian, kept.len(), size, seed));
    let (values, unknown) = log_joint(&points)?;
    let each = points.chunks_exact(size).zip(&values);
    let ratios: Vec<f64> = each
        .map(|(z, value)| value - log_density(&gaussian, z))
        .collect();
    let (own, other) = ratios.split_at(kept.len());
    let weights = sample
        .weights
        .map(|all| kept.iter().map(|at| all[*at]).collect::<Vec<f64>>());
    let bridge = Bridge {
        own,
        weights: weights.as_deref(),
        chains: sample.chains,
        other,
    };
    let found = bridge.estimate().widened(unknown);
    Ok(Some(found).filter(|found| found.mean.is_finite() && found.error < UNKNOWN))
}

/// The places of the draws to which the Gaussian is fitted, and of those that the bridge uses,
/// equally many of each chain.
fn halves(count: usize, chains: usize) -> (Vec<usize>, Vec<usize>) {
    let length = count / chains.max(1);
    let half = length / 2;
    let every = (half * chains).div_ceil(MOST).max(1);
    let first = |chain: usize| chain * length..chain * length + half;
    let last = |chain: usize| {
        let count = half / every;
        (0..count).map(move |k| chain * length + half + k * every)
    };
    (
        (0..chains).flat_map(first).collect(),
        (0..chains).flat_map(last).collect(),
    )
}

fn drawn(gaussian: &Whitening, count: usize, size: usize, seed: u64) -> Vec<f64> {
    let mut noise = vec![0.0; count * size];
    Stream::new(seed, "bridge", 0).fill_normal(&mut noise);
    let draws = noise.chunks_exact(size);
    draws.flat_map(|x| gaussian.at(x)).collect()
}

/// ln g(z)
fn log_density(gaussian: &Whitening, z: &[f64]) -> f64 {
    let square: f64 = gaussian.coordinates(z).iter().map(|x| x * x).sum();
    -0.5 * square - HALF_LN_TWO_PI * z.len() as f64 - gaussian.log_volume()
}

/// ln p(D, z) − ln g(z) at draws of either side.
struct Bridge<'a> {
    own: &'a [f64],
    weights: Option<&'a [f64]>,
    chains: usize,
    other: &'a [f64],
}

impl Bridge<'_> {
    /// The optimal bridge. With l = p(D, z)/g(z), r the evidence and s₁, s₂ the shares of the draws
    ///
    /// ```text
    /// r = E_g[l/(s₁l + s₂r)] / E_post[1/(s₁l + s₂r)]
    /// ```
    ///
    /// is a fixed point, whose relative error is that of both means (Frühwirth-Schnatter 2004).
    fn estimate(&self) -> Estimate {
        let mut log_evidence = self.start();
        let (mut own, mut other) = self.terms(log_evidence);
        for _ in 0..ROUNDS {
            let step = (mean(&other) / self.average(&own)).ln();
            log_evidence += step;
            (own, other) = self.terms(log_evidence);
            if step.abs() < 1e-10 || !step.is_finite() {
                break;
            }
        }
        let count = (other.len() as f64).sqrt();
        let error = sd(&other) / (mean(&other) * count);
        Estimate {
            mean: log_evidence,
            error: error.hypot(self.own_error(&own)),
        }
    }

    /// A ratio in the middle of those of the posterior's draws.
    fn start(&self) -> f64 {
        let mut sorted = self.own.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// 1/(s₁l/r + s₂) at draws of the posterior, and (l/r)/(s₁l/r + s₂) at those of the Gaussian.
    fn terms(&self, log_evidence: f64) -> (Vec<f64>, Vec<f64>) {
        let (own, other) = (self.effective(), self.other.len() as f64);
        let (s1, s2) = (own / (own + other), other / (own + other));
        let inverse = |ratio: &f64| 1.0 / (s1 * (ratio - log_evidence).exp() + s2);
        // NaN counts as zero density.
        let share = |ratio: &f64| {
            let known = Some(ratio).filter(|ratio| !ratio.is_nan());
            known.map_or(0.0, |ratio| 1.0 / (s1 + s2 * (log_evidence - ratio).exp()))
        };
        let own = self.own.iter().map(inverse).collect();
        (own, self.other.iter().map(share).collect())
    }

    /// The effective number of the posterior's draws.
    fn effective(&self) -> f64 {
        match self.weights {
            None => self.own.len() as f64,
            Some(weights) => {
                let total: f64 = weights.iter().sum();
                total.powi(2) / weights.iter().map(|w| w * w).sum::<f64>()
            }
        }
    }

    fn average(&self, values: &[f64]) -> f64 {
        match self.weights {
            None => mean(values),
            Some(weights) => {
                let total: f64 = weights.iter().sum();
                values.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() / total
            }
        }
    }

    /// The relative error of the posterior's mean, autocorrelation included.
    fn own_error(&self, values: &[f64]) -> f64 {
        let centre = self.average(values);
        match self.weights {
            None => {
                let length = (values.len() / self.chains).max(1);
                let chains: Vec<&[f64]> = values.chunks_exact(length).collect();
                let worth = effective_size(&chains).min(values.len() as f64);
                let spread = sd(values);
                // Values that are all equal have no autocorrelation.
                if spread > 0.0 {
                    spread / (centre * worth.sqrt())
                } else {
                    0.0
                }
            }
            Some(weights) => {
                let total: f64 = weights.iter().sum();
                let part = |(x, w): (&f64, &f64)| (w / total * (x - centre)).powi(2);
                values.iter().zip(weights).map(part).sum::<f64>().sqrt() / centre
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of N(0.3, 0.8²) beside N(0, 1), with an evidence of e⁵.
    fn ratios(count: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let ratio = |z: f64| {
            let own = -0.5 * ((z - 0.3) / 0.8).powi(2) - 0.8_f64.ln();
            5.0 + own + 0.5 * z * z
        };
        let mut stream = Stream::new(seed, "bridge test", 0);
        let own = (0..count).map(|_| ratio(0.3 + 0.8 * stream.normal()));
        let own: Vec<f64> = own.collect();
        (own, (0..count).map(|_| ratio(stream.normal())).collect())
    }

    #[test]
    fn a_known_evidence_is_found_within_its_error() {
        let found: Vec<Estimate> = (0..40)
            .map(|seed| {
                let (own, other) = ratios(400, seed);
                let bridge = Bridge {
                    own: &own,
                    weights: None,
                    chains: 4,
                    other: &other,
                };
                bridge.estimate()
            })
            .collect();
        let off = found.iter().map(|one| (one.mean - 5.0) / one.error);
        let square = off.map(|z| z * z).sum::<f64>() / 40.0;
        // A mean of 40 squares has a standard error of 0.22.
        assert!((square - 1.0).abs() < 0.9, "{square}");
        assert!(found.iter().all(|one| one.error < 0.05), "{found:?}");
    }

    #[test]
    fn weights_of_one_are_no_weights() {
        let (own, other) = ratios(400, 1);
        let bridge = |weights| Bridge {
            own: &own,
            weights,
            chains: 1,
            other: &other,
        };
        let even = vec![1.0 / 400.0; 400];
        let (plain, weighted) = (bridge(None).estimate(), bridge(Some(&even)).estimate());
        assert!((plain.mean - weighted.mean).abs() < 1e-9);
        assert!((plain.error / weighted.error - 1.0).abs() < 0.3);
    }

    #[test]
    fn halves_are_of_every_chain() {
        let (fitted, kept) = halves(12, 2);
        assert_eq!(fitted, [0, 1, 2, 6, 7, 8]);
        assert_eq!(kept, [3, 4, 5, 9, 10, 11]);
        assert_eq!(halves(40_000, 4).1.len(), MOST);
    }
}
