//! The sums over rows at the nodes of their groups.

use super::GroupNodes;
use crate::row_averages::{LANES, PredictorJob, RowBatch};

/// Sums values by group and node.
pub(super) struct NodeSums<'t> {
    pub(super) group_nodes: &'t GroupNodes<'t>,
    pub(super) predictors: &'t [f64],
    pub(super) sums: Vec<f64>,
}

impl PredictorJob for NodeSums<'_> {
    fn rounds(&self) -> usize {
        self.group_nodes.rule.weights.len() / LANES
    }

    fn predictors(&mut self, block: &RowBatch, into: &mut [f64]) {
        self.group_nodes.write(block, self.predictors, into);
    }

    fn visit(&mut self, block: &RowBatch, found: &[f64]) {
        let (group_rows, first) = (self.group_nodes.group_rows, block.round * LANES);
        let count = self.group_nodes.rule.weights.len();
        for (k, row) in block.range.clone().enumerate() {
            let sums = &mut self.sums[group_rows.codes[row] as usize * count + first..][..LANES];
            for (lane, sum) in sums.iter_mut().enumerate() {
                *sum += found[lane * block.stride + k];
            }
        }
    }
}

/// Sums slopes in θ, weighted by group and node.
pub(super) struct NodeGradient<'t> {
    pub(super) group_nodes: &'t GroupNodes<'t>,
    pub(super) predictors: &'t [f64],
    pub(super) excess: Vec<f64>,
    pub(super) found: Vec<f64>,
}

impl PredictorJob for NodeGradient<'_> {
    fn rounds(&self) -> usize {
        self.group_nodes.rule.weights.len() / LANES
    }

    fn predictors(&mut self, block: &RowBatch, into: &mut [f64]) {
        self.group_nodes.write(block, self.predictors, into);
    }

    fn weights(&mut self, block: &RowBatch, into: &mut [f64]) -> bool {
        let (group_rows, first) = (self.group_nodes.group_rows, block.round * LANES);
        let count = self.group_nodes.rule.weights.len();
        into.fill(0.0);
        for (k, row) in block.range.clone().enumerate() {
            let own = &self.excess[group_rows.codes[row] as usize * count + first..][..LANES];
            for (lane, excess) in own.iter().enumerate() {
                into[lane * block.stride + k] = *excess;
            }
        }
        true
    }

    fn visit(&mut self, _: &RowBatch, found: &[f64]) {
        let pairs = self.found.iter_mut().zip(found);
        pairs.for_each(|(sum, more)| *sum += more);
    }
}
