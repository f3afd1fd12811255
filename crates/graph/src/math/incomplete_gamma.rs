//! The logarithms of both regularised incomplete gamma functions.

use super::lgamma;

/// The largest number of terms. About 6√a are needed if x is near a.
const MOST_TERMS: usize = 200_000;
/// The smallest absolute value of a factor of the continued fraction.
const TINY: f64 = 1e-300;

/// ln P(a, eᵘ), where P(a, x) = ∫₀ˣ tᵃ⁻¹e⁻ᵗ dt/Γ(a). For a ≤ 0 all mass lies above 0 and the value
/// is 0, as P(Y > k) = 1 is for counts and k < 0.
pub fn gamma_log_below(a: f64, u: f64) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    match SmallerTail::of(a, u) {
        SmallerTail::Series(log) => log,
        SmallerTail::Fraction(log) => (-log.exp()).ln_1p(),
    }
}

/// ln Q(a, eᵘ), where Q = 1 − P; −∞ for a ≤ 0.
pub fn gamma_log_above(a: f64, u: f64) -> f64 {
    if a <= 0.0 {
        return f64::NEG_INFINITY;
    }
    match SmallerTail::of(a, u) {
        SmallerTail::Series(log) => log_complement(log),
        SmallerTail::Fraction(log) => log,
    }
}

/// The logarithm of the smaller of the two, roughly.
enum SmallerTail {
    /// ln P by its power series.
    Series(f64),
    /// ln Q by its continued fraction.
    Fraction(f64),
}

impl SmallerTail {
    fn of(a: f64, u: f64) -> SmallerTail {
        let x = u.exp();
        if x < a + 1.0 {
            return SmallerTail::Series(a * u - x - lgamma(a + 1.0) + lower_series(a, x).ln());
        }
        if x == f64::INFINITY {
            return SmallerTail::Fraction(f64::NEG_INFINITY);
        }
        SmallerTail::Fraction(a * u - x - lgamma(a) + upper_fraction(a, x).ln())
    }
}

/// 1 + x/(a + 1) + x²/((a + 1)(a + 2)) + …
fn lower_series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut n) = (1.0, 1.0, a);
    for _ in 0..MOST_TERMS {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term <= sum * (0.25 * f64::EPSILON) {
            break;
        }
    }
    sum
}

/// 1/(x + 1 − a − 1(1 − a)/(x + 3 − a − …)), by Lentz's method.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut b = x + 1.0 - a;
    let mut c = TINY.recip();
    let mut d = away(b).recip();
    let mut product = d;
    for k in 1..MOST_TERMS {
        let k = k as f64;
        let factor = -k * (k - a);
        b += 2.0;
        d = away(factor * d + b).recip();
        c = away(b + factor / c);
        product *= c * d;
        if (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    product
}

/// ln(1 − eʸ) for y ≤ 0.
fn log_complement(y: f64) -> f64 {
    if y > -std::f64::consts::LN_2 {
        (-y.exp_m1()).ln()
    } else {
        (-y.exp()).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::{gamma_log_above, gamma_log_below};

    /// (a, u, ln P(a, eᵘ), ln Q(a, eᵘ)).
    const VALUES: &[(f64, f64, f64, f64)] = &[
        (1.0, 0.0, -0.458_675_145_387_081_9, -1.0),
        (
            1.0,
            -5.0,
            -5.003_367_081_836_518,
            -0.006_737_946_999_085_467,
        ),
        (
            1.0,
            3.0,
            -1.892_178_696_628_462_7e-09,
            -20.085_536_923_187_668,
        ),
        (
            3.0,
            1.2,
            -0.439_129_069_698_412_37,
            -1.034_504_543_492_031_5,
        ),
        (3.0, -700.0, -2_101.791_759_469_228, -0.0),
        (
            3.0,
            4.0,
            -3.003_003_776_088_527_7e-21,
            -47.254_673_906_435_82,
        ),
        (8.0, 2.0, -0.778_587_561_150_552_8, -0.614_435_707_945_472_2),
        (8.0, -3.0, -34.648_845_805_091_8, -8.957_719_574_448_6e-16),
        (
            25.0,
            3.2,
            -0.715_126_211_362_263_6,
            -0.671_640_856_535_603_9,
        ),
        (
            25.0,
            4.5,
            -1.411_010_494_191_653_4e-16,
            -36.497_055_377_647_36,
        ),
        (
            25.0,
            1.0,
            -35.611_955_050_526_35,
            -3.419_199_424_875_687_4e-16,
        ),
        (
            1.555_5,
            0.3,
            -0.616_429_565_184_292_8,
            -0.776_243_104_413_458_5,
        ),
        (
            0.6,
            -0.5,
            -0.398_785_479_391_370_66,
            -1.112_106_907_220_916_7,
        ),
        (
            0.6,
            2.0,
            -0.000_177_858_375_477_373_16,
            -8.634_611_895_619_598,
        ),
        (
            400.0,
            6.0,
            -0.554_415_261_318_103_7,
            -0.854_274_235_907_867_3,
        ),
        (
            400.0,
            5.7,
            -18.020_181_450_679_065,
            -1.492_569_752_798_824_4e-08,
        ),
        (
            10_000.0,
            9.2,
            -1.885_467_049_439_344_6,
            -0.164_589_500_249_940_35,
        ),
        (
            1.25,
            -40.0,
            -50.124_871_714_892_4,
            -1.702_334_136_799_467e-22,
        ),
    ];

    #[test]
    fn both_logarithms_match_reference_values() {
        for &(a, u, below, above) in VALUES {
            // The value is the remainder of a u − eᵘ − ln Γ(a), whose terms cancel.
            let size = a * u.abs() + u.exp() + a * a.ln().abs();
            for (found, expected) in [
                (gamma_log_below(a, u), below),
                (gamma_log_above(a, u), above),
            ] {
                let error = (found - expected).abs();
                let allowed = 4e-16 * size + 4e-14 * expected.abs().min(1.0);
                assert!(error <= allowed, "{a} {u}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn what_lies_below_no_count_is_nothing() {
        assert_eq!(gamma_log_below(0.0, 1.0), 0.0);
        assert_eq!(gamma_log_above(-1.0, 1.0), f64::NEG_INFINITY);
        assert_eq!(gamma_log_below(3.0, 800.0), 0.0);
        assert!(gamma_log_below(f64::NAN, 1.0).is_nan());
    }
}
