//! Mean and spread of numbers that come one at a time.

use serde::{Deserialize, Serialize};

/// Running count, mean and sum of squared deviations (Welford 1962): one pass, and no loss of
/// digits when the mean is large against the spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moment {
    /// Takes in one number.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Takes in all numbers of another (Chan, Golub & LeVeque 1979).
    pub fn merge(&mut self, other: &Moment) {
        if other.count == 0 {
            return;
        }
        let before = self.count as f64;
        self.count += other.count;
        let share = other.count as f64 / self.count as f64;
        let apart = other.mean - self.mean;
        self.mean += apart * share;
        self.squares += other.squares + apart * apart * before * share;
    }

    /// How many numbers were taken in.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 when there are none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their population standard deviation (divided by n); 0 when there are none.
    pub fn scale(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }

    /// The root of the mean of their squares; 0 when there are none.
    pub fn root_mean_square(&self) -> f64 {
        self.mean.hypot(self.scale())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_mean_does_not_drown_the_spread() {
        let mut moment = Moment::default();
        for value in [4.0, 7.0, 13.0, 16.0] {
            moment.push(value + 1e9);
        }
        assert_eq!(moment.mean(), 1e9 + 10.0);
        assert!((moment.scale() - 22.5_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn moments_of_parts_are_those_of_the_whole() {
        let values: Vec<f64> = (0..97).map(|k| 1e6 + f64::from(k * k % 31)).collect();
        let of = |values: &[f64]| {
            let mut moment = Moment::default();
            for value in values {
                moment.push(*value);
            }
            moment
        };
        let mut merged = Moment::default();
        for part in [&values[..1], &values[1..40], &[], &values[40..]] {
            merged.merge(&of(part));
        }
        let whole = of(&values);
        assert_eq!(merged.count(), 97);
        assert!((merged.mean() - whole.mean()).abs() < 1e-9);
        assert!((merged.scale() - whole.scale()).abs() < 1e-9);
        let mut alone = Moment::default();
        alone.merge(&whole);
        assert_eq!(alone, whole);
    }

    #[test]
    fn equal_numbers_have_no_spread_at_all() {
        let mut moment = Moment::default();
        (0..1000).for_each(|_| moment.push(0.1));
        assert_eq!((moment.mean(), moment.scale()), (0.1, 0.0));
    }
}
