//! A readable listing of a program, and its picture for Graphviz.

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
        self.each_reachable(outputs, |place, node| {
            let lanes = if node.laned { " per lane" } else { "" };
            let label = self.label(node);
            let _ = write!(text, "%{place} {}{lanes} = {label}", node.shape);
            for input in &node.inputs {
                let _ = write!(text, " %{}", input.0);
            }
            text.push('\n');
        });
        text
    }

    /// The nodes that `outputs` need as a Graphviz digraph; laned nodes are drawn double.
    pub fn dot_file(&self, outputs: &[Expr<'_>]) -> String {
        let mut text = String::from("digraph program {\n  node [shape=box];\n");
        self.each_reachable(outputs, |place, node| {
            let label = self.label(node).replace('"', "\\\"");
            let borders = if node.laned { 2 } else { 1 };
            let shape = node.shape;
            let _ = writeln!(
                text,
                "  n{place} [label=\"{label}\\n{shape}\", peripheries={borders}];"
            );
            for input in &node.inputs {
                let _ = writeln!(text, "  n{} -> n{place};", input.0);
            }
        });
        text.push_str("}\n");
        text
    }

    fn each_reachable(&self, outputs: &[Expr<'_>], mut f: impl FnMut(usize, &Node)) {
        let reachable = self.reachable(outputs);
        let nodes = self.nodes();
        for place in (0..reachable.len()).filter(|&p| reachable[p]) {
            f(place, &nodes[place]);
        }
    }

    fn label(&self, node: &Node) -> String {
        match node.op {
            Op::Input(place) | Op::IndexInput(place) => {
                format!("{} {:?}", node.op.name(), self.input_info(place).name)
            }
            _ => node.op.name(),
        }
    }
}
