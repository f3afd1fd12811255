//! Properties that every distribution must have.

mod catalogue;
mod check;
mod draw;
mod extreme;
mod gradient;
mod limit;
mod limit_table;
mod mass;
mod matrix;
mod shape;
mod table;
mod value;

use lehr_graph::Expr;
use lehr_graph::reference::{InputValues, evaluate};

/// The numbers of one expression without inputs.
fn numbers(expr: Expr<'_>) -> Vec<f64> {
    evaluate(&[expr], &InputValues::new(), 1).remove(0)
}

/// Fails unless the two agree to `tolerance`, relative above one and absolute below.
#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(
        error <= tolerance * expected.abs().max(1.0),
        "{what}: expected {expected}, found {found}, off by {error:e}"
    );
}
