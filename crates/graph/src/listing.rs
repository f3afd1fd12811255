//! A readable listing of a program.

use std::fmt::Write;

use crate::expr::{Expr, Graph, Node};
use crate::primitive::Op;

impl Graph {
    /// The nodes that `outputs` need, one a line, in the order in which they are computed.
    ///
    /// ```
    /// let graph = lehr_graph::Graph::new();
    /// let x = graph.input("x", [3]);
    /// let y = (x * x).sum();
    /// assert_eq!(graph.listing(&[y]), "%0 [3] = input \"x\"\n%1 [3] = square %0\n%2 [] = sum axes 0..1 %1\n");
    /// ```
    pub fn listing(&self, outputs: &[Expr<'_>]) -> String {
        let mut text = String::new();
        let reachable = self.mark_reachable(outputs);
        let nodes = self.nodes();
        for place in (0..reachable.len()).filter(|&p| reachable[p]) {
            let node = &nodes[place];
            let lanes = if node.laned { " per lane" } else { "" };
            let label = self.node_label(node);
            let _ = write!(text, "%{place} {}{lanes} = {label}", node.shape);
            for input in &node.inputs {
                let _ = write!(text, " %{}", input.0);
            }
            text.push('\n');
        }
        text
    }

    fn node_label(&self, node: &Node) -> String {
        match node.op {
            Op::Input(place) | Op::IndexInput(place) => {
                format!("{} {:?}", node.op.name(), self.input_info(place).name)
            }
            _ => node.op.name(),
        }
    }
}
