//! A sample of a column's values from which knots are chosen.

/// The most values that are kept.
const MOST: usize = 8192;

/// A sample of a column's values, and its range. Up to 8192 values all are kept, and of more every
/// k-th, so that the same table gives the same knots however it is cut into blocks.
#[derive(Clone, Debug)]
pub struct KnotSample {
    values: Vec<f64>,
    every: usize,
    seen: usize,
    range: [f64; 2],
}

impl Default for KnotSample {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            every: 1,
            seen: 0,
            range: [f64::INFINITY, f64::NEG_INFINITY],
        }
    }
}

impl KnotSample {
    /// Adds the next value.
    pub fn push(&mut self, value: f64) {
        // Adding zero turns −0 into 0.
        let value = value + 0.0;
        self.range = [self.range[0].min(value), self.range[1].max(value)];
        if self.seen.is_multiple_of(self.every) {
            if self.values.len() == MOST {
                let mut place = 0;
                self.values.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.values.push(value);
            }
        }
        self.seen += 1;
    }

    /// The smallest and the largest value of all.
    pub fn range(&self) -> [f64; 2] {
        self.range
    }

    /// The values that were kept, each once, in ascending order, with both ends of the range.
    pub fn distinct_values(&self) -> Vec<f64> {
        let mut values = self.sorted_values();
        values.dedup();
        values
    }

    /// At most `most` of the values that were kept, in the order of the rows.
    pub fn spread_values(&self, most: usize) -> Vec<f64> {
        let every = self.values.len().div_ceil(most.max(1)).max(1);
        self.values.iter().step_by(every).copied().collect()
    }

    /// The values that were kept and both ends of the range, in ascending order.
    fn sorted_values(&self) -> Vec<f64> {
        let mut values = self.values.clone();
        if self.every > 1 {
            values.extend(self.range);
        }
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    /// Quantiles at `count` equal steps strictly inside (0, 1), as R's `quantile` computes them.
    pub fn quantiles(&self, count: usize) -> Vec<f64> {
        let values = self.sorted_values();
        (1..=count)
            .map(|k| quantile(&values, k as f64 / (count + 1) as f64))
            .collect()
    }
}

/// A quantile of sorted values by linear interpolation (R's type 7).
pub(super) fn quantile(values: &[f64], share: f64) -> f64 {
    let place = share * (values.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(values.len() - 1);
    let rest = place - below as f64;
    values[below] + rest * (values[above] - values[below])
}

/// `count` distinct values among sorted ones, the ends included, at equal steps of their order.
pub(super) fn evenly_chosen(values: &[f64], count: usize) -> Vec<f64> {
    let count = count.min(values.len()).max(2);
    let mut found: Vec<f64> = (0..count)
        .map(|k| quantile(values, k as f64 / (count - 1) as f64))
        .collect();
    // Interpolation may round to a neighbour.
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_r() {
        let mut sample = KnotSample::default();
        for value in [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0] {
            sample.push(value);
        }
        // quantile(c(3, 1, 4, 1, 5, 9, 2, 6), 1:3/4)
        assert_eq!(sample.quantiles(3), [1.75, 3.5, 5.25]);
        assert_eq!(
            sample.distinct_values(),
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0]
        );
        assert_eq!(
            evenly_chosen(&sample.distinct_values(), 4),
            [1.0, 3.0, 5.0, 9.0]
        );
    }

    #[test]
    fn of_many_values_some_of_all_parts_are_kept() {
        let mut sample = KnotSample::default();
        let count = 5 * MOST + 3;
        for k in 0..count {
            sample.push(k as f64);
        }
        assert!(sample.values.len() <= MOST);
        let middle = sample.quantiles(1)[0];
        assert!((middle / count as f64 - 0.5).abs() < 1e-3, "{middle}");
        assert_eq!(sample.range(), [0.0, (count - 1) as f64]);
        assert_eq!(sample.distinct_values().last(), Some(&((count - 1) as f64)));
    }
}
