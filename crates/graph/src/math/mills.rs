//! The logarithm of the normal distribution function and its slope, by one polynomial of both tails.

use super::choose::choose_lanes;
use super::exp::exp_nonpositive;
use super::ln::log1p;
use super::polynomial::evaluate_polynomial;
use pulp::Simd;

/// 1/√(2π).
const FRAC_1_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;
/// Beyond this e^(−x²/2) rounds to zero.
const TAIL_ENDS: f64 = 40.0;
/// Infinity is replaced by this.
const LARGEST: f64 = 1e300;
/// A scaled tail below this does not count beside x²/2, and one minus it rounds to 1.
const LEAST: f64 = 8.881_784_197_001_252e-16;
/// The map of [0, ∞) to (−1, 1] takes this to 0.
const MIDDLE: f64 = 4.0;

/// e^(x²/2) Φ(−x)/t as a polynomial in u, for x ≥ 0 with t = 4/(4 + x) and u = (4 − x)/(4 + x); it
/// leaves a relative error of 2⁻⁵⁴.
const SCALED_TAIL: [f64; 25] = [
    0.188_821_282_603_937_88,
    0.151_974_160_492_973_08,
    0.096_784_350_185_553_73,
    0.046_630_464_489_909_15,
    0.015_099_143_722_729_469,
    0.001_885_047_241_846_578,
    -0.000_869_923_091_761_993_4,
    -0.000_407_704_616_852_477_14,
    3.333_607_735_295_814e-5,
    5.777_375_434_069_356_5e-5,
    -4.770_615_878_536_427e-7,
    -8.786_277_975_709_413e-6,
    1.791_646_910_298_780_2e-7,
    1.480_402_761_480_994_4e-6,
    -1.574_591_834_623_092_2e-7,
    -2.561_962_754_138_193_4e-7,
    6.811_574_237_786_468e-8,
    3.994_349_035_559_805e-8,
    -2.171_661_753_999_473_3e-8,
    -4.461_231_943_245_354e-9,
    5.356_900_960_863_089e-9,
    1.468_406_691_246_797_7e-10,
    -9.326_612_704_670_926e-10,
    2.999_445_507_813_274e-11,
    8.508_280_771_623_737e-11,
];

/// The common parts of both functions.
struct MillsTerms<S: Simd> {
    /// |x|
    size: S::f64s,
    /// e^(x²/2) Φ(−|x|)
    scaled: S::f64s,
    /// e^(−x²/2)
    decay: S::f64s,
}

#[inline(always)]
fn mills_parts<S: Simd>(simd: S, x: S::f64s) -> MillsTerms<S> {
    let cut = |size: S::f64s, most: f64| {
        let most = simd.splat_f64s(most);
        choose_lanes(simd, simd.greater_than_f64s(size, most), most, size)
    };
    let size = cut(simd.abs_f64s(x), LARGEST);
    let middle = simd.splat_f64s(MIDDLE);
    let inverse = simd.div_f64s(simd.splat_f64s(1.0), simd.add_f64s(middle, size));
    let u = simd.mul_f64s(simd.sub_f64s(middle, size), inverse);
    let t = simd.mul_f64s(middle, inverse);
    let near = cut(size, TAIL_ENDS);
    let square = simd.mul_f64s(near, near);
    // The rounding error of x² is added back: the tail is so steep that the error would cost x²
    // last places.
    let rest = simd.mul_add_f64s(near, near, simd.neg_f64s(square));
    let half = simd.splat_f64s(-0.5);
    let decay = exp_nonpositive(simd, simd.mul_f64s(square, half));
    MillsTerms {
        size,
        scaled: simd.mul_f64s(t, evaluate_polynomial(simd, u, &SCALED_TAIL)),
        decay: simd.mul_add_f64s(simd.mul_f64s(rest, half), decay, decay),
    }
}

/// ln Φ(x), to nearly full relative precision in both tails: −x²/2 + ln of the scaled tail on the left,
/// ln(1 − tail) on the right, by one logarithm.
#[inline(always)]
pub fn normal_log_cdfs<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let (zero, one) = (simd.splat_f64s(0.0), simd.splat_f64s(1.0));
    let MillsTerms {
        size,
        scaled,
        decay,
    } = mills_parts(simd, x);
    let negative = simd.less_than_f64s(x, zero);
    let least = simd.splat_f64s(LEAST);
    let seen = choose_lanes(simd, simd.less_than_f64s(scaled, least), least, scaled);
    let above = simd.neg_f64s(simd.mul_f64s(decay, scaled));
    let less_one = choose_lanes(simd, negative, simd.sub_f64s(seen, one), above);
    let square = simd.mul_f64s(simd.mul_f64s(size, simd.splat_f64s(-0.5)), size);
    simd.add_f64s(
        log1p(simd, less_one),
        choose_lanes(simd, negative, square, simd.neg_f64s(zero)),
    )
}

/// φ(x)/Φ(x), the slope of ln Φ.
#[inline(always)]
pub fn inverse_mills_ratios<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    let one = simd.splat_f64s(1.0);
    let MillsTerms { scaled, decay, .. } = mills_parts(simd, x);
    let negative = simd.less_than_f64s(x, simd.splat_f64s(0.0));
    let whole = choose_lanes(simd, negative, one, decay);
    let above = simd.sub_f64s(one, simd.mul_f64s(decay, scaled));
    let part = choose_lanes(simd, negative, scaled, above);
    let density = simd.mul_f64s(whole, simd.splat_f64s(FRAC_1_SQRT_2_PI));
    let ratio = simd.div_f64s(density, part);
    let far = simd.less_than_f64s(x, simd.splat_f64s(-LARGEST));
    choose_lanes(simd, far, simd.neg_f64s(x), ratio)
}

#[cfg(test)]
mod tests {
    use super::super::normal::{inverse_mills, normal_log_cdf};
    use super::super::testing::{both_signs, even_grid, ladder, on_every_set};
    use super::{inverse_mills_ratios, normal_log_cdfs};

    fn grid() -> Vec<f64> {
        let mut x = even_grid(-37.0, 37.0, 40_000);
        x.extend(even_grid(-3.0, 3.0, 40_000));
        x.extend(both_signs(ladder(1e-300, 37.0, 5_000)));
        x.extend(ladder(37.0, 1e150, 5_000).iter().map(|x| -x));
        x
    }

    fn close(found: Vec<Vec<f64>>, x: &[f64], known: fn(f64) -> f64) {
        for found in found {
            for (x, found) in x.iter().zip(found) {
                let known = known(*x);
                let error = ((found - known) / known).abs();
                assert!(error < 2e-15, "{x:e}: {found:e} {known:e}");
            }
        }
    }

    #[test]
    fn logarithms_are_those_of_single_numbers() {
        let x = grid();
        close(on_every_set!(normal_log_cdfs, &x), &x, normal_log_cdf);
    }

    #[test]
    fn slopes_are_those_of_single_numbers() {
        let x = grid();
        close(on_every_set!(inverse_mills_ratios, &x), &x, inverse_mills);
    }

    #[test]
    fn both_are_defined_at_infinity_and_keep_nan() {
        let inf = f64::INFINITY;
        for got in on_every_set!(normal_log_cdfs, &[inf, 1e300, -inf, -1e200, f64::NAN]) {
            assert_eq!(got[..4], [0.0, 0.0, -inf, -inf]);
            assert!(got[4].is_nan());
        }
        for got in on_every_set!(inverse_mills_ratios, &[inf, 50.0, -inf, -1e305, f64::NAN]) {
            assert_eq!(got[..4], [0.0, 0.0, inf, 1e305]);
            assert!(got[4].is_nan());
        }
    }
}
