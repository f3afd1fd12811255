//! The error function and the logarithm of the normal distribution function.

use std::f64::consts::FRAC_1_SQRT_2;

/// ½ ln 2π.
const HALF_LN_2_PI: f64 = 0.918_938_533_204_672_8;
/// 1/√(2π).
const FRAC_1_SQRT_2_PI: f64 = 0.398_942_280_401_432_7;
/// 1/√2 less its nearest double.
const FRAC_1_SQRT_2_REST: f64 = -4.833_646_656_726_457e-17;
/// Beyond this the upper tail underflows.
const TAIL_ENDS: f64 = 40.0;
/// From here on the expansion of the tail has converged to double precision.
const TAIL_BELOW: f64 = -20.0;

/// erf x = 2/√π ∫₀ˣ e^(−t²) dt.
pub fn erf(x: f64) -> f64 {
    libm::erf(x)
}

/// 1 − erf x, without cancellation for large x.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// ln Φ(x), the logarithm of the standard normal distribution function, to full relative precision
/// in both tails.
pub fn normal_log_cdf(x: f64) -> f64 {
    if x < TAIL_BELOW {
        let inverse_square = 1.0 / (x * x);
        return -0.5 * x * x - (-x).ln() - HALF_LN_2_PI + tail_excess(inverse_square).ln_1p();
    }
    let tail = tail_probability(x.abs().clamp(0.0, TAIL_ENDS));
    if x < 0.0 { tail.ln() } else { (-tail).ln_1p() }
}

/// φ(x)/Φ(x), the slope of ln Φ, to full relative precision in both tails.
pub fn inverse_mills(x: f64) -> f64 {
    if x < TAIL_BELOW {
        return -x / (1.0 + tail_excess(1.0 / (x * x)));
    }
    let x = x.clamp(TAIL_BELOW, TAIL_ENDS);
    let tail = tail_probability(x.abs());
    normal_density(x) / if x < 0.0 { tail } else { 1.0 - tail }
}

/// x with Φ(x) = p; ∓∞ at 0 and 1, NaN outside. It has full relative precision for p up to ½, and
/// beyond it as far as 1 − p is known.
pub fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p <= 0.0 {
        return if p == 0.0 {
            f64::NEG_INFINITY
        } else {
            f64::NAN
        };
    }
    let mut x = rough_quantile(p);
    let log = p.ln();
    for _ in 0..2 {
        // Newton's step for ln Φ, which is nearly a parabola, with its curvature (Halley).
        let slope = inverse_mills(x);
        let step = (normal_log_cdf(x) - log) / slope;
        x -= step / (1.0 + 0.5 * step * (x + slope));
    }
    x
}

/// The quantile to nine digits, for p up to ½ (Acklam 2003).
fn rough_quantile(p: f64) -> f64 {
    const NEAR: [[f64; 6]; 2] = [
        [
            -39.696_830_286_653_76,
            220.946_098_424_520_5,
            -275.928_510_446_968_7,
            138.357_751_867_269,
            -30.664_798_066_147_16,
            2.506_628_277_459_239,
        ],
        [
            -54.476_098_798_224_06,
            161.585_836_858_040_9,
            -155.698_979_859_886_6,
            66.801_311_887_719_72,
            -13.280_681_552_885_72,
            1.0,
        ],
    ];
    const FAR: [[f64; 6]; 2] = [
        [
            -0.007_784_894_002_430_293,
            -0.322_396_458_041_136_5,
            -2.400_758_277_161_838,
            -2.549_732_539_343_734,
            4.374_664_141_464_968,
            2.938_163_982_698_783,
        ],
        [
            0.0,
            0.007_784_695_709_041_462,
            0.322_467_129_070_039_8,
            2.445_134_137_142_996,
            3.754_408_661_907_416,
            1.0,
        ],
    ];
    let horner = |numbers: &[f64; 6], x: f64| numbers.iter().fold(0.0, |sum, a| sum * x + a);
    if p < 0.024_25 {
        let q = (-2.0 * p.ln()).sqrt();
        return horner(&FAR[0], q) / horner(&FAR[1], q);
    }
    let q = p - 0.5;
    q * horner(&NEAR[0], q * q) / horner(&NEAR[1], q * q)
}

/// φ(x), with the rounding error of x² added back.
fn normal_density(x: f64) -> f64 {
    let square = x * x;
    let rest = x.mul_add(x, -square);
    (-0.5 * square).exp() * (1.0 - 0.5 * rest) * FRAC_1_SQRT_2_PI
}

/// Φ(−x) for 0 ≤ x < ∞. The tail is so steep that the rounding of x/√2 would cost x² last places;
/// the slope, −2t relative to the value, corrects it.
fn tail_probability(x: f64) -> f64 {
    let t = x * FRAC_1_SQRT_2;
    let rest = x.mul_add(FRAC_1_SQRT_2, -t) + x * FRAC_1_SQRT_2_REST;
    0.5 * erfc(t) * (1.0 - 2.0 * t * rest)
}

/// −x Φ(x)/φ(x) − 1 for very negative x, with u = 1/x²: −u + 3u² − 15u³ + … (Abramowitz and Stegun
/// 26.2.12).
fn tail_excess(u: f64) -> f64 {
    let mut sum = 0.0;
    for odd in [17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = -odd * u * (1.0 + sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{erf, erfc, inverse_mills, normal_log_cdf, normal_quantile};

    /// (x, ln Φ(x)).
    const LOG_CDF: &[(f64, f64)] = &[
        (-100_000_000.0, -5_000_000_000_000_019.0),
        (-10_000.0, -50_000_010.129_278_91),
        (-300.0, -45_006.622_732_118_66),
        (-50.0, -1_254.831_361_139_419_9),
        (-38.0, -726.557_216_018_820_1),
        (-37.0, -689.030_585_576_890_6),
        (-20.5, -214.066_728_963_263_8),
        (-20.0, -203.917_155_371_097_27),
        (-19.5, -194.016_965_777_497_5),
        (-10.0, -53.231_285_150_512_47),
        (-5.0, -15.064_998_393_988_725),
        (-2.0, -3.783_184_333_682_032),
        (-1.0, -1.841_021_645_009_263_6),
        (-0.3, -0.962_102_818_168_850_7),
        (-1.0e-10, -0.693_147_180_639_733_8),
        (0.0, -std::f64::consts::LN_2),
        (0.3, -0.481_410_161_588_481_2),
        (1.0, -0.172_753_779_023_449_88),
        (2.5, -0.006_229_025_485_860_002),
        (5.0, -2.866_516_129_637_636e-7),
        (8.0, -6.220_960_574_271_786e-16),
        (10.0, -7.619_853_024_160_525e-24),
        (20.0, -2.753_624_118_606_233_7e-89),
        (37.0, -5.725_571_222_524_577e-300),
    ];

    /// (x, φ(x)/Φ(x)).
    const MILLS: &[(f64, f64)] = &[
        (-100_000_000.0, 100_000_000.000_000_01),
        (-10_000.0, 10_000.000_099_999_997),
        (-300.0, 300.003_333_259_263_4),
        (-20.5, 20.548_551_052_435_847),
        (-20.0, 20.049_753_068_527_85),
        (-19.5, 19.551_015_802_580_622),
        (-10.0, 10.098_093_233_962_512),
        (-5.0, 5.186_503_967_125_842),
        (-2.0, 2.373_215_532_822_841),
        (-1.0, 1.525_135_276_160_981),
        (-0.3, 0.998_165_968_858_483_3),
        (0.0, 0.797_884_560_802_865_4),
        (0.3, 0.617_220_853_612_734_5),
        (2.5, 0.017_637_825_486_916_735),
        (8.0, 5.052_271_083_536_895e-15),
        (20.0, 5.520_948_362_159_764e-88),
        (37.0, 2.120_006_551_524_605_6e-298),
    ];

    /// (x, erf x, erfc x).
    const ERF: &[(f64, f64, f64)] = &[
        (1.0e-300, 1.128_379_167_095_512_6e-300, 1.0),
        (1.0e-8, 1.128_379_167_095_512_6e-8, 0.999_999_988_716_208_3),
        (0.3, 0.328_626_759_459_127_4, 0.671_373_240_540_872_6),
        (0.84, 0.765_142_711_454_994_5, 0.234_857_288_545_005_48),
        (1.0, 0.842_700_792_949_714_9, 0.157_299_207_050_285_13),
        (1.3, 0.934_007_944_940_652_4, 0.065_992_055_059_347_55),
        (2.0, 0.995_322_265_018_952_7, 0.004_677_734_981_047_266),
        (3.5, 0.999_999_256_901_627_6, 7.430_983_723_414_128e-7),
        (5.0, 0.999_999_999_998_462_6, 1.537_459_794_428_035e-12),
        (-0.7, -0.677_801_193_837_418_4, 1.677_801_193_837_418_4),
        (10.0, 1.0, 2.088_487_583_762_545e-45),
        (20.0, 1.0, 5.395_865_611_607_901e-176),
        (26.5, 1.0, 2.210_907_664_263_734_3e-307),
    ];

    fn relative(got: f64, expected: f64) -> f64 {
        ((got - expected) / expected).abs()
    }

    #[test]
    fn erf_and_erfc_match_reference_values() {
        for &(x, below, above) in ERF {
            assert!(relative(erf(x), below) < 1e-15, "erf({x})");
            assert!(relative(erfc(x), above) < 1e-14, "erfc({x})");
        }
        let inf = f64::INFINITY;
        assert_eq!(
            [erf(inf), erf(-inf), erfc(inf), erfc(-inf)],
            [1.0, -1.0, 0.0, 2.0]
        );
        assert!(erf(f64::NAN).is_nan() && erfc(f64::NAN).is_nan());
    }

    #[test]
    fn the_log_cdf_matches_reference_values_in_both_tails() {
        for &(x, expected) in LOG_CDF {
            let error = relative(normal_log_cdf(x), expected);
            assert!(error <= 2e-15, "{x}: {error:e}");
        }
    }

    #[test]
    fn the_slope_of_the_log_cdf_matches_reference_values_in_both_tails() {
        for &(x, expected) in MILLS {
            let error = relative(inverse_mills(x), expected);
            assert!(error <= 2e-15, "{x}: {error:e}");
        }
        let inf = f64::INFINITY;
        assert_eq!([inverse_mills(inf), inverse_mills(-inf)], [0.0, inf]);
        assert!(inverse_mills(f64::NAN).is_nan());
    }

    #[test]
    fn quantiles_are_where_the_cdf_has_their_value() {
        for &(x, log) in LOG_CDF.iter().filter(|(x, _)| *x > -37.5 && *x <= 0.0) {
            let found = normal_quantile(log.exp());
            // The rounding of p and of its logarithm moves x by as much.
            let allowed = 4e-16 * (1.0 + log.abs()) / inverse_mills(x) + 4e-16 * x.abs();
            assert!((found - x).abs() <= allowed, "{x}: {found}");
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(-0.1).is_nan() && normal_quantile(f64::NAN).is_nan());
    }

    #[test]
    fn the_log_cdf_is_defined_at_infinity() {
        let inf = f64::INFINITY;
        assert_eq!(normal_log_cdf(inf), 0.0);
        assert_eq!([normal_log_cdf(-inf), normal_log_cdf(-1e200)], [-inf; 2]);
        assert!(normal_log_cdf(f64::NAN).is_nan());
    }
}
