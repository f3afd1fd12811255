//! Elementwise values at the edges: infinities, NaN, signed zeros, subnormals, extremes.

use std::f64::consts::{LN_2, TAU};
use std::f64::{INFINITY as INF, MAX, MIN_POSITIVE, NAN};

use lehr_graph::reference::{Values, evaluate};
use lehr_graph::{Expr, Graph, Plan};

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
    let set = |values: Values, (input, at): &(Expr<'_>, &[f64])| values.with(*input, at);
    let values = inputs.iter().fold(Values::new(), set);
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

#[test]
fn signs_powers_and_roots_have_their_limits() {
    let both = |x: f64| [(x, x), (-x, -x)];
    let plain = [INF, 0.0, TINY, MAX, 1.5].map(both).concat();
    check("stop_gradient", |x| x.stop_gradient(), &plain);
    let turned: Vec<(f64, f64)> = plain.iter().map(|(x, y)| (*x, -y)).collect();
    check("neg", |x| -x, &turned);
    let positive: Vec<(f64, f64)> = plain.iter().map(|(x, y)| (*x, y.abs())).collect();
    check("abs", |x| x.abs(), &positive);
    check(
        "sign",
        |x| x.sign(),
        &[
            (INF, 1.0),
            (-INF, -1.0),
            (TINY, 1.0),
            (-TINY, -1.0),
            (0.0, 0.0),
            (-0.0, -0.0),
        ],
    );
    check(
        "square",
        |x| x.square(),
        &[
            (INF, INF),
            (-INF, INF),
            (-0.0, 0.0),
            (HUGE, INF),
            (1.0 / HUGE, 0.0),
            (-3.0, 9.0),
        ],
    );
    check(
        "sqrt",
        |x| x.sqrt(),
        &[
            (INF, INF),
            (-INF, NAN),
            (0.0, 0.0),
            (-0.0, -0.0),
            (-TINY, NAN),
            (TINY, 2.222_758_749_485_077_5e-162),
        ],
    );
    check(
        "recip",
        |x| x.recip(),
        &[
            (INF, 0.0),
            (-INF, -0.0),
            (0.0, INF),
            (-0.0, -INF),
            (TINY, INF),
            (MAX, 5.562_684_646_268_003e-309),
        ],
    );
}

#[test]
fn exponentials_and_logarithms_have_their_limits() {
    check(
        "exp",
        |x| x.exp(),
        &[
            (INF, INF),
            (-INF, 0.0),
            (0.0, 1.0),
            (-0.0, 1.0),
            (TINY, 1.0),
            (709.8, INF),
            (-745.0, TINY),
            (-746.0, 0.0),
            (MAX, INF),
            (-MAX, 0.0),
        ],
    );
    check(
        "expm1",
        |x| x.expm1(),
        &[
            (INF, INF),
            (-INF, -1.0),
            (0.0, 0.0),
            (-0.0, -0.0),
            (TINY, TINY),
            (-1e-300, -1e-300),
            (-40.0, -1.0),
            (709.8, INF),
        ],
    );
    check(
        "ln",
        |x| x.ln(),
        &[
            (INF, INF),
            (0.0, -INF),
            (-0.0, -INF),
            (-TINY, NAN),
            (-INF, NAN),
            (1.0, 0.0),
            (TINY, -744.440_071_921_381_2),
            (MIN_POSITIVE, -708.396_418_532_264_1),
            (MAX, 709.782_712_893_384),
        ],
    );
    check(
        "log1p",
        |x| x.log1p(),
        &[
            (INF, INF),
            (-1.0, -INF),
            (-1.5, NAN),
            (-INF, NAN),
            (0.0, 0.0),
            (-0.0, -0.0),
            (TINY, TINY),
            (-TINY, -TINY),
            (MAX, 709.782_712_893_384),
        ],
    );
}

#[test]
fn logistic_functions_have_their_limits() {
    check(
        "sigmoid",
        |x| x.sigmoid(),
        &[
            (INF, 1.0),
            (-INF, 0.0),
            (0.0, 0.5),
            (-0.0, 0.5),
            (TINY, 0.5),
            (800.0, 1.0),
            (-740.0, 4.2e-322),
            (-800.0, 0.0),
            (-40.0, 4.248_354_255_291_589e-18),
        ],
    );
    check(
        "softplus",
        |x| x.softplus(),
        &[
            (INF, INF),
            (-INF, 0.0),
            (0.0, LN_2),
            (-0.0, LN_2),
            (TINY, LN_2),
            (800.0, 800.0),
            (MAX, MAX),
            (-MAX, 0.0),
            (-740.0, 4.2e-322),
            (-40.0, 4.248_354_255_291_589e-18),
        ],
    );
    check(
        "tanh",
        |x| x.tanh(),
        &[
            (INF, 1.0),
            (-INF, -1.0),
            (0.0, 0.0),
            (-0.0, -0.0),
            (TINY, TINY),
            (-1e-300, -1e-300),
            (1e3, 1.0),
            (-MAX, -1.0),
        ],
    );
    check(
        "elu",
        |x| x.elu(),
        &[
            (INF, INF),
            (-INF, -1.0),
            (0.0, 0.0),
            (-0.0, -0.0),
            (TINY, TINY),
            (-TINY, -TINY),
            (MAX, MAX),
            (-MAX, -1.0),
        ],
    );
}

#[test]
fn gamma_functions_have_their_limits() {
    check(
        "lgamma",
        |x| x.lgamma(),
        &[
            (INF, INF),
            (-INF, INF),
            (0.0, INF),
            (-0.0, INF),
            (-1.0, INF),
            (-7.0, INF),
            (1.0, 0.0),
            (2.0, 0.0),
            (TINY, 744.440_071_921_381_2),
            (1e300, 6.897_755_278_982_137e302),
            (MAX, INF),
            (-0.5, 1.265_512_123_484_645_4),
        ],
    );
    check(
        "digamma",
        |x| x.digamma(),
        &[
            (INF, INF),
            (0.0, -INF),
            (-1.0, NAN),
            (TINY, -INF),
            (1e-300, -1e300),
            (1e300, 690.775_527_898_213_7),
            (1.0, -0.577_215_664_901_532_9),
            (-1.5, 0.703_156_640_645_243_2),
        ],
    );
    check(
        "trigamma",
        |x| x.trigamma(),
        &[
            (INF, 0.0),
            (0.0, INF),
            (-0.0, INF),
            (-1.0, INF),
            (TINY, INF),
            (1e-150, 1e300),
            (1e300, 1e-300),
            (1.0, 1.644_934_066_848_226_4),
            (-0.5, 8.934_802_200_544_679),
        ],
    );
}

#[test]
fn normal_functions_have_their_limits() {
    let slope = 2.0 / std::f64::consts::PI.sqrt();
    check(
        "erf",
        |x| x.erf(),
        &[
            (INF, 1.0),
            (-INF, -1.0),
            (0.0, 0.0),
            (-0.0, -0.0),
            (TINY, TINY),
            (1e-300, slope * 1e-300),
            (MAX, 1.0),
            (-6.0, -1.0),
        ],
    );
    check(
        "erfc",
        |x| x.erfc(),
        &[
            (INF, 0.0),
            (-INF, 2.0),
            (0.0, 1.0),
            (TINY, 1.0),
            (27.0, 5.237_05e-319),
            (30.0, 0.0),
            (-MAX, 2.0),
        ],
    );
    check(
        "inverse_mills",
        |x| x.inverse_mills(),
        &[
            (INF, 0.0),
            (-INF, INF),
            (0.0, 2.0 / TAU.sqrt()),
            (TINY, 2.0 / TAU.sqrt()),
            (-1e10, 1e10),
            (-MAX, MAX),
            (MAX, 0.0),
        ],
    );
    check(
        "normal_log_cdf",
        |x| x.normal_log_cdf(),
        &[
            (-INF, -INF),
            (0.0, -LN_2),
            (-0.0, -LN_2),
            (TINY, -LN_2),
            (-40.0, -804.608_442_013_753_8),
            (-1e10, -5e19),
            (-HUGE, -INF),
        ],
    );
    let zeros = values(|x| x.normal_log_cdf(), &[INF, MAX, 45.0]);
    assert_eq!(zeros, [[0.0; 3], [0.0; 3]]);
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

#[test]
fn arithmetic_follows_ieee() {
    check_pairs(
        "add",
        |x, y| x + y,
        &[
            (INF, -INF, NAN),
            (INF, MAX, INF),
            (MAX, MAX, INF),
            (TINY, TINY, 2.0 * TINY),
            (NAN, 1.0, NAN),
        ],
    );
    check_pairs(
        "sub",
        |x, y| x - y,
        &[
            (INF, INF, NAN),
            (-INF, INF, -INF),
            (1.0, NAN, NAN),
            (MIN_POSITIVE, MIN_POSITIVE - TINY, TINY),
        ],
    );
    check_pairs(
        "mul",
        |x, y| x * y,
        &[
            (0.0, INF, NAN),
            (-0.0, 2.0, -0.0),
            (HUGE, HUGE, INF),
            (TINY, 0.25, 0.0),
            (NAN, 0.0, NAN),
        ],
    );
    check_pairs(
        "div",
        |x, y| x / y,
        &[
            (0.0, 0.0, NAN),
            (1.0, 0.0, INF),
            (1.0, -0.0, -INF),
            (INF, INF, NAN),
            (3.0, INF, 0.0),
            (TINY, 2.0, 0.0),
        ],
    );
    check_pairs(
        "pow",
        |x, y| x.pow(y),
        &[
            (0.0, 0.0, 1.0),
            (INF, 0.0, 1.0),
            (0.0, -1.0, INF),
            (INF, -1.0, 0.0),
            (-8.0, 1.0 / 3.0, NAN),
            (-2.0, 3.0, -8.0),
            (0.5, INF, 0.0),
            (2.0, -INF, 0.0),
            (NAN, 2.0, NAN),
            (2.0, NAN, NAN),
        ],
    );
}

#[test]
fn the_smaller_and_the_larger_of_a_nan_are_nan() {
    check_pairs(
        "min",
        |x, y| x.min(y),
        &[
            (1.0, 2.0, 1.0),
            (INF, -INF, -INF),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (-TINY, TINY, -TINY),
        ],
    );
    check_pairs(
        "max",
        |x, y| x.max(y),
        &[
            (1.0, 2.0, 2.0),
            (INF, -INF, INF),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (-TINY, TINY, TINY),
        ],
    );
    check(
        "clip",
        |x| x.clip(-1.0, 2.0),
        &[(INF, 2.0), (-INF, -1.0), (TINY, TINY), (1.5, 1.5)],
    );
}

#[test]
fn nothing_compares_with_nan_and_zeros_are_equal() {
    check_pairs(
        "less",
        |x, y| x.less(y),
        &[
            (1.0, 2.0, 1.0),
            (2.0, 2.0, 0.0),
            (-0.0, 0.0, 0.0),
            (-INF, INF, 1.0),
            (NAN, 1.0, 0.0),
            (1.0, NAN, 0.0),
        ],
    );
    check_pairs(
        "less_equal",
        |x, y| x.less_equal(y),
        &[
            (2.0, 2.0, 1.0),
            (0.0, -0.0, 1.0),
            (INF, INF, 1.0),
            (3.0, 2.0, 0.0),
            (NAN, NAN, 0.0),
        ],
    );
    check_pairs(
        "equal",
        |x, y| x.equal(y),
        &[
            (2.0, 2.0, 1.0),
            (0.0, -0.0, 1.0),
            (INF, INF, 1.0),
            (-INF, INF, 0.0),
            (NAN, NAN, 0.0),
        ],
    );
}

#[test]
fn the_arm_not_chosen_does_not_leak() {
    check_pairs(
        "select",
        |x, y| x.select(y, y + 1.0),
        &[
            (1.0, 5.0, 5.0),
            (0.0, 5.0, 6.0),
            (-0.0, 5.0, 6.0),
            (NAN, 5.0, 5.0),
            (1.0, -INF, -INF),
        ],
    );
    let graph = Graph::new();
    let x = graph.input("x", [3]);
    let guarded = graph.scalar(0.0).less(x).select(x.ln(), x);
    let gradient = graph.grad(guarded, &[x]);
    let found = evaluate(&gradient, &Values::new().with(x, &[2.0, 0.0, -1.0]), 1);
    assert_eq!(found[0][0], 0.5);
    assert_eq!(found[0][2], 1.0);
}

#[test]
fn reductions_keep_infinities_and_nan() {
    let rows: &[(&[f64], f64, f64, f64)] = &[
        (&[1.0, INF], INF, INF, INF),
        (&[-INF, -INF], -INF, -INF, -INF),
        (&[-INF, 3.0], -INF, 3.0, 3.0),
        (&[INF, -INF], NAN, INF, INF),
        (&[NAN, 1.0], NAN, NAN, NAN),
        (&[1.0, NAN], NAN, NAN, NAN),
        (&[1000.0, 1000.0], 2000.0, 1000.0, 1000.0 + LN_2),
        (&[-1000.0, -1000.0], -2000.0, -1000.0, -1000.0 + LN_2),
        (&[MAX, MAX], INF, MAX, MAX),
    ];
    let graph = Graph::new();
    let x = graph.input("x", [2]);
    let outputs = [x.sum(), x.maximum(), x.log_sum_exp(0), x.cumulative_sum()];
    for (at, sum, peak, log_sum_exp) in rows {
        let expected = [*sum, *peak, *log_sum_exp, *sum];
        for (output, expected) in outputs.iter().zip(expected) {
            for found in both_ways(*output, &[(x, at)]) {
                let last = found[found.len() - 1];
                assert!(
                    same(last, expected),
                    "{output:?} of {at:?}: {last:e}, not {expected:e}"
                );
            }
        }
    }
}
