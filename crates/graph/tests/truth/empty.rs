//! Arrays without numbers: every operation accepts them, and an empty sum is zero.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph, Plan};

/// The values of all outputs by simple loops, which a plan must agree with.
fn values(outputs: &[Expr<'_>], input: Expr<'_>, at: &[f64]) -> Vec<Vec<f64>> {
    let plain = evaluate(outputs, &InputValues::new().with(input, at), 1);
    let plan = Plan::new(outputs, 1);
    let mut workspace = plan.workspace();
    if let Some(slot) = plan.input(input) {
        workspace.set(slot, at);
    }
    plan.run(&mut workspace);
    for (k, expected) in plain.iter().enumerate() {
        assert_eq!(workspace.output(k), &expected[..], "{:?}", outputs[k]);
    }
    plain
}

#[test]
fn sums_of_nothing_are_zero() {
    let graph = Graph::new();
    let x = graph.input("x", [0, 3]);
    let found = values(&[x.sum(), x.exp().sum_axis(0), x.sum_axis(1)], x, &[]);
    assert_eq!(found, [vec![0.0], vec![0.0; 3], vec![]]);
}

#[test]
fn layout_of_nothing_is_nothing() {
    let graph = Graph::new();
    let x = graph.input("x", [3, 0]);
    let outputs = [
        x.slice(0, 1..3),
        x.transpose().tanh(),
        x.cumulative_sum(),
        graph.concat(&[x, x.exp()], 0),
        x.reshape([0, 5]) * 2.0,
    ];
    for found in values(&outputs, x, &[]) {
        assert!(found.is_empty());
    }
}

#[test]
fn products_over_nothing_are_zero() {
    let graph = Graph::new();
    let x = graph.input("x", [2, 0]);
    let found = values(&[x.dot(x.exp().transpose())], x, &[]);
    assert_eq!(found, [[0.0; 4]]);
}

#[test]
fn an_empty_slice_has_a_gradient_of_zeros() {
    let graph = Graph::new();
    let x = graph.input("x", [4]);
    let of = x.slice(0, 2..2).exp().sum() + x.sum();
    let found = values(&graph.grad(of, &[x]), x, &[1.0; 4]);
    assert_eq!(found, [[1.0; 4]]);
}
