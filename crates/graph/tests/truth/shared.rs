//! One matrix for many lanes and steps: solves are done side by side, and the gradient is one
//! product.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph, Plan};

use crate::difference::assert_near;
use crate::random::Random;

/// A lower triangular factor with a diagonal away from zero; the entries above it are never read.
fn factor(random: &mut Random, side: usize) -> Vec<f64> {
    let mut values = random.numbers(side * side, -0.3, 0.3);
    for i in 0..side {
        values[i * side + i] += 1.5;
    }
    values
}

/// Compares the outputs of a plan with those of simple loops.
fn compare(outputs: &[Expr<'_>], inputs: &[(Expr<'_>, Vec<f64>)], lanes: usize, what: &str) {
    let mut values = InputValues::new();
    let plan = Plan::new(outputs, lanes);
    let mut workspace = plan.workspace();
    for (input, numbers) in inputs {
        values = values.with(*input, numbers);
        if let Some(slot) = plan.input(*input) {
            workspace.set(slot, numbers);
        }
    }
    plan.run(&mut workspace);
    for (k, expected) in evaluate(outputs, &values, lanes).iter().enumerate() {
        for (found, expected) in workspace.output(k).iter().zip(expected) {
            assert_near(what, *found, *expected, 1e-11);
        }
    }
}

#[test]
fn lanes_are_solved_side_by_side() {
    let mut random = Random::new(5);
    for side in [1, 2, 3, 5, 8, 18, 28, 63, 65] {
        for lanes in [2, 3, 7, 8, 9, 19] {
            let graph = Graph::new();
            let (l, b) = (
                graph.input("l", [side, side]),
                graph.laned_input("b", [side]),
            );
            let outputs = [l.solve_lower(b), l.solve_lower_transposed(b)];
            let right = random.numbers(side * lanes, -2.0, 2.0);
            let inputs = [(l, factor(&mut random, side)), (b, right)];
            compare(
                &outputs,
                &inputs,
                lanes,
                &format!("side {side}, {lanes} lanes"),
            );
        }
    }
}

#[test]
fn rows_meet_any_number_of_lanes() {
    let mut random = Random::new(11);
    // Few rows are multiplied at once; many are streamed in blocks.
    let few = [1, 3, 4, 5, 6, 7, 8, 9, 18, 28, 54, 57, 61].map(|width| (37, width));
    let many = [2, 7, 18, 28, 54, 61].map(|width| (1_100, width));
    for (rows, width) in few.into_iter().chain(many) {
        for lanes in [1, 2, 5, 7, 8, 9] {
            let graph = Graph::new();
            let x = graph.input("x", [rows, width]);
            let z = graph.laned_input("z", [width]);
            let there = x.dot(z);
            let inputs = [
                (x, random.numbers(rows * width, -1.0, 1.0)),
                (z, random.numbers(width * lanes, -1.0, 1.0)),
            ];
            let what = format!("{rows} rows of {width}, {lanes} lanes");
            // An output array is not streamed.
            compare(&[there], &inputs, lanes, &what);
            compare(&[x.transpose().dot(there.tanh())], &inputs, lanes, &what);
        }
    }
}

/// Steps that use one matrix for solves and for products.
fn walk<'g>(l: Expr<'g>, start: Expr<'g>, steps: usize) -> Expr<'g> {
    let step = |x: Expr<'g>, _| {
        let solved = l.solve_lower_transposed(l.solve_lower(x));
        (l.dot(solved) - 0.5 * solved).tanh()
    };
    (0..steps).fold(start, step).square().sum()
}

#[test]
fn the_gradient_in_a_matrix_is_one_product_per_kind() {
    let graph = Graph::new();
    let (l, x) = (graph.input("l", [6, 6]), graph.laned_input("x", [6]));
    let gradient = graph.grad(walk(l, x, 4), &[l])[0];
    let listing = graph.listing(&[gradient]);
    let over_lanes = listing.matches("over lanes").count();
    assert_eq!(
        over_lanes, 2,
        "triangles of solves, and products\n{listing}"
    );
}

#[test]
fn the_gradient_in_a_matrix_is_its_central_difference() {
    let side = 5;
    for lanes in [1, 3, 8, 11] {
        let graph = Graph::new();
        let (l, x) = (
            graph.input("l", [side, side]),
            graph.laned_input("x", [side]),
        );
        let value = walk(l, x, 3).sum_lanes();
        let gradient = graph.grad(value, &[l])[0];
        let mut random = Random::new(lanes as u64);
        let numbers = factor(&mut random, side);
        let start = random.numbers(side * lanes, -1.0, 1.0);
        let inputs = [(l, numbers.clone()), (x, start.clone())];
        compare(&[value, gradient], &inputs, lanes, "a walk");
        let at = |numbers: &[f64]| {
            let values = InputValues::new().with(l, numbers).with(x, &start);
            evaluate(&[value, gradient], &values, lanes)
        };
        let found = &at(&numbers)[1];
        for entry in 0..side * side {
            let h = 1e-5;
            let mut moved = [numbers.clone(), numbers.clone()];
            moved[0][entry] += h;
            moved[1][entry] -= h;
            let [up, down] = moved.map(|numbers| at(&numbers)[0][0]);
            assert_near("slope", found[entry], (up - down) / (2.0 * h), 1e-6);
        }
    }
}
