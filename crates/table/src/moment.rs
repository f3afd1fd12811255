//! One-pass mean and standard deviation.

use lehr_numeric::column::{LANES, LaneMoments, taken_in};
use serde::{Deserialize, Serialize};

/// Running count, mean and sum of squared deviations: one pass, and no loss of digits if the mean
/// is large relative to the standard deviation. Numbers go to eight lanes in turn, each by
/// Welford's rule, so that many are processed at once. The division into blocks does not change a
/// bit of the result.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Moment {
    /// The merged totals.
    merged: Total,
    /// Numbers in the lanes.
    count: u64,
    lanes: LaneMoments,
}

/// Count, mean and sum of squared deviations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Total {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Total {
    /// Adds all numbers of another total (Chan, Golub & LeVeque 1979).
    fn merge_sums(&mut self, other: &Total) {
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
}

/// Moments are equal if their totals are.
impl PartialEq for Moment {
    fn eq(&self, other: &Moment) -> bool {
        self.total() == other.total()
    }
}

impl Moment {
    /// Adds one number.
    pub fn push_value(&mut self, value: f64) {
        let lane = (self.count % LANES as u64) as usize;
        let share = 1.0 / (self.count / LANES as u64 + 1) as f64;
        let LaneMoments { means, squares } = &mut self.lanes;
        let before = value - means[lane];
        means[lane] += before * share;
        squares[lane] += before * (value - means[lane]);
        self.count += 1;
    }

    /// Adds many numbers, with the same bits as one after another.
    pub fn push_all(&mut self, values: &[f64]) {
        let open = (self.count.next_multiple_of(LANES as u64) - self.count) as usize;
        let (first, values) = values.split_at(open.min(values.len()));
        for value in first {
            self.push_value(*value);
        }
        let (blocks, rest) = values.as_chunks::<LANES>();
        self.lanes = taken_in(self.lanes, self.count / LANES as u64, blocks);
        self.count += (blocks.len() * LANES) as u64;
        for value in rest {
            self.push_value(*value);
        }
    }

    /// Adds all numbers of another moment.
    pub fn merge_sums(&mut self, other: &Moment) {
        let mut merged = self.total();
        merged.merge_sums(&other.total());
        *self = Moment {
            merged,
            ..Moment::default()
        };
    }

    /// The total of all numbers.
    fn total(&self) -> Total {
        let mut total = self.merged;
        for (lane, (mean, squares)) in self.lanes.means.iter().zip(self.lanes.squares).enumerate() {
            // The first lanes have one more number if the last round is not full.
            let count = (self.count + (LANES - 1 - lane) as u64) / LANES as u64;
            total.merge_sums(&Total {
                count,
                mean: *mean,
                squares,
            });
        }
        total
    }

    /// How many numbers were added.
    pub fn count(&self) -> u64 {
        self.merged.count + self.count
    }

    /// Their mean; 0 when there are none.
    pub fn mean(&self) -> f64 {
        self.total().mean
    }

    /// Their population standard deviation (divided by n); 0 when there are none.
    pub fn scale(&self) -> f64 {
        let total = self.total();
        (total.squares / total.count.max(1) as f64).sqrt()
    }

    /// The root of the mean of their squares; 0 when there are none.
    pub fn root_mean_square(&self) -> f64 {
        self.mean().hypot(self.scale())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_mean_does_not_drown_the_spread() {
        let mut moment = Moment::default();
        for value in [4.0, 7.0, 13.0, 16.0] {
            moment.push_value(value + 1e9);
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
                moment.push_value(*value);
            }
            moment
        };
        let mut merged = Moment::default();
        for part in [&values[..1], &values[1..40], &[], &values[40..]] {
            merged.merge_sums(&of(part));
        }
        let whole = of(&values);
        assert_eq!(merged.count(), 97);
        assert!((merged.mean() - whole.mean()).abs() < 1e-9);
        assert!((merged.scale() - whole.scale()).abs() < 1e-9);
        let mut alone = Moment::default();
        alone.merge_sums(&whole);
        assert_eq!(alone, whole);
    }

    #[test]
    fn blocks_of_numbers_give_the_bits_of_one_after_another() {
        let values: Vec<f64> = (0..5000).map(|k| 1e6 + f64::from(k * k % 977)).collect();
        let mut alone = Moment::default();
        for value in &values {
            alone.push_value(*value);
        }
        for block in [1, 3, 8, 100, 4999] {
            let mut together = Moment::default();
            values
                .chunks(block)
                .for_each(|some| together.push_all(some));
            assert_eq!(together.count(), 5000);
            assert_eq!(together.mean().to_bits(), alone.mean().to_bits(), "{block}");
            assert_eq!(together.scale().to_bits(), alone.scale().to_bits());
        }
        let mean = values.iter().map(|value| value - 1e6).sum::<f64>() / 5000.0;
        let squares = values.iter().map(|value| (value - 1e6 - mean).powi(2));
        let scale = (squares.sum::<f64>() / 5000.0).sqrt();
        assert!((alone.mean() - 1e6 - mean).abs() < 1e-8);
        assert!((alone.scale() / scale - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_numbers_have_no_spread_at_all() {
        let mut moment = Moment::default();
        (0..1000).for_each(|_| moment.push_value(0.1));
        assert_eq!((moment.mean(), moment.scale()), (0.1, 0.0));
        moment.push_all(&vec![0.1; 3000]);
        assert_eq!((moment.mean(), moment.scale()), (0.1, 0.0));
    }
}
