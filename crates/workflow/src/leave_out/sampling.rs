//! Which rows of a table are left out: all, or some of a long one.

use lehr_numeric::order::permutation;
use lehr_numeric::stream::Stream;

/// With more rows a sample of them is left out.
const MOST_ROWS: u64 = 100_000;
/// The size of that sample.
const SAMPLE: usize = 5000;
/// With more rows their order would need more memory than everything else.
const MOST_ORDERED: u64 = 1 << 24;

/// The selection of rows to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LooSampling {
    /// The number of rows, at least 2. By default all rows are left out, and a sample of a long table.
    pub subsample: Option<usize>,
    /// Where random numbers come from.
    pub seed: u64,
}

impl LooSampling {
    /// The places of the chosen rows, in order: evenly at random, if not all.
    pub fn choose(self, n_rows: u64) -> Vec<u64> {
        let count = match self.subsample {
            Some(count) => count.max(2),
            None if n_rows > MOST_ROWS => SAMPLE,
            None => n_rows as usize,
        };
        if n_rows > MOST_ORDERED {
            return Stream::new(self.seed, "leave out", 0).distinct(n_rows, count);
        }
        let order = permutation(n_rows as usize, self.seed);
        let mut chosen: Vec<u64> = order.iter().take(count).map(|row| *row as u64).collect();
        chosen.sort_unstable();
        chosen
    }
}
