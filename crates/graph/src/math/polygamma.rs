//! The derivatives of the logarithm of the gamma function, of every order.

use std::f64::consts::PI;

/// B₂ₖ, the Bernoulli numbers of even index from the second.
const BERNOULLI: [f64; 12] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174_611.0 / 330.0,
    854_513.0 / 138.0,
    -236_364_091.0 / 2730.0,
];

/// From here on the expansion of order zero has converged to double precision; an order n needs n
/// more.
const LARGE: f64 = 12.0;

/// The positive zero of the digamma function, in two parts, and the reach of the expansion there.
const ZERO: f64 = 1.461_632_144_968_362_2;
const ZERO_REST: f64 = 9.549_995_429_965_697e-17;
const NEAR_ZERO: f64 = 0.25;
/// Derivatives of the digamma function at its zero over k!, from k = 1.
const AROUND_ZERO: [f64; 22] = [
    0.967_672_245_447_621_2,
    -0.442_763_168_983_592_1,
    0.258_499_760_955_651,
    -0.163_942_705_442_406_52,
    0.107_824_050_691_262_37,
    -0.072_199_561_256_454_71,
    0.048_804_288_164_143_11,
    -0.033_161_126_474_847_36,
    0.022_597_648_232_218_104,
    -0.015_424_765_904_948_96,
    0.010_538_791_616_612_175,
    -0.007_204_534_386_356_869,
    0.004_926_781_395_729_853,
    -0.003_369_801_655_439_328,
    0.002_305_126_326_734_928,
    -0.001_576_936_771_430_197_2,
    0.001_078_825_201_916_296_7,
    -0.000_738_070_938_996_005_2,
    0.000_504_953_265_834_602,
    -0.000_345_468_025_106_307_7,
    0.000_236_356_015_640_270_53,
    -0.000_161_706_220_919_748_03,
];

/// ψ⁽ⁿ⁾(x), the derivative of order n + 1 of ln Γ(x): digamma for n = 0, trigamma for n = 1.
///
/// At the poles 0, −1, −2, … it is +∞ for odd n; for even n, where the two sides differ, it is NaN,
/// except at ±0, whose sign names the side.
pub fn polygamma(n: u32, x: f64) -> f64 {
    if x < 0.0 {
        return reflect_argument(n, x);
    }
    if x == 0.0 {
        return if n % 2 == 1 { f64::INFINITY } else { -1.0 / x };
    }
    if n == 0 {
        digamma(x)
    } else {
        polygamma_sign(n) * polygamma_derivative(n, x)
    }
}

/// (−1)ⁿ⁺¹.
fn polygamma_sign(n: u32) -> f64 {
    if n % 2 == 1 { 1.0 } else { -1.0 }
}

/// ψ(x) for x > 0: ψ(x) = ψ(x + 1) − 1/x up to where the asymptotic series holds.
fn digamma(x: f64) -> f64 {
    let distance = (x - ZERO) - ZERO_REST;
    if distance.abs() < NEAR_ZERO {
        let step = |sum: f64, c: &f64| sum * distance + c;
        return AROUND_ZERO.iter().rev().fold(0.0, step) * distance;
    }
    let mut y = x;
    let mut shift = 0.0;
    while y < LARGE {
        shift += 1.0 / y;
        y += 1.0;
    }
    let u = 1.0 / (y * y);
    let mut series = 0.0;
    for (k, bernoulli) in BERNOULLI.iter().enumerate().rev() {
        series = (series + bernoulli / (2 * (k + 1)) as f64) * u;
    }
    y.ln() - 0.5 / y - series - shift
}

/// |ψ⁽ⁿ⁾(x)| for n ≥ 1 and x > 0.
///
/// By ψ⁽ⁿ⁾ = (−1)ⁿ⁺¹ n! Σⱼ (x + j)⁻ⁿ⁻¹, with the tail of the sum from its asymptotic series
/// (Abramowitz and Stegun 6.4.11). All terms are kept relative to (n − 1)!/xⁿ.
fn polygamma_derivative(n: u32, x: f64) -> f64 {
    if x == f64::INFINITY {
        return 0.0;
    }
    let order = f64::from(n);
    let exponent = n as i32;
    let mut y = x;
    let mut head = 0.0;
    while y < LARGE + order {
        head += (x / y).powi(exponent + 1);
        y += 1.0;
    }
    let tail = (x / y).powi(exponent) * asymptotic_tail(order, y);
    scaled_factorial(n, x) * (order / x * head + tail)
}

/// 1 + n/(2y) + Σ B₂ₖ (2k + n − 1)!/((2k)! (n − 1)!) y⁻²ᵏ.
fn asymptotic_tail(order: f64, y: f64) -> f64 {
    let mut sum = 1.0 + order / (2.0 * y);
    let mut ratio = 1.0;
    for (bernoulli, k) in BERNOULLI.iter().zip(1..) {
        let index = f64::from(2 * k);
        ratio *= (order + index - 2.0) / y * ((order + index - 1.0) / y) / (index * (index - 1.0));
        sum += bernoulli * ratio;
    }
    sum
}

/// (n − 1)!/xⁿ for n ≥ 1; the factors are taken from either end so that the product stays in range
/// whenever the result is.
fn scaled_factorial(n: u32, x: f64) -> f64 {
    let (mut low, mut high) = (1, n - 1);
    let mut product = 1.0 / x;
    while low <= high {
        if product >= 1.0 {
            product *= f64::from(low) / x;
            low += 1;
        } else {
            product *= f64::from(high) / x;
            high -= 1;
        }
    }
    product
}

/// ψ⁽ⁿ⁾(x) = (−1)ⁿ ψ⁽ⁿ⁾(1 − x) − π dⁿ/dxⁿ cot πx for x < 0.
fn reflect_argument(n: u32, x: f64) -> f64 {
    // The distance to the nearest pole is exact, which keeps the cotangent exact beside it.
    let distance = x - x.round();
    if distance == 0.0 {
        return if n % 2 == 1 { f64::INFINITY } else { f64::NAN };
    }
    let cotangent = 1.0 / (PI * distance).tan();
    let reflection = PI.powi(n as i32 + 1) * cotangent_derivative(n, cotangent);
    -polygamma_sign(n) * polygamma(n, 1.0 - x) - reflection
}

/// dⁿ/dtⁿ cot t as a polynomial in c = cot t: each derivative is −(1 + c²) times that of the
/// polynomial before.
fn cotangent_derivative(n: u32, c: f64) -> f64 {
    if n == 0 {
        return c;
    }
    if n == 1 {
        return -(1.0 + c * c);
    }
    let mut coefficients = vec![0.0, 1.0];
    for _ in 0..n {
        let slope: Vec<f64> = (1..)
            .zip(&coefficients[1..])
            .map(|(i, a)| f64::from(i) * a)
            .collect();
        coefficients = vec![0.0; slope.len() + 2];
        for (i, a) in slope.iter().enumerate() {
            coefficients[i] -= a;
            coefficients[i + 2] -= a;
        }
    }
    coefficients.iter().rev().fold(0.0, |sum, a| sum * c + a)
}

#[cfg(test)]
mod tests {
    use super::polygamma;

    /// (x, ψ(x)).
    const DIGAMMA: &[(f64, f64)] = &[
        (1.0e-300, -9.999_999_999_999_999e299),
        (1.0e-10, -10_000_000_000.577_215),
        (0.001, -1_000.575_571_931_810_3),
        (0.1, -10.423_754_940_411_076),
        (0.5, -1.963_510_026_021_423_5),
        (1.0, -0.577_215_664_901_532_9),
        (1.25, -0.227_453_533_376_265_42),
        (1.4, -0.061_384_544_585_116_24),
        (1.46, -0.001_580_561_987_083_452_2),
        (1.462, 0.000_355_903_203_801_042_74),
        (1.5, 0.036_489_973_978_576_52),
        (1.7, 0.208_547_874_873_493_9),
        (2.0, 0.422_784_335_098_467_13),
        (3.7, 1.167_153_539_361_511_3),
        (7.25, 1.910_453_526_883_736),
        (10.0, 2.251_752_589_066_721),
        (11.9, 2.433_933_536_882_537_7),
        (12.1, 2.451_314_348_174_337_4),
        (50.5, 3.912_039_670_928_392),
        (1000.0, 6.907_255_195_648_812),
        (10_000_000_000.0, 23.025_850_929_890_456),
        (1.0e200, 460.517_018_598_809_16),
        (-0.5, 0.036_489_973_978_576_52),
        (-1.25, 3.714_139_120_213_528),
        (-3.7, -0.845_076_858_870_419_4),
        (-10.3, 4.662_403_493_582_087),
        (-100.001, 1_004.606_881_927_782_1),
        (-1.0e-8, 99_999_999.422_784_31),
    ];

    /// (n, x, ψ⁽ⁿ⁾(x)).
    const POLYGAMMA: &[(u32, f64, f64)] = &[
        (1, 0.001, 1_000_001.642_533_195_8),
        (1, 0.1, 101.433_299_150_792_75),
        (1, 0.5, 4.934_802_200_544_679),
        (1, 1.0, 1.644_934_066_848_226_4),
        (1, 1.5, 0.934_802_200_544_679_3),
        (1, 2.0, 0.644_934_066_848_226_4),
        (1, 3.7, 0.310_037_857_670_038_3),
        (1, 10.0, 0.105_166_335_681_685_75),
        (1, 12.5, 0.083_285_224_601_578_38),
        (1, 50.5, 0.019_999_333_426_637_16),
        (1, 1000.0, 0.001_000_500_166_666_633_3),
        (1, 1_000_000.0, 1.000_000_500_000_166_7e-6),
        (2, 0.001, -2_000_000_002.397_632_1),
        (2, 0.1, -2_001.861_457_378_343_6),
        (2, 0.5, -16.828_796_644_234_32),
        (2, 1.0, -2.404_113_806_319_188_5),
        (2, 1.5, -0.828_796_644_234_32),
        (2, 2.0, -0.404_113_806_319_188_6),
        (2, 3.7, -0.095_395_308_728_554_03),
        (2, 10.0, -0.011_049_834_970_802_067),
        (2, 12.5, -0.006_932_436_585_788_241),
        (2, 50.5, -0.000_399_960_009_329_203_03),
        (2, 1000.0, -1.001_000_499_999_833_3e-6),
        (2, 1_000_000.0, -1.000_001_000_000_5e-12),
        (3, 0.001, 6_000_000_000_006.469),
        (3, 0.1, 60_004.512_876_790_26),
        (3, 0.5, 97.409_091_034_002_44),
        (3, 1.0, 6.493_939_402_266_829),
        (3, 1.5, 1.409_091_034_002_437_2),
        (3, 2.0, 0.493_939_402_266_829_14),
        (3, 3.7, 0.058_279_217_956_563_614),
        (3, 10.0, 0.002_319_901_304_289_868_6),
        (3, 12.5, 0.001_153_412_804_913_405_2),
        (3, 50.5, 1.599_680_111_933_927_7e-5),
        (3, 1000.0, 2.003_001_999_999e-9),
        (3, 1_000_000.0, 2.000_003_000_002e-18),
        (4, 0.001, -2.400_000_000_000_002_4e16),
        (4, 0.1, -2_400_015.607_203_195_3),
        (4, 0.5, -771.474_249_826_667_2),
        (4, 1.0, -24.886_266_123_440_88),
        (4, 1.5, -3.474_249_826_667_225_3),
        (4, 2.0, -0.886_266_123_440_878_2),
        (4, 3.7, -0.053_038_611_107_953_96),
        (4, 10.0, -0.000_729_931_168_235_286_7),
        (4, 12.5, -0.000_287_691_422_585_387_06),
        (4, 50.5, -9.596_801_566_810_938e-7),
        (4, 1000.0, -6.012_009_999_993_000_4e-12),
        (4, 1_000_000.0, -6.000_012_000_01e-24),
        (10, 0.001, -3.628_799_999_999_999e39),
        (10, 0.1, -3.628_800_000_012_727e17),
        (10, 0.5, -7_431_824_508.858_769),
        (10, 1.0, -3_630_593.311_606_629),
        (10, 1.5, -42_108.858_768_975_49),
        (10, 2.0, -1_793.311_606_628_713),
        (10, 3.7, -2.207_828_787_318_997),
        (10, 10.0, -5.767_596_686_322_259_5e-5),
        (10, 12.5, -5.679_853_514_567_12e-6),
        (10, 50.5, -3.709_091_104_112_279e-12),
        (10, 1000.0, -3.646_977_263_913_514e-25),
        (10, 1_000_000.0, -3.628_818_144_033_264e-55),
        (25, 0.001, 1.551_121_004_333_097_8e103),
        (25, 0.1, 1.551_121_004_333_096_3e51),
        (25, 0.5, 1.040_939_685_273_742_8e33),
        (25, 1.0, 1.551_121_027_447_213_3e25),
        (25, 1.5, 4.095_186_494_925_314e20),
        (25, 2.0, 2.311_411_469_149_831_7e17),
        (25, 3.7, 26_198_096_988.632_034),
        (25, 10.0, 0.169_680_610_413_577_3),
        (25, 12.5, 0.000_544_254_784_114_979_1),
        (25, 50.5, 2.059_522_794_451_748_6e-19),
        (25, 1000.0, 6.282_376_139_532_182e-52),
        (25, 1_000_000.0, 6.204_561_573_718_687e-127),
        (1, -0.5, 8.934_802_200_544_679),
        (1, -1.25, 19.181_879_647_671_607),
        (1, -3.7, 14.842_421_864_124_28),
        (1, -10.3, 14.986_887_065_722_637),
        (2, -0.5, -0.828_796_644_234_32),
        (2, -1.25, 123.721_366_783_662_36),
        (2, -3.7, -68.893_454_688_673_54),
        (2, -10.3, 68.828_988_611_036_96),
        (3, -0.5, 193.409_091_034_002_44),
        (3, -1.25, 1_558.220_912_534_850_6),
        (3, -3.7, 768.994_649_440_866),
        (3, -10.3, 769.019_333_424_398_7),
    ];

    fn assert_near(got: f64, expected: f64, tolerance: f64, place: &str) {
        let error = if got == expected {
            0.0
        } else {
            ((got - expected) / expected).abs()
        };
        assert!(
            error <= tolerance,
            "{place}: {got:e}, not {expected:e}: {error:e}"
        );
    }

    #[test]
    fn digamma_matches_reference_values_beside_its_zero_too() {
        for &(x, expected) in DIGAMMA {
            assert_near(polygamma(0, x), expected, 1e-14, &format!("digamma({x})"));
        }
    }

    #[test]
    fn polygamma_matches_reference_values() {
        for &(n, x, expected) in POLYGAMMA {
            assert_near(
                polygamma(n, x),
                expected,
                1e-14,
                &format!("polygamma({n}, {x})"),
            );
        }
    }

    #[test]
    fn polygamma_obeys_its_recurrence_at_every_order() {
        for n in 0..40 {
            for x in [0.3, 1.1, 2.9, 11.5, 14.2, 30.0] {
                let factorial: f64 = (1..=n).map(f64::from).product();
                let step = factorial / f64::powi(-x, n as i32 + 1);
                let got = polygamma(n, x + 1.0) + step;
                let scale = step.abs() / polygamma(n, x).abs();
                let tolerance = 1e-14 * (1.0 + scale) * f64::from(n + 1);
                assert_near(got, polygamma(n, x), tolerance, &format!("{n}, {x}"));
            }
        }
    }

    #[test]
    fn polygamma_is_defined_at_its_poles_and_at_infinity() {
        let inf = f64::INFINITY;
        assert_eq!([polygamma(0, 0.0), polygamma(0, -0.0)], [-inf, inf]);
        assert_eq!(
            [polygamma(1, 0.0), polygamma(1, -3.0), polygamma(3, -1.0)],
            [inf; 3]
        );
        assert!(polygamma(0, -2.0).is_nan() && polygamma(2, -2.0).is_nan());
        assert_eq!(polygamma(0, inf), inf);
        assert_eq!([polygamma(1, inf), polygamma(2, inf)], [0.0, 0.0]);
        assert_eq!(polygamma(1, 1e200), 1e-200);
        for n in 0..4 {
            assert!(polygamma(n, f64::NAN).is_nan() && polygamma(n, -inf).is_nan());
        }
    }

    #[test]
    fn orders_whose_factorial_overflows_are_finite_where_the_function_is() {
        assert_near(
            polygamma(300, 1000.0),
            -1.180_885_723_775_783_8e-288,
            1e-12,
            "polygamma(300, 1000)",
        );
        let got = polygamma(3000, 1000.0);
        assert_near(
            got,
            -4.366_918_518_256_012e127,
            1e-12,
            "polygamma(3000, 1000)",
        );
    }
}
