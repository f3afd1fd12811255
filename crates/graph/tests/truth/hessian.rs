//! Hessians: symmetric, equal by both methods, and correct through factors and solves.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};

use crate::difference::{assert_near, dot};
use crate::random::Random;

/// The rows of the Hessian of a number in one array, by reverse over reverse.
fn hessian<'g>(of: Expr<'g>, wrt: Expr<'g>) -> Vec<Expr<'g>> {
    let graph = of.graph();
    let size = wrt.shape().size();
    let gradient = graph.grad(of, &[wrt])[0].reshape([size]);
    let row = |i| graph.grad(gradient.entry(i), &[wrt])[0].reshape([size]);
    (0..size).map(row).collect()
}

/// A logistic regression with a grouped offset, a Student-like tail and a correlated prior.
fn log_density<'g>(graph: &'g Graph, z: Expr<'g>, design: Expr<'g>, spread: Expr<'g>) -> Expr<'g> {
    let (slopes, log_scale) = (z.slice(0, 0..3), z.entry(3));
    let margin = design.dot(slopes) * log_scale.exp();
    let likelihood = (margin * 0.7 - margin.softplus()).sum() + log_scale.softplus().lgamma();
    let tail = (slopes.square() / 3.0).log1p().sum() * -2.0;
    let factor = (spread.dot(spread.transpose())
        + slopes.outer(slopes) * 0.2
        + graph.full([3], 1.5).diagonal_matrix())
    .cholesky();
    let white = factor.solve_lower(slopes);
    likelihood + tail - white.dot(white) * 0.5 - factor.log_determinant_of_factor() * 0.5
}

#[test]
fn hessians_are_symmetric() {
    let graph = Graph::new();
    let z = graph.input("z", [4]);
    let (design, spread) = (graph.input("design", [6, 3]), graph.input("spread", [3, 3]));
    let rows = hessian(log_density(&graph, z, design, spread), z);
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let values = InputValues::new()
            .with(z, &random.numbers(4, -1.0, 1.0))
            .with(design, &random.numbers(18, -1.0, 1.0))
            .with(spread, &random.numbers(9, -1.0, 1.0));
        let found = evaluate(&rows, &values, 1);
        for (i, row) in found.iter().enumerate() {
            for (j, other) in found.iter().enumerate().take(i) {
                assert_near("symmetry", row[j], other[i], 1e-13);
                assert!(row[j].abs() > 1e-6, "entry {i} {j} says nothing");
            }
        }
    }
}

#[test]
fn hessian_vector_products_agree_by_forward_and_reverse() {
    let graph = Graph::new();
    let (z, v) = (graph.laned_input("z", [4]), graph.laned_input("v", [4]));
    let (design, spread) = (graph.input("design", [6, 3]), graph.input("spread", [3, 3]));
    let of = log_density(&graph, z, design, spread);
    let gradient = graph.grad(of, &[z])[0];
    let along = graph.jvp(&[of], &[z], &[v])[0];
    let products = [
        graph.grad((gradient * v).sum(), &[z])[0],
        graph.jvp(&[gradient], &[z], &[v])[0],
        graph.grad(along, &[z])[0],
    ];
    let mut random = Random::new(11);
    let values = InputValues::new()
        .with(z, &random.numbers(12, -1.0, 1.0))
        .with(v, &random.numbers(12, -1.0, 1.0))
        .with(design, &random.numbers(18, -1.0, 1.0))
        .with(spread, &random.numbers(9, -1.0, 1.0));
    let found = evaluate(&products, &values, 3);
    for other in &found[1..] {
        for (a, b) in found[0].iter().zip(other) {
            assert_near("hessian-vector product", *a, *b, 1e-12);
        }
    }
}

/// Row-major n×n matrices; the simple algebra that the results of the graph are compared with.
struct Square {
    n: usize,
    values: Vec<f64>,
}

impl Square {
    /// H D H with H a reflection and D from 1 down to 1/condition: its inverse is H D⁻¹ H.
    fn conditioned(n: usize, condition: f64, power: i32) -> Square {
        let normal: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).sqrt()).collect();
        let length = dot(&normal, &normal);
        let delta = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        let mirror = |i: usize, j: usize| delta(i, j) - 2.0 * normal[i] * normal[j] / length;
        let spectrum = |k: usize| condition.powf(-(k as f64) / (n - 1) as f64).powi(power);
        let entry = |i, j| {
            (0..n)
                .map(|k| mirror(i, k) * spectrum(k) * mirror(k, j))
                .sum()
        };
        let values = (0..n * n)
            .map(|place| entry(place / n, place % n))
            .collect();
        Square { n, values }
    }

    fn norm(&self) -> f64 {
        dot(&self.values, &self.values).sqrt()
    }

    fn times(&self, x: &[f64]) -> Vec<f64> {
        self.values
            .chunks_exact(self.n)
            .map(|row| dot(row, x))
            .collect()
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(x, y)| (x - y) * (x - y));
    squares.sum::<f64>().sqrt()
}

#[test]
fn the_gradient_of_a_log_determinant_is_the_inverse() {
    for condition in [1.0, 1e4, 1e8] {
        let graph = Graph::new();
        let a = graph.input("a", [5, 5]);
        let of = a.cholesky().log_determinant_of_factor();
        let gradient = graph.grad(of, &[a]);
        let matrix = Square::conditioned(5, condition, 1);
        let inverse = Square::conditioned(5, condition, -1);
        let found = evaluate(&gradient, &InputValues::new().with(a, &matrix.values), 1);
        let error = distance(&found[0], &inverse.values) / inverse.norm();
        assert!(
            error < 1e-14 * condition,
            "condition {condition:e}: {error:e}"
        );
    }
}

#[test]
fn a_solve_through_the_factor_has_the_derivatives_of_the_inverse() {
    for condition in [1.0, 1e4, 1e8] {
        let graph = Graph::new();
        let (a, b) = (graph.input("a", [5, 5]), graph.input("b", [5]));
        let factor = a.cholesky();
        let half = factor.solve_lower(b);
        let of = half.dot(half) * 0.5;
        let gradient = graph.grad(of, &[a, b]);
        // ½ bᵀA⁻¹b: slope A⁻¹b in b, −½ A⁻¹b bᵀA⁻¹ in A, and A⁻¹ by the second derivative in b.
        let curvature = graph.stack(&hessian(of, b));
        let outputs = [gradient[1], gradient[0], curvature];
        let matrix = Square::conditioned(5, condition, 1);
        let inverse = Square::conditioned(5, condition, -1);
        let side = [1.0, -0.5, 0.25, 2.0, -1.0];
        let values = InputValues::new().with(a, &matrix.values).with(b, &side);
        let found = evaluate(&outputs, &values, 1);
        let x = inverse.times(&side);
        let outer: Vec<f64> = x
            .iter()
            .flat_map(|i| x.iter().map(move |j| -0.5 * i * j))
            .collect();
        for (found, expected) in found.iter().zip([&x, &outer, &inverse.values]) {
            let error = distance(found, expected) / dot(expected, expected).sqrt();
            assert!(
                error < 1e-14 * condition,
                "condition {condition:e}: {error:e}"
            );
        }
    }
}

#[test]
fn the_second_derivative_of_a_log_determinant_is_minus_the_inverse_twice() {
    for condition in [1.0, 1e8] {
        let graph = Graph::new();
        let (a, v) = (graph.input("a", [4, 4]), graph.input("v", [4, 4]));
        let of = a.cholesky().log_determinant_of_factor();
        let gradient = graph.grad(of, &[a])[0];
        let bent = [
            graph.jvp(&[gradient], &[a], &[v])[0],
            graph.grad((gradient * v).sum(), &[a])[0],
        ];
        let matrix = Square::conditioned(4, condition, 1);
        let inverse = Square::conditioned(4, condition, -1);
        // Along A itself, d(A⁻¹) = −A⁻¹ A A⁻¹ = −A⁻¹.
        let values = InputValues::new()
            .with(a, &matrix.values)
            .with(v, &matrix.values);
        let expected: Vec<f64> = inverse.values.iter().map(|x| -x).collect();
        for found in evaluate(&bent, &values, 1) {
            let error = distance(&found, &expected) / inverse.norm();
            assert!(
                error < 1e-13 * condition,
                "condition {condition:e}: {error:e}"
            );
        }
    }
}

#[test]
fn a_matrix_that_is_not_positive_definite_has_no_factor() {
    let graph = Graph::new();
    let a = graph.input("a", [2, 2]);
    let of = a.cholesky().log_determinant_of_factor();
    for matrix in [
        [1.0, 2.0, 2.0, 1.0],
        [0.0, 0.0, 0.0, 1.0],
        [-1.0, 0.0, 0.0, 1.0],
    ] {
        let found = evaluate(&[of], &InputValues::new().with(a, &matrix), 1);
        assert!(found[0][0].is_nan());
    }
}
