//! The scaled logarithm ln I₀(x) − |x| of the modified Bessel function and its slopes, for the von
//! Mises distribution.
//!
//! With A = I₁/I₀, the slope of ln I₀, Riccati's equation A′ = 1 − A/x − A² holds. Below [`LARGE`]
//! power series without a negative term are summed; above, the series in 1/x whose coefficients
//! follow from the equation.

use std::f64::consts::TAU;

/// From here on the series in 1/x have converged to double precision.
const LARGE: f64 = 30.0;
/// Terms of the series in 1/x.
const TERMS: usize = 30;
/// The largest number of terms of the power series. For x ≤ 30 the last is below 1e-20 of the sum.
const MOST: u32 = 200;

/// aₖ of A(x) = Σ aₖ x⁻ᵏ: 2aₘ = (m − 2)aₘ₋₁ − Σ aᵢaₘ₋ᵢ over 0 < i < m.
const RATIO: [f64; TERMS] = {
    let mut a = [0.0; TERMS];
    a[0] = 1.0;
    let mut m = 1;
    while m < TERMS {
        let mut sum = (m as f64 - 2.0) * a[m - 1];
        let mut i = 1;
        while i < m {
            sum -= a[i] * a[m - i];
            i += 1;
        }
        a[m] = 0.5 * sum;
        m += 1;
    }
    a
};

/// ln I₀(x) − |x|, without the part that grows with x and would hide all others.
pub fn log_bessel_i0e(x: f64) -> f64 {
    let x = x.abs();
    if x < LARGE {
        // Σ tᵏ/(k!)² from k = 1, t = x²/4.
        return series(0.25 * x * x, |k| (k * k).recip()).ln_1p() - x;
    }
    // √(2πx) e⁻ˣ I₀(x) = 1 + Σ Π (2j − 1)²/(8jx)
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..TERMS {
        let k = k as f64;
        term *= (2.0 * k - 1.0).powi(2) / (8.0 * k * x);
        sum += term;
    }
    f64::ln_1p(sum) - 0.5 * (TAU * x).ln()
}

/// A(x) = I₁(x)/I₀(x), the slope of ln I₀(x).
pub fn bessel_ratio(x: f64) -> f64 {
    if x.abs() < LARGE {
        let t = 0.25 * x * x;
        let first = 1.0 + series(t, |k| (k * (k + 1.0)).recip());
        let zeroth = 1.0 + series(t, |k| (k * k).recip());
        return 0.5 * x * (first / zeroth);
    }
    let r = x.abs().recip();
    RATIO
        .iter()
        .rev()
        .fold(0.0, |sum, a| sum * r + a)
        .copysign(x)
}

/// A′(x), the slope of [`bessel_ratio`].
///
/// I₀² A′ = ½ Σ cⱼ tʲ/(j + 1)² and I₀² = Σ cⱼ tʲ with cⱼ = (2j)!/(j!)⁴, by the series of products
/// of Bessel functions, so nothing cancels.
pub fn bessel_ratio_slope(x: f64) -> f64 {
    let x = x.abs();
    if x < LARGE {
        let t = 0.25 * x * x;
        let (mut term, mut above, mut below) = (1.0, 1.0, 1.0);
        for j in 1..=MOST {
            let j = f64::from(j);
            term *= t * 2.0 * (2.0 * j - 1.0) / (j * j * j);
            above += term / ((j + 1.0) * (j + 1.0));
            below += term;
            if term <= f64::EPSILON * 1e-3 * below {
                break;
            }
        }
        return 0.5 * above / below;
    }
    let r = x.recip();
    let terms = RATIO.iter().enumerate().rev();
    terms.fold(0.0, |sum, (k, a)| sum * r - k as f64 * a) * r
}

/// The sum of a series that starts at 1: each term is the one before times t and `factor`.
fn series(t: f64, factor: impl Fn(f64) -> f64) -> f64 {
    let (mut term, mut sum) = (1.0, 0.0);
    for k in 1..=MOST {
        term *= t * factor(f64::from(k));
        sum += term;
        if term <= f64::EPSILON * 1e-3 * sum {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{LARGE, bessel_ratio, bessel_ratio_slope, log_bessel_i0e};

    /// x, ln I₀(x) − x, A(x), A′(x), computed with 60 digits.
    const EXACT: &[[f64; 4]] = &[
        [1e-08, -9.999_999_975e-09, 5e-09, 0.5],
        [
            0.001,
            -0.000_999_750_000_015_625,
            0.000_499_999_937_500_010_5,
            0.499_999_812_500_052_1,
        ],
        [
            0.1,
            -0.097_501_560_766_123_76,
            0.049_937_603_987_938_92,
            0.498_130_195_828_554_6,
        ],
        [
            0.5,
            -0.438_450_280_814_518_7,
            0.242_499_612_580_801_94,
            0.456_194_712_736_557_1,
        ],
        [
            1.0,
            -0.764_085_641_492_821_3,
            0.446_389_965_896_534_5,
            0.354_346_032_450_356_23,
        ],
        [
            2.0,
            -1.176_006_458_517_043_8,
            0.697_774_657_964_008,
            0.164_223_197_721_207_7,
        ],
        [
            3.7,
            -1.532_248_000_856_672_1,
            0.850_906_424_954_455_6,
            0.045_983_546_524_077_41,
        ],
        [
            7.75,
            -1.925_435_277_018_819,
            0.933_056_566_912_224_3,
            0.009_011_047_211_364_281,
        ],
        [
            8.0,
            -1.941_895_744_572_186,
            0.935_235_493_529_438_6,
            0.008_430_134_951_567_575,
        ],
        [
            15.0,
            -2.264_330_890_523_093_7,
            0.966_069_563_986_508_1,
            0.002_304_959_939_817_542_5,
        ],
        [
            22.5,
            -2.470_011_022_444_009,
            0.977_519_048_338_700_6,
            0.001_011_219_097_725_537_8,
        ],
        [
            29.99,
            -2.615_130_434_109_725_2,
            0.983_183_900_332_745_2,
            0.000_565_693_540_537_120_1,
        ],
        [
            30.0,
            -2.615_298_566_828_064,
            0.983_189_555_365_336_1,
            0.000_565_313_041_668_177_6,
        ],
        [
            31.0,
            -2.631_832_537_633_586_3,
            0.983_736_472_012_997_9,
            0.000_529_119_050_355_803_4,
        ],
        [
            50.0,
            -2.872_424_498_128_195_2,
            0.989_948_967_378_497_8,
            0.000_202_062_638_676_037_44,
        ],
        [
            123.4,
            -3.325_636_983_483_500_7,
            0.995_939_859_963_576_1,
            3.296_989_032_240_417e-05,
        ],
        [
            700.0,
            -4.194_300_001_556_551,
            0.999_285_458_818_426_1,
            1.021_138_592_753_999_4e-06,
        ],
        [
            10_000.0,
            -5.524_096_218_567_699,
            0.999_949_998_749_875,
            5.000_250_037_507_814_6e-09,
        ],
        [
            100_000_000.0,
            -10.129_278_903_930_855,
            0.999_999_995,
            5.000_000_025_000_000_4e-17,
        ],
        [
            1_000_000_000_000_000.0,
            -18.188_326_730_660_016,
            0.999_999_999_999_999_4,
            5.000_000_000_000_002e-31,
        ],
    ];

    fn relative(found: f64, expected: f64) -> f64 {
        ((found - expected) / expected).abs()
    }

    #[test]
    fn values_and_slopes_have_thirteen_digits_everywhere() {
        for &[x, log, ratio, slope] in EXACT {
            let found = [log_bessel_i0e(x), bessel_ratio(x), bessel_ratio_slope(x)];
            for (found, expected) in found.into_iter().zip([log, ratio, slope]) {
                let error = relative(found, expected);
                assert!(error < 1e-14, "{x}: {found} for {expected}: {error:e}");
            }
        }
    }

    #[test]
    fn the_series_agree_where_they_meet() {
        let (below, above) = (LARGE * (1.0 - 1e-15), LARGE);
        for function in [log_bessel_i0e, bessel_ratio, bessel_ratio_slope] {
            assert!(relative(function(below), function(above)) < 1e-14);
        }
    }

    #[test]
    fn negative_numbers_mirror_and_ends_are_limits() {
        assert_eq!(log_bessel_i0e(-2.5), log_bessel_i0e(2.5));
        assert_eq!(bessel_ratio(-2.5), -bessel_ratio(2.5));
        assert_eq!(bessel_ratio(-40.0), -bessel_ratio(40.0));
        assert_eq!(bessel_ratio_slope(-2.5), bessel_ratio_slope(2.5));
        assert_eq!([log_bessel_i0e(0.0), bessel_ratio(0.0)], [0.0, 0.0]);
        assert_eq!(bessel_ratio_slope(0.0), 0.5);
        let end = f64::INFINITY;
        assert_eq!([log_bessel_i0e(end), bessel_ratio(end)], [-end, 1.0]);
        assert_eq!(bessel_ratio_slope(end), 0.0);
        assert!(log_bessel_i0e(f64::NAN).is_nan() && bessel_ratio(f64::NAN).is_nan());
    }
}
