//! Simplification during recording: one node for equal expressions, none for operations without
//! effect.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};

/// The number of lines in the listing of `outputs` that contain this operation.
fn count(outputs: &[Expr<'_>], operation: &str) -> usize {
    let listing = outputs[0].graph().listing(outputs);
    let names = |line: &&str| {
        line.split(" = ")
            .nth(1)
            .is_some_and(|l| l.starts_with(operation))
    };
    listing.lines().filter(names).count()
}

fn lines(outputs: &[Expr<'_>]) -> usize {
    outputs[0].graph().listing(outputs).lines().count()
}

#[test]
fn equal_subexpressions_are_one_node() {
    let graph = Graph::new();
    let (x, y) = (graph.input("x", [3]), graph.input("y", [3]));
    let before = (x * y).exp().sum();
    let nodes = graph.len();
    assert!((y * x).exp().sum().is(before));
    assert!((x + y).is(y + x));
    assert!(x.equal(y).is(y.equal(x)));
    assert!(!(x - y).is(y - x));
    assert_eq!(graph.len(), nodes + 4, "only the new ones were built");
}

#[test]
fn equal_constants_are_one_node() {
    let graph = Graph::new();
    assert!(graph.scalar(2.5).is(graph.scalar(2.5)));
    assert!(graph.scalar(f64::NAN).is(graph.scalar(-f64::NAN)));
    assert!(
        graph
            .constant([3], &[1.0, 2.0, 3.0])
            .is(graph.constant([3], &[1.0, 2.0, 3.0]))
    );
    assert!(
        !graph
            .constant([3], &[1.0, 2.0, 3.0])
            .is(graph.constant([3, 1], &[1.0, 2.0, 3.0]))
    );
    assert!(
        graph
            .constant([2, 2], &[7.0; 4])
            .is(graph.full([2, 2], 7.0))
    );
    assert!(graph.iota(3).is(graph.constant([3], &[0.0, 1.0, 2.0])));
}

#[test]
fn inputs_are_never_one_node() {
    let graph = Graph::new();
    assert!(!graph.input("x", [2]).is(graph.input("x", [2])));
}

#[test]
fn logarithms_undo_exponentials() {
    let graph = Graph::new();
    let (x, y) = (graph.input("x", [3]), graph.input("y", [3]));
    let number = graph.input("number", ());
    assert!(x.exp().ln().is(x));
    assert!(x.exp().sqrt().recip().ln().is(-(x * 0.5)));
    assert!((x.exp() * y.exp()).ln().is(x + y));
    let scale = number / x.exp().sqrt();
    assert!(scale.ln().is(number.ln() - x * 0.5));
    // Either form takes the logarithm of three numbers, so nothing is gained.
    assert!(!(y / x.exp()).ln().is(y.ln() - x));
}

#[test]
fn zeros_and_ones_vanish() {
    let graph = Graph::new();
    let x = graph.input("x", [3]);
    for same in [
        x * 1.0,
        1.0 * x,
        x + 0.0,
        0.0 + x,
        x - 0.0,
        x / 1.0,
        -(-x),
        x.recip().recip(),
    ] {
        assert!(same.is(x), "{same:?}");
    }
    assert!(x.pow(graph.scalar(1.0)).is(x));
    for zero in [
        x * 0.0,
        0.0 * x,
        x - x,
        0.0 / x,
        graph.full([3], 0.0).dot(x) * x,
    ] {
        assert_eq!(zero.as_number(), Some(0.0), "{zero:?}");
        assert_eq!(zero.shape(), x.shape());
    }
    assert!((x * -1.0).is(-x));
    assert!((0.0 - x).is(-x));
    assert!((x / -1.0).is(-x));
}

#[test]
fn signs_move_outward_and_meet() {
    let graph = Graph::new();
    let (x, y) = (graph.input("x", [3]), graph.input("y", [3]));
    assert!((x + -y).is(x - y));
    assert!((x - -y).is(x + y));
    assert!((-(x - y)).is(y - x));
    assert!((-x * -y).is(x * y));
    assert!((-x * y).is(-(x * y)));
    assert!((-x).square().is(x.square()));
    assert!((-x).abs().is(x.abs()));
    assert!((x + x).is(x * 2.0));
    assert!((x * x).is(x.square()));
    assert!((2.0 * (x * 3.0)).is(x * 6.0));
}

#[test]
fn constants_fold() {
    let graph = Graph::new();
    let two = graph.scalar(2.0);
    assert_eq!((two * 3.0 + 1.0).as_number(), Some(7.0));
    assert_eq!(
        (graph.full([2, 3], 2.0) * two).sum().as_number(),
        Some(24.0)
    );
    assert_eq!(
        two.exp().ln().sqrt().as_number(),
        Some(2.0_f64.exp().ln().sqrt())
    );
    assert_eq!(two.less(graph.scalar(3.0)).as_number(), Some(1.0));
    let x = graph.input("x", [2]);
    assert!(graph.scalar(1.0).select(x, x.exp()).is(x));
    assert!(graph.scalar(0.0).select(x.exp(), x).is(x));
    assert!(x.less(graph.scalar(0.0)).select(x, x).is(x));
}

#[test]
fn powers_by_small_numbers_are_products() {
    let graph = Graph::new();
    let x = graph.input("x", [2]);
    let pow = |p: f64| x.pow(graph.scalar(p));
    assert!(pow(2.0).is(x.square()));
    assert!(pow(3.0).is(x.square() * x));
    assert!(pow(0.5).is(x.sqrt()));
    assert!(pow(-1.0).is(x.recip()));
    assert_eq!(pow(0.0).as_number(), Some(1.0));
}

#[test]
fn transposes_cancel_or_join_the_product() {
    let graph = Graph::new();
    let (a, b) = (graph.input("a", [2, 3]), graph.input("b", [2, 4]));
    assert!(a.transpose().transpose().is(a));
    let product = a.transpose().dot(b);
    assert_eq!(count(&[product], "transpose"), 0);
    assert!(product.transpose().is(b.transpose().dot(a)));
    let everything = graph.grad(product.exp().sum(), &[a, b]);
    assert_eq!(count(&everything, "transpose"), 0);
}

#[test]
fn layout_that_changes_nothing_is_no_node() {
    let graph = Graph::new();
    let x = graph.input("x", [2, 3]);
    assert!(x.reshape([6]).reshape([3, 2]).reshape([2, 3]).is(x));
    assert!(x.broadcast([2, 3]).is(x));
    assert!(x.slice(1, 0..3).is(x));
    assert!(x.slice(1, 1..3).slice(1, 1..2).is(x.slice(1, 2..3)));
    let y = graph.input("y", [4, 3]);
    let both = graph.concat(&[x, y], 0);
    assert!(both.slice(0, 0..2).is(x));
    assert!(both.slice(0, 3..5).is(y.slice(0, 1..3)));
    assert!(graph.concat(&[both, x], 0).is(graph.concat(&[x, y, x], 0)));
    assert!(graph.stack(&[x, x.exp()]).entry(1).is(x.exp()));
}

#[test]
fn work_happens_before_a_broadcast() {
    let graph = Graph::new();
    let (x, y) = (graph.input("x", [3]), graph.input("y", [100, 3]));
    let spread = x.broadcast([100, 3]).exp();
    assert!(spread.is(x.exp().broadcast([100, 3])));
    assert_eq!(count(&[spread * y], "broadcast"), 0);
    assert!(x.sum().broadcast([5]).sum().is(x.sum() * 5.0));
}

#[test]
fn a_factor_that_is_one_number_leaves_the_sum() {
    let graph = Graph::new();
    let (x, scale) = (graph.input("x", [9]), graph.input("scale", ()));
    assert!((x * scale).sum().is(x.sum() * scale));
    assert!((-x).sum().is(-(x.sum())));
    assert!((x * 4.0).sum().is(x.sum() * 4.0));
}

#[test]
fn sums_over_lanes_join_the_product() {
    let graph = Graph::new();
    let (x, w) = (
        graph.laned_input("x", [2, 3]),
        graph.laned_input("w", [3, 2]),
    );
    assert_eq!(count(&[x.dot(w).sum_lanes()], "sum lanes"), 0);
    let scale = graph.input("scale", ());
    assert!((x * scale).sum_lanes().is(x.sum_lanes() * scale));
}

#[test]
fn dead_nodes_are_not_listed() {
    let graph = Graph::new();
    let (x, unused) = (graph.input("x", [3]), graph.input("unused", [3]));
    let kept = x.exp();
    let _dropped = (unused * x).tanh().sum();
    assert_eq!(
        graph.listing(&[kept]),
        "%0 [3] = input \"x\"\n%2 [3] = exp %0\n"
    );
    assert_eq!(
        lines(&[graph.grad(kept, &[x])[0]]),
        2,
        "the slope of exp is exp"
    );
}

#[test]
fn a_gradient_builds_only_what_lies_between() {
    let graph = Graph::new();
    let (x, y) = (graph.input("x", [3]), graph.input("y", [3]));
    let of = (x * y.exp().tanh()).sum();
    let nodes = graph.len();
    let gradient = graph.grad(of, &[x])[0];
    assert!(gradient.is(y.exp().tanh()));
    assert!(
        graph.len() - nodes <= 3,
        "nothing of the side of y was differentiated"
    );
}

#[test]
fn slices_of_one_array_have_one_concat_as_adjoint() {
    let graph = Graph::new();
    let x = graph.input("x", [8, 2]);
    let parts = (0..8).map(|k| x.entry(k).square().sum() * (k as f64 + 1.0));
    let of = parts.reduce(|a, b| a + b).expect("there are parts");
    let gradient = graph.grad(of, &[x]);
    assert_eq!(count(&gradient, "concat"), 1);
    assert_eq!(count(&gradient, "pad"), 0);
    assert_eq!(count(&gradient, "add"), 0);
    let at: Vec<f64> = (0..16).map(f64::from).collect();
    let found = evaluate(&gradient, &InputValues::new().with(x, &at), 1);
    let expected: Vec<f64> = (0..16).map(|i| f64::from(2 * i * (i / 2 + 1))).collect();
    assert_eq!(found[0], expected);
}

#[test]
fn slices_with_gaps_are_joined_with_zeros() {
    let graph = Graph::new();
    let x = graph.input("x", [7]);
    let of = x.slice(0, 4..6).exp().sum() + x.slice(0, 1..2).square().sum();
    let gradient = graph.grad(of, &[x]);
    assert_eq!(count(&gradient, "pad"), 0);
    let found = evaluate(&gradient, &InputValues::new().with(x, &[1.0; 7]), 1);
    let e = 1.0_f64.exp();
    assert_eq!(found[0], [0.0, 2.0, 0.0, 0.0, e, e, 0.0]);
}

#[test]
fn the_listing_shows_every_node() {
    let graph = Graph::new();
    let x = graph.laned_input("x", [3]);
    let y = x.exp().sum();
    assert_eq!(
        graph.listing(&[y]),
        "%0 [3] per lane = input \"x\"\n%1 [3] per lane = exp %0\n%2 [] per lane = sum axes 0..1 %1\n"
    );
}
