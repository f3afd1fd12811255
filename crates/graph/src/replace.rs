//! Replaces one array by another in a program.

use std::collections::HashMap;

use crate::expr::{Expr, Graph, Node, NodeId};
use crate::primitive::Op;
use crate::primitive::matmul::LaneTreatment;

impl Graph {
    /// `output` with every read of `old` replaced by `new`; `None` if that would change the terms
    /// of a sum over lanes.
    ///
    /// Rules that simplify while a program is written may have looked through `old` to its
    /// operands. To change every path, take the derivative after the replacement.
    ///
    /// # Panics
    /// If the two have different shapes.
    pub fn replace<'g>(
        &'g self,
        output: Expr<'g>,
        old: Expr<'g>,
        new: Expr<'g>,
    ) -> Option<Expr<'g>> {
        self.assert_own(&[output, old, new]);
        assert_eq!(old.shape(), new.shape(), "the shape of what is replaced");
        let mut made: HashMap<NodeId, NodeId> = HashMap::from([(old.id, new.id)]);
        for place in old.id.0 + 1..=output.id.0 {
            let node = self.node(NodeId(place)).clone();
            if !node.inputs.iter().any(|input| made.contains_key(input)) {
                continue;
            }
            let inputs: Vec<NodeId> = (node.inputs.iter())
                .map(|input| *made.get(input).unwrap_or(input))
                .collect();
            let laned = self.is_laned(&node, &inputs)?;
            let copy = self.add(node.op, inputs, node.shape, laned);
            made.insert(NodeId(place), copy.id);
        }
        made.get(&output.id)
            .map(|&id| self.expr(id))
            .or(Some(output))
    }

    /// Whether a node has lanes with these operands; `None` if it must not have them.
    fn is_laned(&self, node: &Node, inputs: &[NodeId]) -> Option<bool> {
        let any = |ids: &[NodeId]| ids.iter().any(|&id| self.node(id).laned);
        let sums = match &node.op {
            Op::SumLanes => true,
            Op::MatMul(product) => product.lanes == LaneTreatment::Summed,
            _ => false,
        };
        match (sums, any(inputs) == any(&node.inputs)) {
            (true, true) => Some(false),
            (true, false) => None,
            (false, _) => Some(any(inputs)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    #[test]
    fn a_function_of_one_array_becomes_that_of_another() {
        let graph = Graph::new();
        let (x, z) = (graph.input("x", [2, 2]), graph.input("z", [2]));
        let shift = graph.laned_input("shift", ());
        let logit = x.dot(z);
        let value = logit.softplus() + 3.0 * logit;
        let moved = (logit + shift).anchor();
        let at_moved = graph.replace(value, logit, moved).unwrap();
        let plan = Plan::new(&[at_moved, value], 2);
        let mut workspace = plan.workspace();
        workspace.set(plan.input(x).unwrap(), &[1.0, 0.0, 0.0, 1.0]);
        workspace.set(plan.input(z).unwrap(), &[0.5, -0.25]);
        workspace.set(plan.input(shift).unwrap(), &[0.0, 1.0]);
        plan.run(&mut workspace);
        let exact = |u: f64| u.exp().ln_1p() + 3.0 * u;
        let expected = [0.5, -0.25, 1.5, 0.75].map(exact);
        for (found, expected) in workspace.output(0).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
        assert_eq!(&workspace.output(0)[..2], workspace.output(1));
    }

    #[test]
    fn what_is_not_read_changes_nothing_and_sums_over_lanes_are_refused() {
        let graph = Graph::new();
        let (a, b) = (graph.input("a", ()), graph.input("b", ()));
        let laned = graph.laned_input("c", ());
        let value = b.exp();
        assert!(graph.replace(value, a, laned).unwrap().is(value));
        let sum = a.exp().sum_lanes();
        assert!(graph.replace(sum, a, laned).is_none());
    }
}
