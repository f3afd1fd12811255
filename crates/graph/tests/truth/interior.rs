//! Derivatives with respect to computed arrays: an anchor keeps the rewrite rules from removing
//! these arrays.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};

/// The gradient of `Σ of(y(x))` and its derivative in the computed array `y` at x = (0.5, 2).
fn derivatives(
    y: for<'g> fn(Expr<'g>) -> Expr<'g>,
    of: for<'g> fn(Expr<'g>) -> Expr<'g>,
) -> [Vec<f64>; 2] {
    let graph = Graph::new();
    let x = graph.input("x", [2]);
    let y = y(x).anchor();
    let value = of(y);
    let ones = graph.full(y.shape(), 1.0);
    let outputs = [
        graph.grad(value, &[y])[0],
        graph.jvp(&[value.sum()], &[y], &[ones])[0],
    ];
    let found = evaluate(&outputs, &InputValues::new().with(x, &[0.5, 2.0]), 1);
    found.try_into().expect("two outputs were asked for")
}

#[test]
fn a_sum_is_an_array_like_any_other() {
    let found = derivatives(|x| x + 1.0, |y| y * y);
    assert_eq!(found, [vec![3.0, 6.0], vec![9.0]]);
}

#[test]
fn a_negation_is_not_looked_through() {
    let found = derivatives(|x| -x, |y| y * y);
    assert_eq!(found, [vec![-1.0, -4.0], vec![-5.0]]);
}

#[test]
fn a_multiple_is_not_looked_through() {
    let found = derivatives(|x| x * 3.0, |y| y * 2.0);
    assert_eq!(found, [vec![2.0, 2.0], vec![4.0]]);
}

#[test]
fn a_product_with_a_number_is_not_looked_through() {
    let found = derivatives(|x| x.sum() * x, |y| y * y.graph().iota(2));
    assert_eq!(found, [vec![0.0, 1.0], vec![1.0]]);
}

#[test]
fn a_broadcast_is_not_looked_through() {
    let found = derivatives(|x| x.broadcast([3, 2]), |y| y * y);
    assert_eq!(found, [vec![1.0, 4.0, 1.0, 4.0, 1.0, 4.0], vec![15.0]]);
}

#[test]
fn a_concatenation_is_not_looked_through() {
    let found = derivatives(
        |x| x.graph().concat(&[x.exp(), x], 0),
        |y| y.slice(0, 2..4).square(),
    );
    assert_eq!(found, [vec![0.0, 0.0, 1.0, 4.0], vec![5.0]]);
}

#[test]
fn a_reshape_is_not_looked_through() {
    let found = derivatives(|x| x.reshape([1, 2]), |y| y.reshape([2, 1]) * 5.0);
    assert_eq!(found, [vec![5.0, 5.0], vec![10.0]]);
}

#[test]
#[should_panic(expected = "needs an anchor")]
fn a_gradient_in_a_computed_array_without_an_anchor_is_refused() {
    let graph = Graph::new();
    let y = graph.input("x", [2]) * 3.0;
    let _ = graph.grad((y * 2.0).sum(), &[y]);
}
