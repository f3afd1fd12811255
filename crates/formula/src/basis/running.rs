//! Running sums that neither overflow nor underflow.

use serde::{Deserialize, Serialize};

/// A running mean.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Mean {
    pub(super) count: u64,
    pub(super) value: f64,
}

impl Mean {
    pub(super) fn push(&mut self, value: f64) {
        self.count += 1;
        self.value += (value - self.value) / self.count as f64;
    }

    /// Adds the mean of more numbers.
    pub(super) fn merge(&mut self, other: &Mean) {
        if other.count > 0 {
            self.count += other.count;
            let share = other.count as f64 / self.count as f64;
            self.value += (other.value - self.value) * share;
        }
    }
}

/// A sum of squares relative to the largest number so far, so that squares neither overflow
/// nor vanish.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct ScaledSquares {
    most: f64,
    sum: f64,
}

impl ScaledSquares {
    pub(super) fn push(&mut self, value: f64) {
        let size = value.abs();
        if size > self.most {
            self.sum = 1.0 + self.sum * (self.most / size).powi(2);
            self.most = size;
        } else if self.most > 0.0 {
            self.sum += (size / self.most).powi(2);
        }
    }

    /// Adds the squares of more numbers.
    pub(super) fn merge(&mut self, other: &ScaledSquares) {
        let (large, small) = if other.most > self.most {
            (*other, *self)
        } else {
            (*self, *other)
        };
        *self = large;
        if large.most > 0.0 {
            self.sum += small.sum * (small.most / large.most).powi(2);
        }
    }

    /// √(Σ x²/count).
    pub(super) fn root_mean(&self, count: f64) -> f64 {
        self.most * (self.sum / count).sqrt()
    }
}
