//! Functions of one number.
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method of one lifetime is not a function of all"
)]

use std::f64::consts::{LN_2, TAU};

use super::{HUGE, INF, MAX, MIN_POSITIVE, NAN, TINY, check, values};

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
