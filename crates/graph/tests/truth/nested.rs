//! A million nested operations: no traversal overflows the stack.

use lehr_graph::{Expr, Graph, Plan, RecordedProgram};

const DEEP: usize = 1_000_000;

/// An operation applied to its own result many times.
fn nested<'g>(start: Expr<'g>, deep: usize, step: impl Fn(Expr<'g>) -> Expr<'g>) -> Expr<'g> {
    (0..deep).fold(start, |inner, _| step(inner))
}

#[test]
fn a_logarithm_of_a_million_factors_is_written() {
    let graph = Graph::new();
    let (x, y) = (graph.input("x", ()), graph.input("y", ()));
    let product = nested(x.exp(), DEEP, |inner| inner * y.exp());
    let _ = product.ln();
    let few = nested(x.exp(), 2, |inner| inner * y.exp());
    assert_eq!(graph.listing(&[few.ln()]).matches("exp").count(), 0);
}

#[test]
fn a_logarithm_of_factors_that_share_theirs_is_written_at_once() {
    let graph = Graph::new();
    let x = graph.input("x", ());
    let _ = nested(x.exp(), 1000, |inner| inner * inner.recip().sqrt()).ln();
}

#[test]
fn a_sum_over_a_million_layouts_is_written() {
    let graph = Graph::new();
    let x = graph.input("x", [3, 2]);
    let turned = nested(x, DEEP, |inner| inner.transpose().reshape([3, 2]));
    assert!(turned.sum().shape().is_scalar());
}

#[test]
fn a_sum_over_the_lanes_of_a_million_products_is_written() {
    let graph = Graph::new();
    let (x, y) = (graph.laned_input("x", [2]), graph.input("y", [2]));
    let product = nested(x.exp(), DEEP, |inner| inner * y);
    assert!(!product.sum_lanes().is_laned());
    let m = graph.laned_input("m", [2, 2]);
    let cut = nested(m.dot(m.exp()), DEEP / 2, |inner| inner.tril(1).tril(0));
    assert!(!(cut + m).sum_lanes().is_laned());
}

#[test]
fn a_slice_of_pieces_of_pieces_is_written() {
    let graph = Graph::new();
    let (x, y) = (graph.input("x", [1]), graph.input("y", [2]));
    // Every slice includes a number of the last part, so that none lies within a single part.
    let longer = |inner: Expr<'_>| 0..inner.shape().dims()[0] + 1;
    let joined = nested(x, DEEP / 10, |inner| {
        graph.concat(&[inner, y], 0).slice(0, longer(inner))
    });
    assert_eq!(joined.slice(0, 0..1).shape().dims(), [1]);
}

#[test]
fn a_million_nested_operations_are_saved_and_read_back() {
    let graph = Graph::new();
    let value = nested(graph.input("x", ()), DEEP, Expr::tanh).ln();
    let recording = RecordedProgram::from_outputs(&graph, &[("value", value)]);
    let bytes = postcard::to_stdvec(&recording).unwrap();
    let again: RecordedProgram = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(again.format_output(0, &[]), "ln(…)");
}

#[test]
fn what_is_nested_deep_has_its_value_and_its_slope() {
    let graph = Graph::new();
    let x = graph.input("x", ());
    let value = nested(x, DEEP / 10, |inner| (inner + x).sqrt()).ln();
    let slope = graph.grad(value, &[x])[0];
    let plan = Plan::new(&[value, slope], 1);
    let mut workspace = plan.workspace();
    workspace.set(plan.input(x).unwrap(), &[2.0]);
    plan.run(&mut workspace);
    // The iteration v = √(v + 2) converges to v = 2, where dv/dx = 1/3.
    assert!((workspace.output(0)[0] - f64::ln(2.0)).abs() < 1e-15);
    assert!((workspace.output(1)[0] - 1.0 / 6.0).abs() < 1e-12);
}
