//! Some rows of a table, at random.

use lehr_numeric::stream::Stream;

/// The most rows that are checked.
pub(super) const ROWS: usize = 5000;

/// At most this many rows, at random, in order.
pub(crate) fn some_rows(n_rows: usize, most: usize, seed: u64) -> Vec<usize> {
    if n_rows <= most {
        return (0..n_rows).collect();
    }
    let mut chosen = vec![0; most];
    Stream::new(seed, "check", 0).choose_without_replacement(n_rows as u64, &mut chosen);
    chosen.into_iter().map(|row| row as usize).collect()
}
