//! Summaries of draws: moments, quantiles and shortest intervals, plain and weighted.

mod chain;

pub use chain::{
    effective_size, effective_size_bulk, effective_size_tail, mean_error, normal_quantile,
    sd_error, split_rank_rhat,
};

/// Arithmetic mean; NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean of each column of a table, row-major.
pub fn column_means(table: &[f64], width: usize) -> Vec<f64> {
    let mean = |place: usize| {
        let column = table.iter().skip(place).step_by(width).copied();
        mean(&column.collect::<Vec<f64>>())
    };
    (0..width).map(mean).collect()
}

/// Standard deviation with divisor n − 1; NaN for fewer than two values.
pub fn sd(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// The values in increasing order, as the functions below require.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Quantile by linear interpolation of order statistics (Hyndman & Fan's type 7, the default of R
/// and `NumPy`); NaN without values.
pub fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = last as f64 * probability.clamp(0.0, 1.0);
    let below = place as usize;
    let above = (below + 1).min(last);
    let share = place - below as f64;
    // Equal neighbours may both be infinite, and their difference is NaN.
    if share == 0.0 || sorted[below] == sorted[above] {
        return sorted[below];
    }
    sorted[below] + share * (sorted[above] - sorted[below])
}

/// Shortest interval between order statistics that spans a share of the draws.
pub fn shortest_interval(sorted: &[f64], probability: f64) -> (f64, f64) {
    let count = sorted.len();
    if count == 0 {
        return (f64::NAN, f64::NAN);
    }
    let span = ((probability * count as f64) as usize).min(count - 1);
    let first = (0..count - span)
        .min_by(|&a, &b| (sorted[a + span] - sorted[a]).total_cmp(&(sorted[b + span] - sorted[b])))
        .unwrap_or(0);
    (sorted[first], sorted[first + span])
}

/// Draws with weights, sorted by value and normalised to sum to one.
#[derive(Clone, Debug)]
pub struct WeightedSample {
    pairs: Vec<(f64, f64)>,
}

impl WeightedSample {
    /// Draws and their weights, which are normalised to sum to one.
    ///
    /// # Panics
    /// If the lengths differ, or a weight is negative, or all are zero.
    pub fn new(values: &[f64], weights: &[f64]) -> Self {
        assert_eq!(values.len(), weights.len(), "one weight per draw");
        let total: f64 = weights.iter().sum();
        assert!(
            total > 0.0 && total.is_finite() && weights.iter().all(|w| *w >= 0.0),
            "weights are not negative and not all zero"
        );
        let pairs = values.iter().zip(weights).map(|(x, w)| (*x, w / total));
        let mut pairs: Vec<(f64, f64)> = pairs.collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { pairs }
    }

    /// Weighted mean.
    pub fn mean(&self) -> f64 {
        self.pairs.iter().map(|(x, w)| w * x).sum()
    }

    /// Weighted standard deviation; with equal weights, the one with divisor n − 1.
    pub fn sd(&self) -> f64 {
        let mean = self.mean();
        let variance: f64 = self.pairs.iter().map(|(x, w)| w * (x - mean).powi(2)).sum();
        (variance / (1.0 - 1.0 / self.effective_size())).sqrt()
    }

    /// Standard error of the mean under self-normalised importance sampling (delta method).
    pub fn mean_error(&self) -> f64 {
        let mean = self.mean();
        let squares = self.pairs.iter().map(|(x, w)| (w * (x - mean)).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// Kish's effective number of draws, 1/Σw².
    pub fn effective_size(&self) -> f64 {
        1.0 / self.pairs.iter().map(|(_, w)| w * w).sum::<f64>()
    }

    /// Weighted quantile (Akinshin 2023, type 7): the mean of the draws over the share of weight
    /// ((h−1)/n, h/n) with h = p(n−1) + 1 and n the effective number. With equal weights it is
    /// [`quantile`]; a draw of weight zero changes nothing.
    pub fn quantile(&self, probability: f64) -> f64 {
        let count = self.effective_size();
        let low = probability.clamp(0.0, 1.0) * (count - 1.0) / count;
        let high = low + 1.0 / count;
        let (mut below, mut value) = (0.0, 0.0);
        for &(x, weight) in &self.pairs {
            let shared = (below + weight).min(high) - f64::max(below, low);
            if shared > 0.0 {
                value += shared * count * x;
            }
            below += weight;
        }
        value
    }

    /// Shortest interval between draws that contains at least a share of the weight.
    pub fn shortest_interval(&self, probability: f64) -> (f64, f64) {
        // Sums of weights that reach the share up to rounding count as reaching it.
        let wanted = probability.min(1.0) - 1e-12;
        let (mut first, mut held) = (0, 0.0);
        let mut best = (f64::NEG_INFINITY, f64::INFINITY);
        for &(high, weight) in &self.pairs {
            held += weight;
            while held - self.pairs[first].1 >= wanted {
                held -= self.pairs[first].1;
                first += 1;
            }
            let low = self.pairs[first].0;
            if held >= wanted && high - low < best.1 - best.0 {
                best = (low, high);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests;
