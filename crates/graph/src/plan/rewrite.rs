//! Rewrites that pay only once lanes and sizes are known.

use std::collections::{HashMap, HashSet};

use super::PlanOptions;
use super::arena::LINE;
use crate::expr::{Node, NodeId};
use crate::primitive::matmul::{LaneTreatment, Read};
use crate::primitive::{Op, Unary};
use crate::shape::Shape;

/// The nodes of a plan and the order in which they can be computed.
pub(super) struct PlanNodes {
    pub(super) nodes: Vec<Node>,
    pub(super) order: Vec<usize>,
}

/// A matrix must have this many rows for a transposed copy to pay.
const TALL: usize = 16;
/// The least number of products that must read the copy.
const OFTEN: usize = 2;

impl PlanNodes {
    pub(super) fn new(nodes: &[Node], reachable: &[bool], options: &PlanOptions) -> PlanNodes {
        let nodes = nodes[..reachable.len()].to_vec();
        let order: Vec<usize> = (0..nodes.len()).filter(|&p| reachable[p]).collect();
        let program = PlanNodes { nodes, order };
        if options.fusion == super::Fusion::Off {
            return program;
        }
        let program = program.with_logistic_pairs();
        if options.lanes < 4 {
            return program;
        }
        program.with_transposed_copies(options)
    }

    /// Places softplus and sigmoid of one array next to each other, so that one kernel computes
    /// both.
    fn with_logistic_pairs(mut self) -> PlanNodes {
        let mut of: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for &place in &self.order {
            let node = &self.nodes[place];
            if matches!(node.op, Op::Unary(Unary::Softplus | Unary::Sigmoid)) {
                of.entry(node.inputs[0]).or_default().push(place);
            }
        }
        let pairs = of.into_values().filter(|places| places.len() == 2);
        let later: HashMap<usize, usize> = pairs.map(|places| (places[0], places[1])).collect();
        let moved: HashSet<usize> = later.values().copied().collect();
        let order = std::mem::take(&mut self.order);
        let with_next = |place: usize| [Some(place), later.get(&place).copied()];
        self.order = order
            .into_iter()
            .filter(|place| !moved.contains(place))
            .flat_map(with_next)
            .flatten()
            .collect();
        self
    }

    /// A matrix that is multiplied by each lane's vector is read along its columns. One transposed
    /// copy serves all products with it, in all lanes. For few products it costs more than it
    /// saves.
    fn with_transposed_copies(mut self, options: &PlanOptions) -> PlanNodes {
        let mut uses: HashMap<usize, usize> = HashMap::new();
        for &place in &self.order {
            if let Some(matrix) = self.meets_lanes(place, options) {
                *uses.entry(matrix).or_default() += 1;
            }
        }
        let mut copies: HashMap<usize, usize> = HashMap::new();
        let mut order = Vec::with_capacity(self.order.len());
        for place in std::mem::take(&mut self.order) {
            let matrix = self.meets_lanes(place, options);
            if let Some(matrix) = matrix.filter(|matrix| uses[matrix] >= OFTEN) {
                let copy = *copies.entry(matrix).or_insert_with(|| {
                    let copy = self.transposed_matrix(matrix);
                    order.push(copy);
                    copy
                });
                let node = &mut self.nodes[place];
                node.inputs[0] = NodeId(copy as u32);
                if let Op::MatMul(op) = &mut node.op {
                    op.a = Read::Transposed;
                }
            }
            order.push(place);
        }
        self.order = order;
        self
    }

    /// The matrix of a product of an unlaned matrix and one column per lane.
    fn meets_lanes(&self, place: usize, options: &PlanOptions) -> Option<usize> {
        let node = &self.nodes[place];
        let Op::MatMul(op) = node.op else {
            return None;
        };
        let (a, b) = (node.inputs[0].index(), node.inputs[1].index());
        let [rows, 1] = *node.shape.dims() else {
            return None;
        };
        let streams = rows > 2 * options.row_block;
        let fits =
            op.a == Read::Plain && op.lanes == LaneTreatment::Kept && rows >= TALL && !streams;
        (fits && !self.nodes[a].laned && self.nodes[b].laned).then_some(a)
    }

    fn transposed_matrix(&mut self, matrix: usize) -> usize {
        let (m, n) = (
            self.nodes[matrix].shape.dims()[0],
            self.nodes[matrix].shape.dims()[1],
        );
        self.nodes.push(Node {
            op: Op::Transpose,
            inputs: vec![NodeId(matrix as u32)],
            shape: Shape::from([n, staggered_length(m)]),
            laned: false,
        });
        self.nodes.len() - 1
    }
}

/// At least `length`, and an odd number of cache lines: rows a power of two apart would share few
/// sets of the first-level cache and evict each other.
fn staggered_length(length: usize) -> usize {
    (length.div_ceil(LINE) | 1) * LINE
}
