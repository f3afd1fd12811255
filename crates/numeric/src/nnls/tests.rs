//! Optimality conditions and known solutions.

use super::*;
use crate::stream::Stream;
use proptest::prelude::*;

fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut values = vec![0.0; count];
    Stream::new(seed, "least squares", 0).fill_normal(&mut values);
    values
}

/// The Karush–Kuhn–Tucker conditions: weights ≥ 0, gradient ≤ 0, and one of the two is zero.
fn check(matrix: &[f64], target: &[f64], found: &NonNegative) {
    let rows = target.len();
    let mut residual = target.to_vec();
    for (column, weight) in matrix.chunks(rows).zip(&found.weights) {
        residual
            .iter_mut()
            .zip(column)
            .for_each(|(r, x)| *r -= weight * x);
    }
    let size = dot(target, target).sqrt();
    for (column, &weight) in matrix.chunks(rows).zip(&found.weights) {
        let cosine = dot(column, &residual) / (size * dot(column, column).sqrt()).max(1e-300);
        assert!(weight >= 0.0);
        assert!(cosine < 1e-9, "slope {cosine} at weight {weight}");
        assert!(
            weight == 0.0 || cosine > -1e-9,
            "slope {cosine} at weight {weight}"
        );
    }
    assert!((found.residual - dot(&residual, &residual).sqrt()).abs() < 1e-9 * size);
}

proptest! {
    #[test]
    fn optimality_conditions_hold(rows in 1_usize..40, columns in 1_usize..40, seed: u64) {
        let matrix = normals(rows * columns, seed);
        let target = normals(rows, seed ^ 1);
        let found = solve_nonnegative(&matrix, &target).unwrap();
        check(&matrix, &target, &found);
    }
}

#[test]
fn weights_that_explain_the_target_are_recovered() {
    let matrix = normals(80 * 30, 1);
    let truth: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
    let mut target = vec![0.0; 80];
    for (column, weight) in matrix.chunks(80).zip(&truth) {
        target
            .iter_mut()
            .zip(column)
            .for_each(|(t, x)| *t += weight * x);
    }
    let found = solve_nonnegative(&matrix, &target).unwrap();
    for (found, truth) in found.weights.iter().zip(&truth) {
        assert!((found - truth).abs() < 1e-10, "{found} for {truth}");
    }
    assert!(found.residual < 1e-9 && found.violation < 1e-10);
}

#[test]
fn a_small_problem_has_its_known_answer() {
    // SciPy's manual: nnls([[1, 0], [1, 0], [0, 1]], …).
    let matrix = [1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let found = solve_nonnegative(&matrix, &[2.0, 1.0, 1.0]).unwrap();
    assert!((found.weights[0] - 1.5).abs() < 1e-14 && (found.weights[1] - 1.0).abs() < 1e-14);
    assert!((found.residual - 0.5_f64.sqrt()).abs() < 1e-14);
    let none = solve_nonnegative(&matrix, &[-1.0, -1.0, -1.0]).unwrap();
    assert_eq!(none.weights, [0.0, 0.0]);
    assert!((none.residual - 3_f64.sqrt()).abs() < 1e-14);
}

#[test]
fn moments_of_many_rows_are_matched_by_weights_on_few() {
    // First and second moments of 5000 rows in 5 dimensions, from 80 of them: 20 equations.
    let features = |x: &[f64]| -> Vec<f64> {
        let pairs = (0..5).flat_map(|i| (0..=i).map(move |j| (i, j)));
        x.iter()
            .copied()
            .chain(pairs.map(|(i, j)| x[i] * x[j]))
            .collect()
    };
    let values = normals(5000 * 5, 3);
    let mut target = vec![0.0; 20];
    for x in values.chunks(5) {
        target
            .iter_mut()
            .zip(features(x))
            .for_each(|(t, f)| *t += f);
    }
    let matrix: Vec<f64> = values.chunks(5).take(80).flat_map(features).collect();
    let found = solve_nonnegative(&matrix, &target).unwrap();
    check(&matrix, &target, &found);
    assert!(found.residual < 1e-8, "{}", found.residual);
    assert!(found.weights.iter().filter(|w| **w > 0.0).count() <= 20);
}

#[test]
fn badly_scaled_and_dependent_columns_are_solved() {
    let mut matrix = normals(30 * 12, 5);
    for (place, column) in matrix.chunks_mut(30).enumerate() {
        let scale = 10_f64.powi(place as i32 - 6);
        for x in column {
            *x *= scale;
        }
    }
    let copy = matrix[..90].to_vec();
    matrix.extend(copy);
    matrix.extend([0.0; 30]);
    let target = normals(30, 6);
    let found = solve_nonnegative(&matrix, &target).unwrap();
    check(&matrix, &target, &found);
    assert_eq!(found.weights[15], 0.0);
}

#[test]
fn bad_input_is_refused_and_an_empty_matrix_leaves_the_target() {
    assert!(matches!(
        solve_nonnegative(&[1.0; 5], &[1.0; 2]),
        Err(LeastSquaresError::Shape { .. })
    ));
    assert!(matches!(
        solve_nonnegative(&[1.0], &[]),
        Err(LeastSquaresError::Shape { .. })
    ));
    let bad = solve_nonnegative(&[1.0, f64::NAN], &[1.0, 1.0]);
    assert_eq!(bad, Err(LeastSquaresError::Value { place: "matrix" }));
    let empty = solve_nonnegative(&[], &[3.0, 4.0]).unwrap();
    assert_eq!((empty.weights.len(), empty.residual), (0, 5.0));
}
