//! Values at the limits: infinities, NaN, signed zeros, subnormals, very large numbers.

mod function;
mod pair;

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph, Plan};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const MAX: f64 = f64::MAX;
const MIN_POSITIVE: f64 = f64::MIN_POSITIVE;
/// The smallest number above zero.
const TINY: f64 = 5e-324;
/// A number whose square overflows, and whose inverse square underflows.
const HUGE: f64 = 1e200;

type Function = for<'g> fn(Expr<'g>) -> Expr<'g>;
type Pairing = for<'g> fn(Expr<'g>, Expr<'g>) -> Expr<'g>;

/// Equal to a few units in the last place; zeros with their sign, NaN with NaN.
fn same(found: f64, expected: f64) -> bool {
    if expected == 0.0 || !expected.is_finite() {
        return found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
    }
    let few = 16.0 * f64::EPSILON * expected.abs();
    (found - expected).abs() <= few.max(TINY)
}

/// Values of one output by plain loops and by a plan.
fn both_ways(output: Expr<'_>, inputs: &[(Expr<'_>, &[f64])]) -> [Vec<f64>; 2] {
    let set = |values: InputValues, (input, at): &(Expr<'_>, &[f64])| values.with(*input, at);
    let values = inputs.iter().fold(InputValues::new(), set);
    let plan = Plan::new(&[output], 1);
    let mut workspace = plan.workspace();
    for (input, at) in inputs {
        workspace.set(plan.input(*input).expect("an operand is needed"), at);
    }
    plan.run(&mut workspace);
    let plain = evaluate(&[output], &values, 1).remove(0);
    [plain, workspace.output(0).to_vec()]
}

/// Values of one function at many places.
fn values(function: Function, at: &[f64]) -> [Vec<f64>; 2] {
    let graph = Graph::new();
    let x = graph.input("x", [at.len()]);
    both_ways(function(x), &[(x, at)])
}

fn check(name: &str, function: Function, rows: &[(f64, f64)]) {
    let places: Vec<f64> = rows.iter().map(|(x, _)| *x).chain([NAN]).collect();
    for found in values(function, &places) {
        for (&(x, expected), &found) in rows.iter().zip(&found) {
            assert!(
                same(found, expected),
                "{name}({x:e}): expected {expected:e}, found {found:e}"
            );
        }
        assert!(found[rows.len()].is_nan(), "{name} keeps NaN");
    }
}

fn check_pairs(name: &str, pairing: Pairing, rows: &[(f64, f64, f64)]) {
    let graph = Graph::new();
    let (x, y) = (
        graph.input("x", [rows.len()]),
        graph.input("y", [rows.len()]),
    );
    let (xs, ys): (Vec<f64>, Vec<f64>) = rows.iter().map(|(x, y, _)| (*x, *y)).unzip();
    for found in both_ways(pairing(x, y), &[(x, &xs), (y, &ys)]) {
        for (&(x, y, expected), found) in rows.iter().zip(found) {
            assert!(
                same(found, expected),
                "{name}({x:e}, {y:e}): expected {expected:e}, found {found:e}"
            );
        }
    }
}
