//! The sequence of values that a sampler received, so that a repetition receives the same.

use serde::{Deserialize, Serialize};

/// The most numbers in all caches of a run: 256 MB.
pub(super) const MOST_REMEMBERED: usize = 32 << 20;

/// Values and slopes in the order of evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct GradientCache {
    size: usize,
    most: usize,
    /// A value, NaN if there was none, and its slope; then the next.
    numbers: Vec<f64>,
    /// Whether it is full and records nothing any more.
    full: bool,
}

impl GradientCache {
    /// An empty cache for this many coordinates, with room for at most `most` numbers.
    pub(super) fn new(size: usize, most: usize) -> GradientCache {
        GradientCache {
            size,
            most,
            numbers: Vec::new(),
            full: false,
        }
    }

    /// The value of this turn, with its slope; `None` if it is not on the cache.
    pub(super) fn play(&self, turn: usize, slope: &mut [f64]) -> Option<f64> {
        let at = turn * (self.size + 1);
        let told = self.numbers.get(at..=at + self.size)?;
        slope.copy_from_slice(&told[1..]);
        Some(told[0])
    }

    /// Adds the last value. A full cache is useless and is erased.
    pub(super) fn record(&mut self, value: f64, slope: &[f64]) {
        if self.numbers.len() + slope.len() >= self.most {
            self.full = true;
            self.numbers = Vec::new();
        }
        if !self.full {
            self.numbers.push(value);
            self.numbers.extend(slope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_tells_what_it_was_told_until_it_is_full() {
        let mut cache = GradientCache::new(2, 8);
        cache.record(1.0, &[2.0, 3.0]);
        cache.record(f64::NAN, &[0.0, 0.0]);
        let mut slope = [0.0; 2];
        assert_eq!(cache.play(0, &mut slope), Some(1.0));
        assert_eq!(slope, [2.0, 3.0]);
        assert!(cache.play(1, &mut slope).unwrap().is_nan());
        assert_eq!(cache.play(2, &mut slope), None);
        cache.record(4.0, &[5.0, 6.0]);
        cache.record(7.0, &[8.0, 9.0]);
        assert_eq!(cache.play(0, &mut slope), None);
    }
}
