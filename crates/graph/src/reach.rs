//! The lengths of the arrays that a column of row numbers reads.

use crate::expr::{Graph, Indices};
use crate::primitive::Op;

impl Graph {
    /// The length of the leading axis of every array that `indices` reads by [`crate::Expr::at`] or
    /// adds to by [`crate::Expr::scatter_add`]: each index must be below all of them.
    pub fn reach(&self, indices: Indices<'_>) -> Vec<usize> {
        let nodes = self.nodes();
        let length = |node: &crate::expr::Node| match node.op {
            Op::Gather => Some(nodes[node.inputs[0].index()].shape.dims()[0]),
            Op::ScatterAdd => Some(node.shape.dims()[0]),
            _ => None,
        };
        let reads = |node: &&crate::expr::Node| node.inputs.get(1) == Some(&indices.expr().id);
        nodes.iter().filter(reads).filter_map(length).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_array_that_is_read_is_named() {
        let graph = Graph::new();
        let (group, other) = (graph.index_input("group", 3), graph.index_input("other", 3));
        let _ = graph.input("a", [5]).at(group) + graph.input("b", [7]).at(group);
        assert_eq!(graph.reach(group), [5, 7]);
        assert!(graph.reach(other).is_empty());
    }
}
