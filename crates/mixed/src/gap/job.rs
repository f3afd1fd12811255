//! The sums over rows at the nodes of their groups.

use super::Tiles;
use crate::likelihood::{Block, Job, LANES};

/// Sums values by group and node.
pub(super) struct Summing<'t> {
    pub(super) tiles: &'t Tiles<'t>,
    pub(super) predictors: &'t [f64],
    pub(super) sums: Vec<f64>,
}

impl Job for Summing<'_> {
    fn rounds(&self) -> usize {
        self.tiles.rule.weights.len() / LANES
    }

    fn predictors(&mut self, block: &Block, into: &mut [f64]) {
        self.tiles.write(block, self.predictors, into);
    }

    fn visit(&mut self, block: &Block, found: &[f64]) {
        let (local, first) = (self.tiles.local, block.round * LANES);
        let count = self.tiles.rule.weights.len();
        for (k, row) in block.range.clone().enumerate() {
            let sums = &mut self.sums[local.codes[row] as usize * count + first..][..LANES];
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum += found[lane * block.stride + k];
            }
        }
    }
}

/// Sums slopes in θ, weighted by group and node.
pub(super) struct Sloping<'t> {
    pub(super) tiles: &'t Tiles<'t>,
    pub(super) predictors: &'t [f64],
    pub(super) excess: Vec<f64>,
    pub(super) found: Vec<f64>,
}

impl Job for Sloping<'_> {
    fn rounds(&self) -> usize {
        self.tiles.rule.weights.len() / LANES
    }

    fn predictors(&mut self, block: &Block, into: &mut [f64]) {
        self.tiles.write(block, self.predictors, into);
    }

    fn weights(&mut self, block: &Block, into: &mut [f64]) -> bool {
        let (local, first) = (self.tiles.local, block.round * LANES);
        let count = self.tiles.rule.weights.len();
        into.fill(0.0);
        for (k, row) in block.range.clone().enumerate() {
            let own = &self.excess[local.codes[row] as usize * count + first..][..LANES];
            for (lane, excess) in own.iter().enumerate() {
                into[lane * block.stride + k] = *excess;
            }
        }
        true
    }

    fn visit(&mut self, _: &Block, found: &[f64]) {
        let pairs = self.found.iter_mut().zip(found);
        pairs.for_each(|(sum, more)| *sum += more);
    }
}
