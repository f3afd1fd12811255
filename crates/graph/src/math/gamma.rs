//! The logarithm of the gamma function.

/// ln|Γ(x)|; +∞ at the poles 0, −1, −2, …
pub fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

#[cfg(test)]
mod tests {
    use super::lgamma;

    /// (x, ln|Γ(x)|).
    const LGAMMA: &[(f64, f64)] = &[
        (1.0e-300, 690.775_527_898_213_7),
        (1.0e-5, 11.512_919_692_895_826),
        (0.5, 0.572_364_942_924_700_1),
        (1.0, 0.0),
        (1.000_000_1, -5.772_155_829_918_507e-8),
        (1.5, -0.120_782_237_635_245_22),
        (2.0, 0.0),
        (3.5, 1.200_973_602_347_074_3),
        (10.0, 12.801_827_480_081_469),
        (100.5, 361.435_540_467_777_6),
        (100_000.0, 1_051_287.708_973_656_9),
        (1.0e300, 6.897_755_278_982_137e302),
        (-0.5, 1.265_512_123_484_645_4),
        (-1.5, 0.860_047_015_376_481),
        (-3.7, -1.379_739_904_965_824_5),
    ];

    #[test]
    fn lgamma_matches_reference_values() {
        for &(x, expected) in LGAMMA {
            let error = (lgamma(x) - expected).abs();
            assert!(error <= 1e-14 * expected.abs(), "lgamma({x}): {error:e}");
        }
    }

    #[test]
    fn lgamma_is_infinite_at_its_poles_and_keeps_nan() {
        let inf = f64::INFINITY;
        assert_eq!([lgamma(0.0), lgamma(-1.0), lgamma(inf)], [inf; 3]);
        assert!(lgamma(f64::NAN).is_nan());
    }
}
