//! Every operation: first and second derivatives against central differences.

use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::case::all;
use crate::directional::check;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        rng_seed: RngSeed::Fixed(20_220_817),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_operation_has_the_derivatives_of_its_values(
        seed in any::<u64>(),
        lanes in prop::sample::select(vec![1_usize, 3]),
        laned in 0_usize..8,
    ) {
        for (place, case) in all().iter().enumerate() {
            check(case, seed.wrapping_add(place as u64), lanes, laned);
        }
    }
}

#[test]
fn stop_gradient_is_the_value_with_no_slope() {
    let graph = Graph::new();
    let x = graph.input("x", [3]);
    let frozen = x * x.exp().stop_gradient();
    let ones = graph.full([3], 1.0);
    let outputs = [
        frozen,
        graph.grad(frozen, &[x])[0],
        graph.jvp(&[frozen], &[x], &[ones])[0],
        graph.grad(x.stop_gradient(), &[x])[0],
    ];
    let at = [0.5, -1.0, 2.0];
    let found = evaluate(&outputs, &InputValues::new().with(x, &at), 1);
    let factor = at.map(f64::exp);
    assert_eq!(
        found[0],
        [at[0] * factor[0], at[1] * factor[1], at[2] * factor[2]]
    );
    assert_eq!(found[1], factor);
    assert_eq!(found[2], factor);
    assert_eq!(found[3], [0.0; 3]);
}

#[test]
fn a_gradient_in_something_unused_is_zero_of_its_shape() {
    let graph = Graph::new();
    let (x, y) = (graph.input("x", [2]), graph.input("y", [3, 4]));
    let gradient = graph.grad(x.exp(), &[y])[0];
    assert_eq!(gradient.shape(), y.shape());
    assert_eq!(gradient.as_number(), Some(0.0));
}

#[test]
fn ties_of_a_maximum_share_its_slope() {
    let graph = Graph::new();
    let x = graph.input("x", [4]);
    let gradient = graph.grad(x.maximum(), &[x]);
    let found = evaluate(
        &gradient,
        &InputValues::new().with(x, &[2.0, 1.0, 2.0, 0.0]),
        1,
    );
    assert_eq!(found[0], [0.5, 0.0, 0.5, 0.0]);
}

#[test]
fn what_lanes_share_collects_from_all_lanes() {
    let graph = Graph::new();
    let (shared, own) = (graph.input("shared", ()), graph.laned_input("own", ()));
    let gradient = graph.grad(shared.square() * own, &[shared, own]);
    assert!(!gradient[0].is_laned());
    let values = InputValues::new()
        .with(shared, &[3.0])
        .with(own, &[1.0, 10.0, 100.0]);
    let found = evaluate(&gradient, &values, 3);
    assert_eq!(found[0], [6.0 * 111.0]);
    assert_eq!(found[1].iter().sum::<f64>() / found[1].len() as f64, 9.0);
}

#[test]
fn the_third_derivative_is_the_derivative_of_the_second() {
    let graph = Graph::new();
    let x = graph.input("x", ());
    let mut derivative = (x * 2.0).exp() + x.pow(graph.scalar(5.0));
    for _ in 0..3 {
        derivative = graph.grad(derivative, &[x])[0];
    }
    let found = evaluate(&[derivative], &InputValues::new().with(x, &[0.7]), 1)[0][0];
    let expected = 8.0 * 1.4_f64.exp() + 60.0 * 0.49;
    assert!((found - expected).abs() < 1e-12 * expected);
}
