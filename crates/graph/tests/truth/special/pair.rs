//! Functions of two numbers, and reductions.

use std::f64::consts::LN_2;

use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};

use super::{HUGE, INF, MAX, MIN_POSITIVE, NAN, TINY, both_ways, check, check_pairs, same};

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
    let found = evaluate(&gradient, &InputValues::new().with(x, &[2.0, 0.0, -1.0]), 1);
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
