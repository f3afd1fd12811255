//! A workspace can be used only with the plan that made it.

use lehr_graph::{Graph, Plan};

/// A plan with one input and one output of this many numbers.
fn doubled(length: usize) -> Plan {
    let graph = Graph::new();
    Plan::new(&[graph.input("x", [length]) * 2.0], 1)
}

#[test]
#[should_panic(expected = "belongs to another plan")]
fn a_workspace_of_a_smaller_plan_with_as_many_outputs_is_refused() {
    let (small, large) = (doubled(1), doubled(1 << 12));
    large.run(&mut small.workspace());
}

#[test]
#[should_panic(expected = "belongs to another plan")]
fn a_workspace_of_an_equal_plan_is_refused() {
    let (one, other) = (doubled(4), doubled(4));
    one.run(&mut other.workspace());
}
