//! Mini-batches without replacement by reshuffled epochs, each computed from its number alone.

use crate::stream::Stream;

/// Rows of every training step: each epoch is a fresh random order of all rows, cut into batches.
///
/// No order is ever stored: [`Permutation`] gives any place of any epoch directly, so memory does
/// not grow with the rows and step 10⁶ of a resumed fit needs none of the steps before it.
///
/// When the batch size does not divide the rows, the remainder at the end of an epoch is left
/// out; since the order is random, each row is left out equally often, every row is equally
/// likely in every batch, and (rows/size)·Σ over a batch stays unbiased.
#[derive(Clone, Debug)]
pub struct Epochs {
    rows: u64,
    size: usize,
    seed: u64,
    purpose: String,
}

/// A batch that cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The size is zero or above the number of rows.
    #[error(
        "batch: expected between 1 and {rows} rows, found {size}\n  hint: a batch is drawn without replacement"
    )]
    Size {
        /// Rows of the table.
        rows: u64,
        /// Rows asked for.
        size: usize,
    },
    /// The table is longer than its row numbers can say.
    #[error(
        "batch: expected at most 4294967296 rows, found {rows}\n  hint: split the table or thin it"
    )]
    Rows {
        /// Rows of the table.
        rows: u64,
    },
}

impl Epochs {
    /// Batches of `size` out of `rows`; another `purpose` gives independent batches.
    pub fn new(rows: u64, size: usize, seed: u64, purpose: &str) -> Result<Self, BatchError> {
        if size == 0 || size as u64 > rows {
            return Err(BatchError::Size { rows, size });
        }
        if rows > 1 << 32 {
            return Err(BatchError::Rows { rows });
        }
        let purpose = purpose.to_owned();
        Ok(Self {
            rows,
            size,
            seed,
            purpose,
        })
    }

    /// Rows in a batch.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Rows to draw from.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Steps from one reshuffling to the next.
    pub fn steps_per_epoch(&self) -> u64 {
        self.rows / self.size as u64
    }

    /// Fills `out` with the rows of a step, in random order and all different.
    ///
    /// # Panics
    /// If `out` is not as long as the batch.
    pub fn batch(&self, step: u64, out: &mut [u32]) {
        assert_eq!(out.len(), self.size, "room for one batch");
        let steps = self.steps_per_epoch();
        let mut stream = Stream::new(self.seed, &self.purpose, step / steps);
        let order = Permutation::new(self.rows, &mut stream);
        order.fill(step % steps * self.size as u64, out);
    }
}

/// A random order of `0..count` held in a few words: place ↦ row can be asked anywhere.
///
/// Generalised Feistel network on a grid of about √count × √count with modular addition and a
/// walk back into range (Black & Rogaway 2002). Each round is a shear of the grid, so the whole
/// is a bijection whatever the keys; the grid exceeds `count` by less than one side, so walks
/// are rare. On tiny grids a network reaches some orders more often than others, so up to
/// [`Permutation::LISTED`] rows are shuffled outright.
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    height: u64,
    width: u64,
    keys: [u64; ROUNDS],
    listed: [u8; Permutation::LISTED as usize],
}

const ROUNDS: usize = 6;
/// Rows computed side by side: their rounds do not wait for one another.
const ABREAST: usize = 4;

impl Permutation {
    /// Up to so many rows the order is an exact Fisher–Yates shuffle.
    pub const LISTED: u64 = 256;

    /// An order keyed by the next draws of a stream.
    ///
    /// # Panics
    /// If there is nothing to order, or more than 32 bits can number.
    pub fn new(count: u64, stream: &mut Stream) -> Self {
        assert!(
            (1..=1 << 32).contains(&count),
            "rows are numbered by 32 bits"
        );
        let height = (count as f64).sqrt().ceil() as u64;
        let mut order = Self {
            count,
            height,
            width: count.div_ceil(height),
            keys: [0; ROUNDS],
            listed: std::array::from_fn(|row| row as u8),
        };
        if count <= Self::LISTED {
            stream.shuffle(&mut order.listed[..count as usize]);
        } else {
            stream.fill_bits(&mut order.keys);
        }
        order
    }

    /// The row at a place below `count`.
    ///
    /// # Panics
    /// If the place is outside.
    pub fn at(&self, place: u64) -> u32 {
        let mut row = [0];
        self.fill(place, &mut row);
        row[0]
    }

    /// The rows at consecutive places from `start`.
    ///
    /// # Panics
    /// If they end beyond `count`.
    pub fn fill(&self, start: u64, out: &mut [u32]) {
        assert!(
            start + out.len() as u64 <= self.count,
            "places end at {}",
            self.count
        );
        if self.count <= Self::LISTED {
            let listed = &self.listed[start as usize..];
            out.iter_mut()
                .zip(listed)
                .for_each(|(row, &at)| *row = u32::from(at));
            return;
        }
        let (mut upper, mut lower) = (start / self.width, start % self.width);
        for rows in out.chunks_mut(ABREAST) {
            let mut uppers = [upper; ABREAST];
            let mut lowers = [lower; ABREAST];
            for lane in 1..=ABREAST {
                lower += 1;
                if lower == self.width {
                    (upper, lower) = (upper + 1, 0);
                }
                if lane < ABREAST {
                    (uppers[lane], lowers[lane]) = (upper, lower);
                }
            }
            self.mix(&mut uppers, &mut lowers);
            for (lane, row) in rows.iter_mut().enumerate() {
                *row = self.walk(uppers[lane], lowers[lane]);
            }
        }
    }

    /// The network once, on several places.
    #[inline]
    fn mix<const LANES: usize>(&self, upper: &mut [u64; LANES], lower: &mut [u64; LANES]) {
        for pair in self.keys.chunks_exact(2) {
            for lane in 0..LANES {
                upper[lane] = shear(upper[lane], lower[lane], pair[0], self.height);
            }
            for lane in 0..LANES {
                lower[lane] = shear(lower[lane], upper[lane], pair[1], self.width);
            }
        }
    }

    /// Applies the network until it lands inside; it started inside, so it returns there.
    #[inline]
    fn walk(&self, upper: u64, lower: u64) -> u32 {
        let (mut upper, mut lower) = ([upper], [lower]);
        loop {
            let row = upper[0] * self.width + lower[0];
            if row < self.count {
                return row as u32;
            }
            self.mix(&mut upper, &mut lower);
        }
    }
}

/// moved + hash(by) modulo `side`.
#[inline]
fn shear(moved: u64, by: u64, key: u64, side: u64) -> u64 {
    let mut hash = (by ^ key).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    let shift = ((u128::from(hash) * u128::from(side)) >> 64) as u64;
    let sum = moved + shift;
    if sum >= side { sum - side } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
            #[test]
            fn an_order_holds_every_row_once(count in 1_u64..3000, seed: u64) {
                let order = Permutation::new(count, &mut Stream::new(seed, "order", 0));
                let mut rows = vec![0; count as usize];
                order.fill(0, &mut rows);
                prop_assert_eq!(rows[rows.len() / 2], order.at(count / 2));
                rows.sort_unstable();
                prop_assert!(rows.iter().copied().eq(0..count as u32));
            }

            #[test]
            fn batches_of_an_epoch_do_not_overlap(rows in 1_u64..500, size in 1_usize..60, seed: u64) {
                prop_assume!(size as u64 <= rows);
                let epochs = Epochs::new(rows, size, seed, "rows").unwrap();
                for epoch in 0..2 {
                    let mut seen = vec![0; rows as usize];
                    let mut batch = vec![0; size];
                    for step in 0..epochs.steps_per_epoch() {
                        epochs.batch(epoch * epochs.steps_per_epoch() + step, &mut batch);
                        for &row in &batch {
    seen[row as usize] += 1;
    }
                    }
                    prop_assert!(seen.iter().all(|&times| times <= 1));
                    let left_out = seen.iter().filter(|&&times| times == 0).count();
                    prop_assert_eq!(left_out as u64, rows % size as u64);
                }
            }
        }

    /// Pearson's statistic of (row at `first`, row at `second`) over many epochs, as a number of
    /// standard deviations from its mean.
    fn pair_excess(count: u64, first: u64, second: u64) -> f64 {
        let epochs = 40_000;
        let mut counts = vec![0_u32; (count * count) as usize];
        for epoch in 0..epochs {
            let order = Permutation::new(count, &mut Stream::new(11, "pairs", epoch));
            counts[(u64::from(order.at(first)) * count + u64::from(order.at(second))) as usize] +=
                1;
        }
        let cells = (count * (count - 1)) as f64;
        let expected = epochs as f64 / cells;
        let statistic: f64 = (0..count * count)
            .filter(|cell| cell / count != cell % count)
            .map(|cell| (f64::from(counts[cell as usize]) - expected).powi(2) / expected)
            .sum();
        (statistic - (cells - 1.0)) / (2.0 * (cells - 1.0)).sqrt()
    }

    #[test]
    fn every_pair_of_rows_is_equally_likely_in_a_batch_even_of_small_tables() {
        for count in [3, 5, 12, 30, 257, 300] {
            for (first, second) in [(0, 1), (0, count - 1), (count / 2, count / 2 + 1)] {
                let excess = pair_excess(count, first, second);
                assert!(
                    excess < 4.5,
                    "{count} rows, places {first}, {second}: {excess}"
                );
            }
        }
    }

    #[test]
    fn a_batch_total_is_unbiased_with_the_variance_of_sampling_without_replacement() {
        let (rows, size, steps) = (1000_u64, 50_usize, 40_000_u64);
        let epochs = Epochs::new(rows, size, 3, "rows").unwrap();
        // Steps of different epochs are independent, steps of one epoch are not.
        let mut batch = vec![0; size];
        let totals: Vec<f64> = (0..steps)
            .map(|step| {
                epochs.batch(step * epochs.steps_per_epoch() + 7, &mut batch);
                batch.iter().map(|&row| f64::from(row)).sum::<f64>()
            })
            .collect();
        let mean = totals.iter().sum::<f64>() / steps as f64;
        let variance = totals.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / steps as f64;
        let population = (1000.0 * 1000.0 - 1.0) / 12.0;
        let expected = 50.0 * population * 950.0 / 999.0;
        assert!((mean - 50.0 * 499.5).abs() < 4.0 * (expected / steps as f64).sqrt());
        assert!((variance / expected - 1.0).abs() < 4.0 * (2.0 / steps as f64).sqrt());
    }

    #[test]
    fn a_billion_rows_cost_no_memory_and_cover_their_range() {
        let epochs = Epochs::new(1_000_000_000, 1024, 5, "rows").unwrap();
        let mut batch = vec![0; 1024];
        epochs.batch(123_456_789, &mut batch);
        let mut again = vec![0; 1024];
        epochs.batch(123_456_789, &mut again);
        assert_eq!(batch, again);
        let mut eighths = [0_i32; 8];
        for &row in &batch {
            eighths[(row / 125_000_000) as usize] += 1;
        }
        // Binomial(1024, 1/8) has standard deviation 10.6.
        assert!(eighths.iter().all(|n| (n - 128).abs() < 48), "{eighths:?}");
    }

    #[test]
    fn the_remainder_falls_on_every_row_alike() {
        let epochs = Epochs::new(10, 4, 8, "rows").unwrap();
        let mut counts = [0_i32; 10];
        let mut batch = [0; 4];
        for step in 0..40_000 {
            epochs.batch(step, &mut batch);
            for &row in &batch {
                counts[row as usize] += 1;
            }
        }
        // 20000 epochs of Bernoulli(0.8): standard deviation 57.
        assert!(
            counts.iter().all(|n| (n - 16_000).abs() < 240),
            "{counts:?}"
        );
    }

    #[test]
    fn a_batch_larger_than_the_table_is_refused() {
        let error = Epochs::new(10, 11, 0, "rows").unwrap_err();
        assert_eq!(
            error.to_string(),
            "batch: expected between 1 and 10 rows, found 11\n  hint: a batch is drawn without replacement"
        );
        assert!(Epochs::new(10, 0, 0, "rows").is_err());
        assert!(Epochs::new(1 << 33, 4, 0, "rows").is_err());
    }
}
