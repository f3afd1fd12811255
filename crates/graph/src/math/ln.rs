//! The natural logarithm, of a number and of one plus a number.

use super::choose::choose_lanes;
use super::exp::{LN_2_HIGH, LN_2_LOW};
use super::exponent::{exponent_origin, read_exponent};
use super::polynomial::evaluate_polynomial;
use pulp::Simd;

/// Bits of √½ and of one: the mantissa is taken in [√½, √2), so that it is near one on both sides.
const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;
/// The exponent field 2·1023 + 1.
const TWICE_BIAS: u64 = 0x7ff0_0000_0000_0000;
/// 2⁵⁴ lifts every subnormal into the normal range.
const LIFT: f64 = 18_014_398_509_481_984.0;
const LIFT_EXPONENT: f64 = 54.0;

/// (2 artanh(s)/s − 2)/s² as a polynomial in s², for s = f/(2 + f) with √½ ≤ 1 + f ≤ √2; it leaves
/// an error of 2⁻⁵⁷ relative to the logarithm.
const SERIES: [f64; 7] = [
    0.666_666_666_666_667,
    0.399_999_999_998_988_9,
    0.285_714_286_262_538_36,
    0.222_222_110_893_794_96,
    0.181_828_924_325_368_7,
    0.153_316_117_220_550_08,
    0.146_178_071_534_173_25,
];

/// A positive normal number as 2ᵏ(1 + f), with k shifted as `origin` says.
struct Split<S: Simd> {
    /// The exponent field is that of 2ᵏ, unshifted; the fraction bits have no meaning.
    bits: S::u64s,
    k: S::f64s,
    f: S::f64s,
}

#[inline(always)]
fn split_exponent<S: Simd>(simd: S, x: S::f64s, origin: S::f64s) -> Split<S> {
    let bits = simd.transmute_u64s_f64s(x);
    let bits = simd.add_u64s(bits, simd.splat_u64s(ONE - SQRT_HALF));
    let fraction = simd.and_u64s(bits, simd.splat_u64s(FRACTION));
    let mantissa = simd.add_u64s(fraction, simd.splat_u64s(SQRT_HALF));
    Split {
        bits,
        k: read_exponent(simd, bits, origin),
        f: simd.sub_f64s(simd.transmute_f64s_u64s(mantissa), simd.splat_f64s(1.0)),
    }
}

/// k ln 2 + ln(1 + f), summed in the order that rounds least: ln(1 + f) = f − (f²/2 − s(f²/2 +
/// R(s²))).
#[inline(always)]
fn join_exponent<S: Simd>(simd: S, k: S::f64s, f: S::f64s) -> S::f64s {
    let s = simd.div_f64s(f, simd.add_f64s(f, simd.splat_f64s(2.0)));
    let square = simd.mul_f64s(s, s);
    let half_square = simd.mul_f64s(simd.mul_f64s(f, f), simd.splat_f64s(0.5));
    let series = evaluate_polynomial(simd, square, &SERIES);
    let sum = simd.mul_add_e_f64s(square, series, half_square);
    let low = simd.mul_f64s(k, simd.splat_f64s(LN_2_LOW));
    let low = simd.mul_add_e_f64s(s, sum, low);
    let near = simd.sub_f64s(f, simd.sub_f64s(half_square, low));
    simd.mul_add_e_f64s(k, simd.splat_f64s(LN_2_HIGH), near)
}

/// ln x; −∞ at zero and NaN below.
#[inline(always)]
pub fn ln<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let subnormal = simd.less_than_f64s(x, simd.splat_f64s(f64::MIN_POSITIVE));
    let lifted = simd.mul_f64s(x, simd.splat_f64s(LIFT));
    let origin = choose_lanes(
        simd,
        subnormal,
        simd.splat_f64s(exponent_origin(-LIFT_EXPONENT)),
        simd.splat_f64s(exponent_origin(0.0)),
    );
    let Split { k, f, .. } = split_exponent(simd, choose_lanes(simd, subnormal, lifted, x), origin);
    let result = join_exponent(simd, k, f);
    correct_edges(simd, x, simd.splat_f64s(0.0), result)
}

/// ln(1 + x), without cancellation near zero; −∞ at −1 and NaN below.
#[inline(always)]
pub fn log1p<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let one = simd.splat_f64s(1.0);
    let sum = simd.add_f64s(one, x);
    let taken = simd.sub_f64s(sum, one);
    let lost_of_one = simd.sub_f64s(one, simd.sub_f64s(sum, taken));
    let lost = simd.add_f64s(lost_of_one, simd.sub_f64s(x, taken));

    let origin = simd.splat_f64s(exponent_origin(0.0));
    let Split { bits, k, f } = split_exponent(simd, sum, origin);
    // 2·2⁻ᵏ, and not 2⁻ᵏ, which has no exponent field for the largest k.
    let power = simd.and_u64s(bits, simd.splat_u64s(EXPONENT));
    let inverse = simd.transmute_f64s_u64s(simd.sub_u64s(simd.splat_u64s(TWICE_BIAS), power));
    // The rounding error of the sum is added back here; for k = 0 this f is x itself.
    let twice_lost = simd.mul_f64s(lost, inverse);
    let f = simd.mul_add_e_f64s(twice_lost, simd.splat_f64s(0.5), f);
    let result = correct_edges(simd, x, simd.splat_f64s(-1.0), join_exponent(simd, k, f));
    let sign = simd.and_f64s(x, simd.splat_f64s(-0.0));
    simd.or_f64s(result, sign)
}

/// `result` where `pole` < x < ∞, and the limits of the logarithm at the edges of the domain.
#[inline(always)]
fn correct_edges<S: Simd>(simd: S, x: S::f64s, pole: S::f64s, result: S::f64s) -> S::f64s {
    let at_pole = simd.equal_f64s(x, pole);
    let below = simd.splat_f64s(f64::NAN);
    let outside = choose_lanes(simd, at_pole, simd.splat_f64s(f64::NEG_INFINITY), below);
    let result = choose_lanes(simd, simd.greater_than_f64s(x, pole), result, outside);
    let finite = simd.less_than_f64s(x, simd.splat_f64s(f64::INFINITY));
    choose_lanes(simd, finite, result, x)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        self, Pair, both_signs, even_grid, ladder, on_every_set, worst_error,
    };
    use super::{ln, log1p};

    #[test]
    fn ln_is_within_one_ulp() {
        let mut x = ladder(f64::from_bits(1), f64::MAX, 100_000);
        x.extend(even_grid(0.3, 3.0, 100_000));
        x.extend(even_grid(0.999_999, 1.000_001, 20_000));
        x.extend(ladder(f64::from_bits(1), f64::MIN_POSITIVE, 5_000));
        let exact = |x| (testing::ln(Pair(x, 0.0)), 0);
        let (error, at) = worst_error(&x, &on_every_set!(ln, &x), exact);
        assert!(error <= 1.0, "{error} ulp at {at:e}");
    }

    #[test]
    fn log1p_is_within_three_halves_of_an_ulp() {
        let mut x = both_signs(ladder(1e-280, 1.0_f64.next_down(), 50_000));
        x.extend(ladder(1.0, f64::MAX, 50_000));
        x.extend(even_grid(-0.999_999, 4.0, 100_000));
        x.extend(even_grid(-0.3, 0.5, 50_000));
        let exact = |x| (testing::log1p(Pair(x, 0.0)), 0);
        let (error, at) = worst_error(&x, &on_every_set!(log1p, &x), exact);
        assert!(error <= 1.5, "{error} ulp at {at:e}");
    }

    #[test]
    fn ln_is_defined_at_and_beyond_the_edges_of_its_domain() {
        let inf = f64::INFINITY;
        for got in on_every_set!(ln, &[0.0, -0.0, inf, 1.0]) {
            assert_eq!(got, [-inf, -inf, inf, 0.0]);
        }
        for got in on_every_set!(ln, &[-1.0, -inf, f64::NAN, -1e-310]) {
            assert!(got.iter().all(|y| y.is_nan()));
        }
    }

    #[test]
    fn log1p_is_defined_at_and_beyond_the_edges_of_its_domain() {
        let inf = f64::INFINITY;
        for got in on_every_set!(log1p, &[-1.0, inf]) {
            assert_eq!(got, [-inf, inf]);
        }
        for got in on_every_set!(log1p, &[(-1.0_f64).next_up(), -2.0, -inf, f64::NAN]) {
            assert!(got[1..].iter().all(|y| y.is_nan()) && got[0] < -36.0);
        }
        let same = both_signs(ladder(f64::from_bits(1), 1e-17, 1_000));
        for got in on_every_set!(log1p, &same) {
            assert!(
                got.iter()
                    .zip(&same)
                    .all(|(y, x)| y.to_bits() == x.to_bits())
            );
        }
        for got in on_every_set!(log1p, &[0.0, -0.0]) {
            assert_eq!(
                got.iter().map(|y| y.to_bits()).collect::<Vec<_>>(),
                [0, 1 << 63]
            );
        }
    }
}
