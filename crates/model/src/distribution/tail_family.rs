//! Draws of censored and truncated numbers.

use lehr_density::Family;
use rand::Rng;

use super::draw::{sample_uniform, standard_exponential};
use super::family::ScalarFamily;

/// How often the whole distribution is tried before a draw is made between the limits directly.
const TRIES: usize = 16;
/// The most proposals; at least one in ten is accepted.
const MOST_PROPOSALS: usize = 10_000;

/// The families of the censored and the truncated form of a distribution.
pub struct TailFamilies {
    pub(super) censored: CensoredFamily,
    pub(super) truncated: TruncatedFamily,
}

impl TailFamilies {
    /// The families of a base under these two names; `within` draws between limits.
    pub(super) const fn of(
        base: &'static ScalarFamily,
        [censored, truncated]: [&'static str; 2],
        within: Within,
    ) -> TailFamilies {
        TailFamilies {
            censored: CensoredFamily {
                name: censored,
                base,
            },
            truncated: TruncatedFamily {
                name: truncated,
                base,
                within,
            },
        }
    }
}

/// Draws the uncensored numbers.
pub(super) struct CensoredFamily {
    name: &'static str,
    base: &'static dyn Family,
}

impl Family for CensoredFamily {
    fn name(&self) -> &str {
        self.name
    }

    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        self.base.draw_value(parameters, rng, out);
    }
}

/// Draws between limits from the parameters of a distribution.
type Within = fn(&[&[f64]], [f64; 2], &mut dyn Rng) -> f64;

/// Draws between limits, which are the last two parameters.
pub(super) struct TruncatedFamily {
    name: &'static str,
    base: &'static dyn Family,
    /// Draws between limits that few draws of the base distribution meet.
    within: Within,
}

impl Family for TruncatedFamily {
    fn name(&self) -> &str {
        self.name
    }

    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let (own, ends) = parameters.split_at(parameters.len() - 2);
        let ends = [ends[0][0], ends[1][0]];
        for _ in 0..TRIES {
            self.base.draw_value(own, rng, out);
            if out[0].is_nan() || (ends[0]..=ends[1]).contains(&out[0]) {
                return;
            }
        }
        let drawn = (self.within)(own, ends, rng);
        out[0] = drawn.clamp(ends[0], ends[1]);
    }
}

/// A draw of N(0, 1) between limits (Robert 1995). The proposal is the tangent exponential
/// distribution in a tail, else the uniform distribution.
pub(super) fn normal_within([low, high]: [f64; 2], rng: &mut dyn Rng) -> f64 {
    if low + high < 0.0 {
        return -normal_within([-high, -low], rng);
    }
    for _ in 0..MOST_PROPOSALS {
        let (x, log_share) = if low > 0.5 {
            let x = low + exponential_within(low, high - low, rng);
            (x, -0.5 * (x - low).powi(2))
        } else {
            // Few draws of the whole distribution were within the limits, so the interval is narrow
            // or its far end hardly counts.
            let x = low + (high.min(low.max(0.0) + 8.0) - low) * sample_uniform(rng);
            (x, -0.5 * (x * x - low.max(0.0).powi(2)))
        };
        if standard_exponential(rng) > -log_share {
            return x;
        }
    }
    low.max(0.0)
}

/// A draw below `width` of the exponential distribution with this rate.
pub(super) fn exponential_within(rate: f64, width: f64, rng: &mut dyn Rng) -> f64 {
    let all = -(-rate * width).exp_m1();
    -(-sample_uniform(rng) * all).ln_1p() / rate
}

/// A draw of the Poisson distribution between limits, by its probabilities around the mode.
pub(super) fn poisson_within(rate: f64, [low, high]: [f64; 2], rng: &mut dyn Rng) -> f64 {
    let (low, high) = (low.max(0.0).ceil(), high.floor());
    let peak = rate.floor().clamp(low, high);
    let mut weights = vec![(peak, 1.0)];
    let (mut at, mut weight) = (peak, 1.0);
    while at < high && weight > 1e-18 {
        at += 1.0;
        weight *= rate / at;
        weights.push((at, weight));
    }
    (at, weight) = (peak, 1.0);
    while at > low && weight > 1e-18 {
        weight *= at / rate;
        at -= 1.0;
        weights.push((at, weight));
    }
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut left = sample_uniform(rng) * total;
    for (at, weight) in &weights {
        left -= weight;
        if left <= 0.0 {
            return *at;
        }
    }
    peak
}
