//! A small seeded source of random numbers, shapes and matrices.

use lehr_graph::Shape;

/// `SplitMix64`: every test names its seed and replays bit for bit.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// A whole number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        low + (high - low) * unit
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.uniform(0.0, 1.0) < probability
    }

    pub(crate) fn numbers(&mut self, count: usize, low: f64, high: f64) -> Vec<f64> {
        (0..count).map(|_| self.uniform(low, high)).collect()
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Axes of length 1 to 5, `low` to `high` of them.
    pub(crate) fn shape(&mut self, low: usize, high: usize) -> Shape {
        let rank = self.between(low, high);
        let dims: Vec<usize> = (0..rank).map(|_| self.between(1, 5)).collect();
        Shape::new(&dims)
    }

    /// A shape that broadcasts to `whole`: leading axes dropped, other axes set to one.
    pub(crate) fn part_of(&mut self, whole: Shape) -> Shape {
        let skipped = self.below(whole.rank() + 1);
        let mut dims = whole.dims()[skipped..].to_vec();
        for dim in &mut dims {
            if self.chance(0.3) {
                *dim = 1;
            }
        }
        Shape::new(&dims)
    }
}
