//! Vectors and matrices against their dense formulas.

use std::f64::consts::{PI, TAU};

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};
use lehr_model::distribution::{Dirichlet, Distribution, LkjCholesky, MultivariateNormal};

use crate::draw::{assert_moments, draws};
use crate::{assert_close, numbers};

const FACTOR: [f64; 9] = [1.5, 9.0, 9.0, -0.4, 0.7, 9.0, 2.0, 0.3, 1.1];

/// L Lᵀ of the lower triangle of `FACTOR`.
fn covariance() -> [[f64; 3]; 3] {
    let l = |i: usize, k: usize| if k <= i { FACTOR[3 * i + k] } else { 0.0 };
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| l(i, k) * l(j, k)).sum()))
}

fn determinant(a: [[f64; 3]; 3]) -> f64 {
    let minor = |i: usize, j: usize| a[1][i] * a[2][j] - a[1][j] * a[2][i];
    a[0][0] * minor(1, 2) - a[0][1] * minor(0, 2) + a[0][2] * minor(0, 1)
}

/// x = A⁻¹b by Cramer's rule.
fn solved(a: [[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|column| {
        let mut replaced = a;
        for (row, value) in replaced.iter_mut().zip(b) {
            row[column] = value;
        }
        determinant(replaced) / determinant(a)
    })
}

#[test]
fn a_multivariate_normal_agrees_with_the_dense_formula() {
    let graph = Graph::new();
    let loc = [0.5, -1.0, 2.0];
    let points = [[0.0, 0.0, 0.0], [1.0, -2.0, 30.0]];
    let normal = MultivariateNormal::new(loc, graph.constant([3, 3], &FACTOR));
    let rows = numbers(normal.log_density(graph.constant([2, 3], points.as_flattened())));
    for (point, found) in points.iter().zip(rows) {
        let moved: [f64; 3] = std::array::from_fn(|i| point[i] - loc[i]);
        let along = solved(covariance(), moved);
        let quadratic: f64 = moved.iter().zip(along).map(|(a, b)| a * b).sum();
        let scale = determinant(covariance()).ln() + 3.0 * TAU.ln();
        assert_close(found, -0.5 * (quadratic + scale), 1e-12, "dense formula");
        let alone = numbers(normal.log_density(graph.constant([3], point)));
        assert_eq!(alone, [found]);
    }
}

#[test]
fn draws_of_a_multivariate_normal_have_its_covariance() {
    let graph = Graph::new();
    let normal = MultivariateNormal::new(0.0, graph.constant([3, 3], &FACTOR));
    let values = draws(&graph, &normal, 20_000, 17);
    let covariance = covariance();
    let variance = numbers(normal.variance(&graph).expect("a variance"));
    for i in 0..3 {
        let column: Vec<f64> = values.iter().skip(i).step_by(3).copied().collect();
        assert_close(variance[i], covariance[i][i], 1e-14, "variance");
        assert_moments(&column, (0.0, variance[i]), "column");
    }
    let product: Vec<f64> = values.chunks_exact(3).map(|x| x[0] * x[2]).collect();
    // var(x₀x₂) = c₀₀c₂₂ + c₀₂²
    let spread = covariance[0][0] * covariance[2][2] + covariance[0][2].powi(2);
    assert_moments(&product, (covariance[0][2], spread), "product");
}

/// The factor of a correlation matrix from its strict lower triangle, row by row.
fn factor(dimension: usize, lower: &[f64]) -> Vec<f64> {
    let mut l = vec![0.0; dimension * dimension];
    let mut rest = lower.iter();
    for i in 0..dimension {
        for j in 0..i {
            l[i * dimension + j] = *rest.next().expect("enough numbers");
        }
        let used: f64 = (0..i).map(|j| l[i * dimension + j].powi(2)).sum();
        l[i * dimension + i] = (1.0 - used).sqrt();
    }
    l
}

fn lkj(dimension: usize, concentration: f64, lower: &[f64]) -> f64 {
    let graph = Graph::new();
    let x = graph.constant([dimension, dimension], &factor(dimension, lower));
    numbers(LkjCholesky::new(dimension, concentration).log_density(x))[0]
}

#[test]
fn a_two_by_two_lkj_is_a_beta_distribution_of_the_correlation() {
    // p(r) = (1 − r²)^(η − 1) Γ(η + ½)/(√π Γ(η)); at whole η the ratio of gammas is a product.
    let constants = [(1.0, 0.5), (2.0, 0.75), (3.0, 15.0 / 16.0)];
    for (eta, constant) in constants {
        for r in [-0.99, -0.3, 0.0, 0.7] {
            let expected = (eta - 1.0) * f64::ln(1.0 - r * r) + f64::ln(constant);
            assert_close(lkj(2, eta, &[r]), expected, 1e-13, "2 × 2");
        }
    }
}

#[test]
fn a_three_by_three_lkj_is_a_power_of_the_determinant() {
    // All 3 × 3 correlation matrices have volume π²/2.
    let [a, b, c] = [0.3, -0.5, 0.6];
    let l = factor(3, &[a, b, c]);
    // dR = L₂₂ dL: r₃₂ = l₃₁l₂₁ + l₃₂l₂₂.
    let jacobian = l[4].ln();
    assert_close(
        lkj(3, 1.0, &[a, b, c]),
        jacobian - (PI * PI / 2.0).ln(),
        1e-13,
        "η = 1",
    );
    let determinant = 2.0 * (l[4] * l[8]).ln();
    let [one, three] = [1.0, 3.0].map(|eta| lkj(3, eta, &[a, b, c]));
    let [one_at_0, three_at_0] = [1.0, 3.0].map(|eta| lkj(3, eta, &[0.0; 3]));
    let growth = (three - one) - (three_at_0 - one_at_0);
    assert_close(growth, 2.0 * determinant, 1e-12, "det R to the power η − 1");
}

#[test]
fn a_three_by_three_lkj_integrates_to_one() {
    let graph = Graph::new();
    let steps: usize = 24;
    let node = |k: usize| ((k as f64 + 0.5) / steps as f64 * PI).cos();
    let weight = |x: f64| PI / steps as f64 * (1.0 - x * x).sqrt();
    let (mut mass, lower) = (0.0, graph.input("x", [3, 3]));
    let density = LkjCholesky::new(3, 2.5).log_density(lower);
    for (i, j, k) in (0..steps.pow(3)).map(|n| (n % steps, n / steps % steps, n / steps / steps)) {
        // The second row of the disc is scaled by the first: l₃₂ = y √(1 − l₃₁²).
        let (r, x, y) = (node(i), node(j), node(k));
        let edge = (1.0 - x * x).sqrt();
        let values = InputValues::new().with(lower, &factor(3, &[r, x, y * edge]));
        let log = evaluate(&[density], &values, 1)[0][0];
        mass += log.exp() * weight(r) * weight(x) * weight(y) * edge;
    }
    assert_close(mass, 1.0, 1e-3, "mass");
}

#[test]
fn lkj_draws_are_factors_with_the_variance_of_their_correlations() {
    // Each correlation is 2 Beta(b, b) − 1 with b = η − 1 + K/2, of variance 1/(2b + 1).
    let graph = Graph::new();
    let (dimension, eta) = (4, 1.7);
    let distribution = LkjCholesky::new(dimension, eta);
    let values = draws(&graph, &distribution, 20_000, 23);
    let support = distribution.support().expect("a support");
    assert!(support.contains_values(&values));
    let b = eta - 1.0 + 0.5 * dimension as f64;
    for (i, j) in [(1, 0), (2, 1), (3, 1), (3, 2)] {
        let entry = |l: &[f64]| -> f64 { (0..4).map(|k| l[4 * i + k] * l[4 * j + k]).sum() };
        let correlation: Vec<f64> = values.chunks_exact(16).map(entry).collect();
        assert_moments(&correlation, (0.0, 1.0 / (2.0 * b + 1.0)), "correlation");
    }
}

#[test]
fn a_dirichlet_of_two_is_a_beta() {
    let graph = Graph::new();
    let x = graph.constant([2, 2], &[0.3, 0.7, 1e-9, 1.0 - 1e-9]);
    let found = numbers(Dirichlet::new([2.0, 0.5]).log_density(x));
    // B(2, ½) = 4/3
    let expected = |x: f64| f64::ln(x * 0.75) - 0.5 * (-x).ln_1p();
    assert_close(found[0], expected(0.3), 1e-14, "at 0.3");
    assert_close(found[1], expected(1e-9), 1e-12, "at 1e-9");
}

/// The gradient of a density in its input against central differences.
fn check_slopes<'g>(density: Expr<'g>, input: Expr<'g>, at: &[f64]) {
    let graph = density.graph();
    let slope = graph.grad(density, &[input])[0];
    let value = |at: &[f64], of: Expr<'g>| evaluate(&[of], &InputValues::new().with(input, at), 1);
    let slopes = value(at, slope).remove(0);
    for k in 0..at.len() {
        let moved = |by: f64| {
            let mut moved = at.to_vec();
            moved[k] += by;
            value(&moved, density)[0][0]
        };
        let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert_close(slopes[k], difference, 1e-7, &format!("input {k}"));
    }
}

#[test]
fn slopes_of_vectors_and_matrices_are_those_of_differences() {
    let graph = Graph::new();
    let concentration = graph.input("concentration", [3]);
    let x = graph.constant([3], &[0.2, 0.5, 0.3]);
    let dirichlet = Dirichlet::new(concentration).log_density(x);
    check_slopes(dirichlet, concentration, &[0.4, 2.0, 3.0]);

    let l = graph.input("factor", [3, 3]);
    let normal = MultivariateNormal::new(0.3, l).log_density(graph.constant([2, 3], &[0.1; 6]));
    check_slopes(normal.sum(), l, &FACTOR);

    let eta = graph.input("concentration", ());
    let fixed = graph.constant([3, 3], &factor(3, &[0.3, -0.5, 0.6]));
    let lkj = LkjCholesky::new(3, eta).log_density(fixed);
    check_slopes(lkj, eta, &[1.4]);

    let moving = graph.input("factor", [3, 3]);
    let lkj = LkjCholesky::new(3, 2.0).log_density(moving);
    check_slopes(lkj, moving, &factor(3, &[0.3, -0.5, 0.6]));
}
