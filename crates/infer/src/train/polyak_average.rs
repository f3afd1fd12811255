//! The average of the last iterates, which has less noise than any of them.

use serde::{Deserialize, Serialize};

/// A running mean over the later part of a sequence, at least its last half, in constant memory.
///
/// Means over stretches that double in length are kept, the open one and the one before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PolyakAverage {
    before: Vec<f64>,
    before_count: u64,
    open: Vec<f64>,
    open_count: u64,
}

impl PolyakAverage {
    /// The mean before any iterate.
    pub(crate) fn new(size: usize) -> PolyakAverage {
        PolyakAverage {
            before: vec![0.0; size],
            before_count: 0,
            open: vec![0.0; size],
            open_count: 0,
        }
    }

    /// Forgets all.
    pub(crate) fn restart(&mut self) {
        self.before_count = 0;
        self.open_count = 0;
        self.open.fill(0.0);
    }

    /// Adds an iterate.
    pub(crate) fn push(&mut self, values: &[f64]) {
        if self.open_count > 0 && self.open_count >= 2 * self.before_count.max(1) {
            std::mem::swap(&mut self.before, &mut self.open);
            self.before_count = self.open_count;
            self.open.fill(0.0);
            self.open_count = 0;
        }
        self.open_count += 1;
        let share = 1.0 / self.open_count as f64;
        for (mean, value) in self.open.iter_mut().zip(values) {
            *mean += share * (value - *mean);
        }
    }

    /// Writes the mean, or nothing before the first iterate.
    pub(crate) fn write(&self, into: &mut [f64]) {
        let total = self.before_count + self.open_count;
        if total == 0 {
            return;
        }
        let share = self.open_count as f64 / total as f64;
        if self.before_count == 0 {
            into.copy_from_slice(&self.open);
            return;
        }
        for (k, to) in into.iter_mut().enumerate() {
            // In this form a value that never changed stays the same to the last bit.
            *to = self.before[k] + share * (self.open[k] - self.before[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_covers_the_last_part_only() {
        let mut average = PolyakAverage::new(1);
        for k in 0..1000 {
            average.push(&[f64::from(k)]);
        }
        let mut mean = [0.0];
        average.write(&mut mean);
        assert!(mean[0] > 500.0 && mean[0] < 999.0, "{mean:?}");
        average.restart();
        average.push(&[7.0]);
        average.write(&mut mean);
        assert_eq!(mean, [7.0]);
    }
}
