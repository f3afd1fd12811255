//! Reference values of `ArviZ`, and exact tails.

use super::*;
use crate::stream::Stream;

/// Uniform numbers of a linear congruential generator, which is easy to implement in another
/// language.
fn uniforms(count: usize, mut state: u64) -> Vec<f64> {
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    (0..count).map(|_| next()).collect()
}

fn pareto_log_weights(uniforms: &[f64], shape: f64) -> Vec<f64> {
    let weight = |u: &f64| (u.powf(-shape) - 1.0) / shape + 0.05;
    uniforms.iter().map(|u| weight(u).ln()).collect()
}

/// Draws, shape, seed; k̂, first and largest smoothed log weight and effective size by psislw of
/// `ArviZ` 0.23.4.
const ARVIZ: [(usize, f64, u64, [f64; 4]); 4] = [
    (
        200,
        0.3,
        1,
        [
            0.555_748_876_497_600_6,
            -5.597_493_338_525_899,
            -2.934_292_329_482_655_5,
            73.648_487_976_051_38,
        ],
    ),
    (
        1000,
        0.6,
        2,
        [
            0.727_740_385_541_747_1,
            -8.863_224_435_438_198,
            -2.351_928_855_932_136_3,
            65.385_229_290_534_2,
        ],
    ),
    (
        1000,
        0.9,
        3,
        [
            0.762_922_500_274_595_4,
            -6.670_391_232_078_549,
            -1.896_812_649_105_670_7,
            29.170_910_160_622_54,
        ],
    ),
    (
        4000,
        -0.2,
        4,
        [
            -0.035_235_557_236_567_81,
            -8.424_649_630_869_59,
            -6.737_395_018_783_957,
            2_435.663_124_788_169_6,
        ],
    ),
];

#[test]
fn shape_and_smoothed_weights_are_those_of_arviz() {
    for (count, shape, seed, expected) in ARVIZ {
        let raw = pareto_log_weights(&uniforms(count, seed), shape);
        let found = Pareto::new(&raw).unwrap();
        let largest = found.log_weights.iter().copied().fold(f64::MIN, f64::max);
        let found = [
            found.shape,
            found.log_weights[0],
            largest,
            found.effective_size,
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{found} for {expected}"
            );
        }
    }
}

#[test]
fn the_shape_of_exact_draws_is_recovered() {
    for shape in [-0.3, 0.1, 0.4, 0.7, 1.2] {
        let mut sample = vec![0.0; 4000];
        Stream::new(2, "pareto", 0).fill_uniform(&mut sample);
        for x in &mut sample {
            *x = ParetoFit { shape, scale: 2.0 }.quantile(*x);
        }
        sample.sort_unstable_by(f64::total_cmp);
        let fit = ParetoFit::new(&sample);
        // The estimate's standard deviation is about (1 + k)/√n.
        assert!(
            (fit.shape - shape).abs() < 4.0 * (1.0 + shape) / 4000_f64.sqrt(),
            "{fit:?}"
        );
        assert!((fit.scale - 2.0).abs() < 0.2, "{fit:?}");
    }
}

#[test]
fn the_usable_shape_grows_with_the_number_of_draws() {
    assert!((shape_threshold(1000) - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(shape_threshold(1_000_000), 0.7);
}

#[test]
fn evidence_of_a_gaussian_is_found_within_its_error() {
    // p = 7·N(0, 1), q = N(0.3, 1.2²): the evidence is log 7.
    let mut draws = vec![0.0; 20_000];
    Stream::new(6, "evidence", 0).fill_normal(&mut draws);
    let weights: Vec<f64> = draws
        .iter()
        .map(|e| {
            let z = 0.3 + 1.2 * e;
            7_f64.ln() - 0.5 * z * z + 0.5 * e * e + 1.2_f64.ln()
        })
        .collect();
    let found = Pareto::new(&weights).unwrap();
    assert!(found.shape < 0.5, "{}", found.shape);
    let error = (found.log_evidence - 7_f64.ln()) / found.log_evidence_error;
    assert!(
        error.abs() < 3.5 && found.log_evidence_error < 0.005,
        "{error}"
    );
    let mean: f64 = found
        .weights()
        .iter()
        .zip(&draws)
        .map(|(w, e)| w * (0.3 + 1.2 * e))
        .sum();
    assert!(mean.abs() < 0.03, "{mean}");
    assert!((found.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn a_narrow_approximation_is_not_trusted() {
    let mut draws = vec![0.0; 4000];
    Stream::new(7, "narrow", 0).fill_normal(&mut draws);
    // q has a quarter of the posterior's standard deviation, so the weights have no variance.
    let weights: Vec<f64> = draws
        .iter()
        .map(|e| 0.5 * e * e * (1.0 - 1.0 / 16.0))
        .collect();
    let found = Pareto::new(&weights).unwrap();
    assert!(found.shape > shape_threshold(4000), "{}", found.shape);
}

#[test]
fn equal_weights_are_perfect_and_zero_weights_are_counted() {
    let equal = Pareto::new(&[-4.0; 100]).unwrap();
    assert_eq!(equal.shape, 0.0);
    assert!((equal.effective_size - 100.0).abs() < 1e-9);
    assert_eq!((equal.log_evidence, equal.log_evidence_error), (-4.0, 0.0));
    let mut half = vec![0.0; 100];
    half[..50].fill(f64::NEG_INFINITY);
    let half = Pareto::new(&half).unwrap();
    assert!((half.log_evidence - 0.5_f64.ln()).abs() < 1e-12);
    assert!((half.effective_size - 50.0).abs() < 1e-9);
    assert_eq!(half.shape, f64::INFINITY);
}

#[test]
fn bad_weights_are_refused() {
    let mut weights = vec![0.0; 100];
    weights[17] = f64::NAN;
    assert!(matches!(
        Pareto::new(&weights),
        Err(WeightError::Bad { draw: 17, .. })
    ));
    weights[17] = f64::INFINITY;
    assert!(matches!(
        Pareto::new(&weights),
        Err(WeightError::Bad { draw: 17, .. })
    ));
    assert_eq!(
        Pareto::new(&[f64::NEG_INFINITY; 30]),
        Err(WeightError::Zero)
    );
    assert_eq!(Pareto::new(&[0.0; 3]), Err(WeightError::Few { count: 3 }));
}

#[test]
fn the_error_of_the_evidence_covers_the_truth_as_often_as_it_claims() {
    // q is N(0, 1) and the posterior N(0, s²), whose weights have k = 1 − 1/s² and mean one.
    for (square, draws) in [
        (0.5, 1024),
        (1.2, 1024),
        (2.0, 1024),
        (3.0, 1024),
        (3.0, 4096),
    ] {
        let covered = |seed: u64| {
            let mut noise = vec![0.0; draws];
            Stream::new(seed, "cover", 0).fill_normal(&mut noise);
            let log_weight = |e: &f64| 0.5 * e * e * (1.0 - 1.0 / square) - 0.5 * f64::ln(square);
            let log_weights: Vec<f64> = noise.iter().map(log_weight).collect();
            let found = Pareto::new(&log_weights).unwrap();
            found.log_evidence.abs() < 2.0 * found.log_evidence_error
        };
        let count = (0..200).filter(|seed| covered(*seed)).count();
        // The expected count is 95.4 % of 200, which is 191; three standard deviations of the count
        // are 9.
        assert!(count >= 182, "s² = {square}, {draws} draws: {count}");
    }
}

fn shape(k: f64, draws: usize) -> TailShape {
    TailShape::of(&Pareto {
        log_weights: vec![0.0; draws],
        shape: k,
        effective_size: 0.8 * draws as f64,
        log_evidence: 0.0,
        log_evidence_error: 0.0,
    })
}

#[test]
fn a_shape_is_judged_with_its_uncertainty_and_the_number_of_draws() {
    for (k, draws, expected) in [
        (0.2, 1000, TailShape::Light),
        (0.6, 1000, TailShape::Uncertain),
        (0.6, 1_000_000, TailShape::Light),
        (0.9, 1000, TailShape::Heavy),
        (0.45, 50, TailShape::Uncertain),
        (f64::INFINITY, 1000, TailShape::Heavy),
    ] {
        assert_eq!(shape(k, draws), expected, "{k} {draws}");
    }
}

#[test]
fn weights_that_are_all_but_equal_have_no_tail_that_matters() {
    // 1 + c x with x of a Pareto distribution of shape 1.2.
    let weight = |scale: f64| {
        let mut stream = Stream::new(3, "alike", 0);
        let tail = |u: f64| (1.0 - u).powf(-1.2);
        let log_weights: Vec<f64> = (0..1000)
            .map(|_| (scale * tail(stream.uniform())).ln_1p())
            .collect();
        Pareto::new(&log_weights).unwrap()
    };
    let (even, uneven) = (weight(0.0003), weight(0.3));
    assert!(even.shape > 0.7, "{}", even.shape);
    assert_eq!(TailShape::of(&even), TailShape::Even);
    assert_eq!(TailShape::of(&uneven), TailShape::Heavy);
}
