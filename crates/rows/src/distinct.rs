//! Equal rows, found by their values.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// How often each distinct row occurs, in the order in which they first occur.
#[derive(Default)]
pub struct RowCounts {
    /// The place of each row by its values.
    places: HashMap<Box<[u64]>, usize, BuildHasherDefault<Mixer>>,
    counts: Vec<u64>,
}

impl RowCounts {
    /// Counts a row, whose values are numbers that are equal if and only if the values are, so many times.
    /// Returns whether it occurs for the first time.
    pub fn add_row(&mut self, values: &[u64], times: u64) -> bool {
        if let Some(place) = self.places.get(values) {
            self.counts[*place] += times;
            return false;
        }
        self.places.insert(values.into(), self.counts.len());
        self.counts.push(times);
        true
    }

    /// The count of each distinct row.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

/// A hash of whole words, several times as fast as the default of a map. Collisions on purpose are
/// no concern here.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut whole = [0; 8];
            whole[..word.len()].copy_from_slice(word);
            self.write_u64(u64::from_ne_bytes(whole));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_in_the_order_in_which_they_first_occur() {
        let mut rows = RowCounts::default();
        let fresh: Vec<bool> = [[1, 2], [1, 3], [1, 2]]
            .iter()
            .map(|row| rows.add_row(row, 2))
            .collect();
        assert_eq!(
            (&fresh[..], rows.counts()),
            (&[true, true, false][..], &[4, 2][..])
        );
    }
}
