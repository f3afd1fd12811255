//! The table of all operations of expressions: operands, their domains, and how to build them.

mod elementwise;
mod linear;
mod structure;

use lehr_graph::{Expr, Shape};

use crate::directional::Operands;
use crate::random::Random;

/// The domain of an operand's values.
#[derive(Clone, Copy)]
pub(crate) enum Domain {
    /// Between −1.5 and 1.5, away from zero and from every number of `Other`.
    Any,
    /// Between −1.5 and 1.5, away from zero and from every number of `Any`.
    Other,
    /// Between 0.6 and 2.5.
    Positive,
    /// No two numbers within 0.05 of each other.
    Distinct,
    /// A symmetric matrix with eigenvalues above 1.
    PositiveDefinite,
    /// A square matrix with a positive diagonal.
    Factor,
}

impl Domain {
    pub(crate) fn draw(self, shape: Shape, random: &mut Random) -> Vec<f64> {
        let size = shape.size();
        match self {
            Domain::Any => lattice(size, 0.0125, random),
            Domain::Other => lattice(size, 0.0375, random),
            Domain::Positive => random.numbers(size, 0.6, 2.5),
            Domain::Distinct => distinct(size, random),
            Domain::PositiveDefinite => positive_definite(shape.dims()[0], random),
            Domain::Factor => factor(shape.dims()[0], random),
        }
    }
}

/// Numbers `offset` above multiples of 0.05, so that no step meets a kink.
fn lattice(size: usize, offset: f64, random: &mut Random) -> Vec<f64> {
    let number = |_| random.below(60) as f64 * 0.05 - 1.5 + offset;
    (0..size).map(number).collect()
}

fn distinct(size: usize, random: &mut Random) -> Vec<f64> {
    let mut values: Vec<f64> = (0..size).map(|i| i as f64 * 0.05 - 1.0).collect();
    for i in (1..size).rev() {
        values.swap(i, random.below(i + 1));
    }
    values
}

fn positive_definite(n: usize, random: &mut Random) -> Vec<f64> {
    let b = random.numbers(n * n, -1.0, 1.0);
    let entry = |i: usize, j: usize| -> f64 {
        let product: f64 = (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum();
        product + if i == j { 1.0 } else { 0.0 }
    };
    (0..n * n)
        .map(|place| entry(place / n, place % n))
        .collect()
}

fn factor(n: usize, random: &mut Random) -> Vec<f64> {
    let mut values = random.numbers(n * n, -1.0, 1.0);
    for i in 0..n {
        values[i * n + i] = random.uniform(1.0, 2.0);
    }
    values
}

/// One row of the table.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) domains: &'static [Domain],
    /// The shapes of the operands.
    pub(crate) shapes: fn(&mut Random) -> Vec<Shape>,
    /// The row numbers for the shapes of the operands.
    pub(crate) indices: fn(&[Shape], &mut Random) -> Vec<u32>,
    pub(crate) build: for<'g> fn(&Operands<'g>) -> Expr<'g>,
}

/// A case whose operation reads no row numbers.
const fn case(
    name: &'static str,
    domains: &'static [Domain],
    shapes: fn(&mut Random) -> Vec<Shape>,
    build: for<'g> fn(&Operands<'g>) -> Expr<'g>,
) -> Case {
    Case {
        name,
        domains,
        shapes,
        indices: |_, _| Vec::new(),
        build,
    }
}

/// The whole table.
pub(crate) fn all() -> Vec<Case> {
    let parts = [
        elementwise::unary(),
        elementwise::binary(),
        structure::layout(),
        structure::reduction(),
        structure::lane_and_index(),
        linear::product(),
        linear::factor(),
    ];
    parts.into_iter().flatten().collect()
}

/// One operand of rank 0 to 3.
fn one(random: &mut Random) -> Vec<Shape> {
    vec![random.shape(0, 3)]
}

/// One operand of rank 1 to 3.
fn axes(random: &mut Random) -> Vec<Shape> {
    vec![random.shape(1, 3)]
}

/// Two operands that broadcast; neither needs to have the shape of the result.
fn pair(random: &mut Random) -> Vec<Shape> {
    let whole = random.shape(0, 3);
    vec![random.part_of(whole), random.part_of(whole)]
}

fn triple(random: &mut Random) -> Vec<Shape> {
    let whole = random.shape(0, 3);
    (0..3).map(|_| random.part_of(whole)).collect()
}

fn vector(random: &mut Random) -> Vec<Shape> {
    vec![random.shape(1, 1)]
}

fn matrix(random: &mut Random) -> Vec<Shape> {
    vec![random.shape(2, 2)]
}

fn square(random: &mut Random) -> Vec<Shape> {
    let n = random.between(1, 4);
    vec![[n, n].into()]
}
