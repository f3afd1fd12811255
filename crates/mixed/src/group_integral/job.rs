//! The sums over rows at the nodes of their groups.

use lehr_numeric::dense::small;

use super::GroupNodes;
use crate::row_averages::{LANES, PredictorJob, RowBatch};

/// Sums values by group and node, or slopes in θ that are weighted by group and node.
pub(super) struct NodeSums<'t> {
    pub(super) nodes: &'t GroupNodes<'t>,
    /// The weights of slopes.
    pub(super) excess: Option<&'t [f64]>,
    pub(super) sums: Vec<f64>,
}

impl PredictorJob for NodeSums<'_> {
    fn rounds(&self) -> usize {
        self.nodes.rule.weights.len() / LANES
    }

    fn write_predictors(&mut self, batch: &RowBatch, into: &mut [f64]) {
        self.nodes.write(batch, into);
    }

    fn is_weighted(&self) -> bool {
        self.excess.is_some()
    }

    fn write_weights(&mut self, batch: &RowBatch, into: &mut [f64]) {
        let count = self.nodes.rule.weights.len();
        let excess = self.excess.unwrap_or_default();
        into.fill(0.0);
        for (k, row) in batch.range.clone().enumerate() {
            let first = self.nodes.group_rows.codes[row] as usize * count + batch.round * LANES;
            for (lane, excess) in excess[first..][..LANES].iter().enumerate() {
                into[lane * batch.stride + k] = *excess;
            }
        }
    }

    fn add(&mut self, batch: &RowBatch, found: &[f64]) {
        if self.is_weighted() {
            return small::add(&mut self.sums, 1.0, found);
        }
        let count = self.nodes.rule.weights.len();
        batch.add_by_group(&self.nodes.group_rows.codes, (&mut self.sums, count), found);
    }
}
