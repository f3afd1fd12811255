//! Rows for matrix products, factorisations and solves.

use lehr_graph::Shape;

use super::Domain::{Any, Factor, Other, PositiveDefinite};
use super::{Case, case, matrix, square, vector};
use crate::random::Random;

/// Matrices m×k and k×n; the first and the second are transposed if `turned` says so.
fn matrices<const LEFT: bool, const RIGHT: bool>(random: &mut Random) -> Vec<Shape> {
    let [m, k, n] = [(); 3].map(|()| random.between(1, 5));
    let left = if LEFT { [k, m] } else { [m, k] };
    let right = if RIGHT { [n, k] } else { [k, n] };
    vec![left.into(), right.into()]
}

fn vector_and_matrix(random: &mut Random) -> Vec<Shape> {
    let [k, n] = [(); 2].map(|()| random.between(1, 5));
    vec![[k].into(), [k, n].into()]
}

fn vectors(random: &mut Random) -> Vec<Shape> {
    vec![random.shape(1, 1); 2]
}

fn two_vectors(random: &mut Random) -> Vec<Shape> {
    vec![random.shape(1, 1), random.shape(1, 1)]
}

pub(super) fn product() -> Vec<Case> {
    const BOTH: &[super::Domain] = &[Any, Other];
    vec![
        case("dot", BOTH, matrices::<false, false>, |o| {
            o.x[0].dot(o.x[1])
        }),
        case("dot AᵀB", BOTH, matrices::<true, false>, |o| {
            o.x[0].transpose().dot(o.x[1])
        }),
        case("dot ABᵀ", BOTH, matrices::<false, true>, |o| {
            o.x[0].dot(o.x[1].transpose())
        }),
        case("dot AᵀBᵀ", BOTH, matrices::<true, true>, |o| {
            o.x[0].transpose().dot(o.x[1].transpose())
        }),
        case("dot (AB)ᵀ", BOTH, matrices::<false, false>, |o| {
            o.x[0].dot(-o.x[1]).transpose()
        }),
        case("dot of a matrix with itself", &[Any], matrix, |o| {
            o.x[0].dot(o.x[0].transpose())
        }),
        case("dot of a row", BOTH, vector_and_matrix, |o| {
            o.x[0].dot(o.x[1])
        }),
        case("dot of a column", BOTH, vector_and_matrix, |o| {
            o.x[1].transpose().dot(o.x[0])
        }),
        case("dot of vectors", BOTH, vectors, |o| o.x[0].dot(o.x[1])),
        case(
            "dot summed over lanes",
            BOTH,
            matrices::<false, false>,
            |o| o.x[0].dot(o.x[1]).sum_lanes().tanh(),
        ),
        case("outer", BOTH, two_vectors, |o| o.x[0].outer(o.x[1])),
    ]
}

/// A square matrix and a vector of its side.
fn system(random: &mut Random) -> Vec<Shape> {
    let n = random.between(1, 4);
    vec![[n, n].into(), [n].into()]
}

/// A square matrix and a matrix with as many rows.
fn tall(random: &mut Random) -> Vec<Shape> {
    let n = random.between(1, 4);
    vec![[n, n].into(), [n, random.between(1, 4)].into()]
}

/// A square matrix and a matrix with as many columns.
fn wide(random: &mut Random) -> Vec<Shape> {
    let n = random.between(1, 4);
    vec![[n, n].into(), [random.between(1, 4), n].into()]
}

pub(super) fn factor() -> Vec<Case> {
    const BOTH: &[super::Domain] = &[Factor, Any];
    vec![
        case("cholesky", &[PositiveDefinite], square, |o| {
            o.x[0].cholesky()
        }),
        case("solve_lower of a vector", BOTH, system, |o| {
            o.x[0].solve_lower(o.x[1])
        }),
        case("solve_lower", BOTH, tall, |o| o.x[0].solve_lower(o.x[1])),
        case("solve_lower_transposed of a vector", BOTH, system, |o| {
            o.x[0].solve_lower_transposed(o.x[1])
        }),
        case("solve_lower_transposed", BOTH, tall, |o| {
            o.x[0].solve_lower_transposed(o.x[1])
        }),
        case("solve_lower_right", BOTH, wide, |o| {
            o.x[0].solve_lower_right(o.x[1])
        }),
        case("solve_lower_transposed_right", BOTH, wide, |o| {
            o.x[0].solve_lower_transposed_right(o.x[1])
        }),
        case("solve of a factor", &[PositiveDefinite, Any], system, |o| {
            let factor = o.x[0].cholesky();
            let half = factor.solve_lower(o.x[1]);
            half.dot(half) + factor.log_determinant_of_factor()
        }),
        case("log_determinant_of_factor", &[Factor], square, |o| {
            o.x[0].log_determinant_of_factor()
        }),
        case("tril", &[Any], matrix, |o| {
            o.x[0].tril(o.pick as i32 % 3 - 1)
        }),
        case("diagonal", &[Any], square, |o| o.x[0].diagonal()),
        case("diagonal_matrix", &[Any], vector, |o| {
            o.x[0].exp().diagonal_matrix()
        }),
    ]
}
