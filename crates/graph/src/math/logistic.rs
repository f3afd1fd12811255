//! The logistic function and its integral, the softplus.

use super::choose::choose_lanes;
use super::exp::exp_nonpositive;
use super::polynomial::evaluate_polynomial;
use pulp::Simd;

/// (2 artanh(s)/s − 2)/s² as a polynomial in s², for 0 ≤ s ≤ ⅓; it leaves an error of 2⁻⁵⁶ relative
/// to the logarithm.
const SERIES: [f64; 10] = [
    0.666_666_666_666_666_6,
    0.400_000_000_000_145_85,
    0.285_714_285_671_087_6,
    0.222_222_227_174_278_64,
    0.181_817_894_361_328_59,
    0.153_855_700_649_586_23,
    0.133_141_442_096_549_35,
    0.120_010_728_095_907_13,
    0.088_007_384_861_446_74,
    0.161_640_456_119_435_3,
];

/// e^−|x|, which cannot overflow.
#[inline(always)]
fn decay<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    exp_nonpositive(simd, simd.or_f64s(x, simd.splat_f64s(-0.0)))
}

#[inline(always)]
fn sigmoid_of<S: Simd>(simd: S, x: S::f64s, decay: S::f64s) -> S::f64s {
    let one = simd.splat_f64s(1.0);
    let negative = simd.less_than_f64s(x, simd.splat_f64s(0.0));
    let numerator = choose_lanes(simd, negative, decay, one);
    simd.div_f64s(numerator, simd.add_f64s(one, decay))
}

/// max(x, 0) + ln(1 + e), where ln(1 + e) = e − s(e − R(s²)) with s = e/(2 + e) ≤ ⅓ needs no
/// splitting of 1 + e.
#[inline(always)]
fn softplus_of<S: Simd>(simd: S, x: S::f64s, decay: S::f64s) -> S::f64s {
    let s = simd.div_f64s(decay, simd.add_f64s(decay, simd.splat_f64s(2.0)));
    let square = simd.mul_f64s(s, s);
    let series = evaluate_polynomial(simd, square, &SERIES);
    let bracket = simd.negate_mul_add_e_f64s(square, series, decay);
    let log1p = simd.negate_mul_add_e_f64s(s, bracket, decay);
    let zero = simd.splat_f64s(0.0);
    let ramp = choose_lanes(simd, simd.greater_than_f64s(x, zero), x, zero);
    simd.add_f64s(ramp, log1p)
}

/// 1/(1 + e⁻ˣ), to full relative precision in the left tail too.
#[inline(always)]
pub fn sigmoid<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    sigmoid_of(simd, x, decay(simd, x))
}

/// ln(1 + eˣ), to full relative precision in the left tail too.
#[inline(always)]
pub fn softplus<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    softplus_of(simd, x, decay(simd, x))
}

/// [`sigmoid`] and [`softplus`] of one argument, for the price of one exponential.
#[inline(always)]
pub fn sigmoid_softplus<S: Simd>(simd: S, x: S::f64s) -> (S::f64s, S::f64s) {
    let decay = decay(simd, x);
    (sigmoid_of(simd, x, decay), softplus_of(simd, x, decay))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, ONE, Pair, both_signs, even_grid, ladder};
    use super::super::testing::{on_every_set, worst_error};
    use super::{sigmoid, sigmoid_softplus, softplus};
    use pulp::Simd;

    /// Lifts tails that are subnormal into the range where pairs of doubles are exact.
    const SHIFT: i32 = 300;

    fn grid() -> Vec<f64> {
        let mut x = even_grid(-745.1, 745.1, 100_000);
        x.extend(even_grid(-3.0, 3.0, 100_000));
        x.extend(both_signs(ladder(f64::from_bits(1), 700.0, 20_000)));
        x.extend(even_grid(-745.1, -700.0, 10_000));
        x
    }

    fn exact_sigmoid(x: f64) -> (Pair, i32) {
        if x < -30.0 {
            let decay = testing::exp(x, 0);
            return (testing::exp(x, SHIFT).over(ONE.plus(decay)), SHIFT);
        }
        (ONE.over(ONE.plus(testing::exp(-x, 0))), 0)
    }

    fn exact_softplus(x: f64) -> (Pair, i32) {
        if x < -50.0 {
            let half = testing::exp(x, 0).times(Pair(-0.5, 0.0));
            return (testing::exp(x, SHIFT).times(ONE.plus(half)), SHIFT);
        }
        let decay = testing::log1p(testing::exp(-x.abs(), 0));
        (Pair(x.max(0.0), 0.0).plus(decay), 0)
    }

    #[test]
    fn sigmoid_is_within_nine_quarters_of_an_ulp() {
        let mut x = grid();
        x.retain(|x| *x < 700.0);
        let (error, at) = worst_error(&x, &on_every_set!(sigmoid, &x), exact_sigmoid);
        assert!(error <= 2.25, "{error} ulp at {at:e}");
    }

    #[test]
    fn softplus_is_within_two_ulp() {
        let x = grid();
        let (error, at) = worst_error(&x, &on_every_set!(softplus, &x), exact_softplus);
        assert!(error <= 2.0, "{error} ulp at {at:e}");
    }

    #[inline(always)]
    fn first_of_pair<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
        sigmoid_softplus(simd, x).0
    }

    #[inline(always)]
    fn second_of_pair<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
        sigmoid_softplus(simd, x).1
    }

    #[test]
    fn the_pair_is_the_two_functions_bit_for_bit() {
        let x = grid();
        let together = [
            on_every_set!(first_of_pair, &x),
            on_every_set!(second_of_pair, &x),
        ];
        assert_eq!(together[0], on_every_set!(sigmoid, &x));
        assert_eq!(together[1], on_every_set!(softplus, &x));
    }

    #[test]
    fn both_are_defined_at_infinity_and_keep_nan() {
        let inf = f64::INFINITY;
        let x = [-inf, inf, -1e300, 1e300, -746.5, 800.0];
        for got in on_every_set!(sigmoid, &x) {
            assert_eq!(got, [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        }
        for got in on_every_set!(softplus, &x) {
            assert_eq!(got, [0.0, inf, 0.0, 1e300, 0.0, 800.0]);
        }
        for got in on_every_set!(sigmoid, &[0.0, -0.0]) {
            assert_eq!(got, [0.5, 0.5]);
        }
        let nan = f64::from_bits(0x7ff8_0000_0dea_dbef);
        for got in on_every_set!(sigmoid, &[f64::NAN, -f64::NAN, nan]) {
            assert!(got.iter().all(|y| y.is_nan()));
        }
        for got in on_every_set!(softplus, &[f64::NAN, -f64::NAN, nan]) {
            assert!(got.iter().all(|y| y.is_nan()));
        }
    }
}
