//! The exponential function, and the exponential less one.

use super::choose::choose_lanes;
use super::exponent::{power_of_two, power_origin, rounded_product};
use super::polynomial::evaluate_polynomial;
use pulp::Simd;
use std::f64::consts::LOG2_E;

/// ln 2 cut after 21 bits, so that its product with any exponent is exact, and the rest.
pub(super) const LN_2_HIGH: f64 = 0.693_146_705_627_441_4;
pub(super) const LN_2_LOW: f64 = 4.749_325_039_031_672_6e-7;

/// Above this every exponential overflows, and below the next every one rounds to zero.
const INFINITE_ABOVE: f64 = 709.8;
const ZERO_BELOW: f64 = -746.0;
/// Below this eˣ − 1 rounds to −1.
const MINUS_ONE_BELOW: f64 = -45.0;
/// Below this magnitude eˣ − 1 rounds to x; taking x itself keeps a signed zero and subnormals.
const IDENTITY_BELOW: f64 = 5.0e-17;
/// A factor 2⁶⁴ moved from the power of two to the mantissa (or back) keeps the power of two normal
/// where the result is subnormal or the power would overflow; their product rounds once.
const SHIFT: f64 = 64.0;
const SHIFT_UP: f64 = 18_446_744_073_709_551_616.0;
const SHIFT_DOWN: f64 = 1.0 / SHIFT_UP;

/// (eʳ − 1 − r)/r² for |r| ≤ ½ ln 2, interpolated at the non-zero Chebyshev nodes of degree 11; it
/// leaves an error of 2⁻⁵⁵ relative to eʳ − 1.
const TAIL: [f64; 10] = [
    0.500_000_000_000_000_6,
    0.166_666_666_666_666_7,
    0.041_666_666_666_573_066,
    0.008_333_333_333_326_136,
    0.001_388_888_893_251_478,
    0.000_198_412_698_748_206_27,
    2.480_150_431_378_554e-5,
    2.755_725_540_020_642_2e-6,
    2.762_637_106_569_635_4e-7,
    2.510_521_700_472_074_5e-8,
];

/// eˣ = 2ⁿ(1 + `excess`).
pub(super) struct Power<S: Simd> {
    pub(super) n: S::f64s,
    pub(super) excess: S::f64s,
}

/// Splits x = n ln 2 + r (Cody and Waite) and expands around r.
#[inline(always)]
pub(super) fn power<S: Simd>(simd: S, x: S::f64s) -> Power<S> {
    let n = rounded_product(simd, x, LOG2_E);
    let high = simd.negate_mul_add_e_f64s(n, simd.splat_f64s(LN_2_HIGH), x);
    let r = simd.negate_mul_add_e_f64s(n, simd.splat_f64s(LN_2_LOW), high);
    let tail = evaluate_polynomial(simd, r, &TAIL);
    let excess = simd.mul_add_e_f64s(simd.mul_f64s(r, r), tail, r);
    Power { n, excess }
}

/// eˣ.
#[inline(always)]
pub fn exp<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let negative = simd.less_than_f64s(x, simd.splat_f64s(0.0));
    let origin = choose_lanes(
        simd,
        negative,
        simd.splat_f64s(power_origin(SHIFT)),
        simd.splat_f64s(power_origin(-SHIFT)),
    );
    let factor = choose_lanes(
        simd,
        negative,
        simd.splat_f64s(SHIFT_DOWN),
        simd.splat_f64s(SHIFT_UP),
    );
    let Power { n, excess } = power(simd, at_most(simd, at_least(simd, x, ZERO_BELOW)));
    let mantissa = simd.mul_add_e_f64s(factor, excess, factor);
    simd.mul_f64s(mantissa, power_of_two(simd, n, origin))
}

/// eˣ for x ≤ 0 or NaN; for other x the result is unspecified.
#[inline(always)]
pub(super) fn exp_nonpositive<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let Power { n, excess } = power(simd, at_least(simd, x, ZERO_BELOW));
    let factor = simd.splat_f64s(SHIFT_DOWN);
    let mantissa = simd.mul_add_e_f64s(factor, excess, factor);
    simd.mul_f64s(
        mantissa,
        power_of_two(simd, n, simd.splat_f64s(power_origin(SHIFT))),
    )
}

/// eˣ − 1, without cancellation near zero.
#[inline(always)]
pub fn expm1<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let clamped = at_most(simd, at_least(simd, x, MINUS_ONE_BELOW));
    let Power { n, excess } = power(simd, clamped);
    // Everything is halved, since 2ⁿ itself overflows before the result does.
    let scale = power_of_two(simd, n, simd.splat_f64s(power_origin(-1.0)));
    let rest = simd.sub_f64s(scale, simd.splat_f64s(0.5));
    let half = simd.mul_add_e_f64s(scale, excess, rest);
    let result = simd.add_f64s(half, half);

    let tiny = simd.less_than_f64s(simd.abs_f64s(x), simd.splat_f64s(IDENTITY_BELOW));
    choose_lanes(simd, tiny, x, result)
}

/// `x`, or `bound` if that is larger. A NaN stays, which the machine's maximum does not guarantee.
#[inline(always)]
fn at_least<S: Simd>(simd: S, x: S::f64s, bound: f64) -> S::f64s {
    let bound = simd.splat_f64s(bound);
    choose_lanes(simd, simd.less_than_f64s(x, bound), bound, x)
}

/// `x`, capped at a number whose exponential overflows. A NaN stays.
#[inline(always)]
fn at_most<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let bound = simd.splat_f64s(INFINITE_ABOVE);
    choose_lanes(simd, simd.greater_than_f64s(x, bound), bound, x)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{self, both_signs, even_grid, ladder, on_every_set, worst_error};
    use super::{exp, expm1};

    /// The largest number whose exponential is finite.
    const LARGEST: f64 = 709.782_712_893_384;

    fn grid() -> Vec<f64> {
        let mut x = even_grid(-745.0, LARGEST, 100_000);
        x.extend(even_grid(-1.5, 1.5, 50_000));
        x.extend(even_grid(-745.2, -707.5, 20_000));
        x.extend(even_grid(709.0, LARGEST, 5_000));
        x.extend(both_signs(ladder(f64::from_bits(1), 700.0, 20_000)));
        x.retain(|x| *x <= LARGEST);
        x
    }

    #[test]
    fn exp_is_within_five_quarters_of_an_ulp() {
        let x = grid();
        let (error, at) = worst_error(&x, &on_every_set!(exp, &x), |x| {
            let shift = if x < 0.0 { 300 } else { -300 };
            (testing::exp(x, shift), shift)
        });
        assert!(error <= 1.25, "{error} ulp at {at:e}");
    }

    #[test]
    fn expm1_is_within_nine_quarters_of_an_ulp() {
        let mut x = grid();
        x.retain(|x| *x < 709.0 && x.abs() > 1e-280);
        let exact = |x| (testing::expm1(x), 0);
        let (error, at) = worst_error(&x, &on_every_set!(expm1, &x), exact);
        assert!(error <= 2.25, "{error} ulp at {at:e}");
    }

    #[test]
    fn expm1_of_a_tiny_number_is_that_number() {
        let x = both_signs(ladder(f64::from_bits(1), 1e-17, 1_000));
        for got in on_every_set!(expm1, &x) {
            assert_eq!(got, x);
        }
    }

    #[test]
    fn exp_keeps_the_edges_of_its_range() {
        let inf = f64::INFINITY;
        let x = [
            0.0,
            -0.0,
            inf,
            -inf,
            710.0,
            1e300,
            -745.2,
            -1e9,
            -1e300,
            LARGEST.next_up(),
        ];
        for got in on_every_set!(exp, &x) {
            assert_eq!(got, [1.0, 1.0, inf, 0.0, inf, inf, 0.0, 0.0, 0.0, inf]);
        }
        let nan = [f64::NAN, -f64::NAN, f64::from_bits(0x7ff8_0000_0dea_dbef)];
        for got in on_every_set!(exp, &nan) {
            assert!(got.iter().all(|y| y.is_nan()));
        }
        for got in on_every_set!(exp, &[LARGEST, -745.13]) {
            assert_eq!(got[0], 1.797_693_134_862_273_2e308);
            assert_eq!(got[1], f64::from_bits(1));
        }
    }

    #[test]
    fn expm1_keeps_signed_zero_and_the_edges_of_its_range() {
        let inf = f64::INFINITY;
        let x = [inf, -inf, 710.0, 1e300, -50.0, -1e300, 709.75];
        for got in on_every_set!(expm1, &x) {
            assert_eq!(got, [inf, -1.0, inf, inf, -1.0, -1.0, 709.75_f64.exp()]);
        }
        for got in on_every_set!(expm1, &[0.0, -0.0, f64::NAN]) {
            assert!(got[0].to_bits() == 0 && got[1].to_bits() == (-0.0_f64).to_bits());
            assert!(got[2].is_nan());
        }
    }
}
