//! Known values, most of them computed once with `ArviZ` 0.23.4 and `NumPy` 2.4.

use super::*;
use crate::stream::Stream;

/// Autoregressive series driven by a linear congruential generator, which is easy to implement
/// elsewhere.
fn chains(count: u64, draws: usize, carry: f64, shift: f64) -> Vec<Vec<f64>> {
    let chain = |number: u64| {
        let (mut state, mut value) = (number + 1, 0.0);
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let uniform = ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            value = carry * value + uniform - 0.5;
            value + shift * number as f64
        };
        (0..draws).map(|_| next()).collect()
    };
    (0..count).map(chain).collect()
}

fn close(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-10,
        "{found} for {expected}"
    );
}

/// Chains, draws, carry and shift.
type Shape = (u64, usize, f64, f64);

/// R̂, effective sizes of bulk, tail and mean, and error of the mean by `ArviZ`.
const ARVIZ: [(Shape, [f64; 5]); 5] = [
    (
        (4, 200, 0.0, 0.0),
        [
            1.003_810_248_201_038_7,
            782.534_358_585_972_3,
            807.747_440_189_880_5,
            712.244_875_326_200_9,
            0.010_670_750_778_209_087,
        ],
    ),
    (
        (4, 251, 0.7, 0.0),
        [
            1.022_454_689_803_386,
            161.188_451_773_178_63,
            286.262_646_024_365_1,
            161.915_677_213_350_53,
            0.033_086_153_285_612_91,
        ],
    ),
    (
        (3, 100, -0.5, 0.0),
        [
            0.991_757_810_568_636_8,
            743.136_376_415_898_8,
            343.533_360_519_464_17,
            743.136_376_415_898_8,
            0.011_602_093_556_729_524,
        ],
    ),
    (
        (4, 200, 0.3, 0.2),
        [
            1.295_912_821_850_940_1,
            11.728_548_593_198_807,
            79.445_992_536_873_83,
            11.589_491_383_180_262,
            0.111_967_944_292_943_85,
        ],
    ),
    (
        (2, 101, 0.95, 0.0),
        [
            1.356_598_931_433_332_7,
            5.573_055_863_832_709,
            20.228_219_349_256_307,
            5.333_018_896_991_053,
            0.363_239_122_574_323_17,
        ],
    ),
];

#[test]
fn chain_diagnostics_are_those_of_arviz() {
    for (shape, expected) in ARVIZ {
        let (count, draws, carry, shift) = shape;
        let chains = chains(count, draws, carry, shift);
        let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        let found = [
            split_rank_rhat(&chains),
            effective_size_bulk(&chains),
            effective_size_tail(&chains),
            effective_size(&chains),
            mean_error(&chains),
        ];
        for (found, expected) in found.into_iter().zip(expected) {
            close(found, expected);
        }
    }
}

#[test]
fn one_chain_is_enough_for_an_effective_size() {
    let chain = &chains(1, 300, 0.5, 0.0)[0];
    close(effective_size_bulk(&[chain]), 100.273_717_060_098_72);
    close(effective_size_tail(&[chain]), 118.311_043_298_198_68);
    close(mean_error(&[chain]), 0.031_443_555_182_041_3);
    assert!(split_rank_rhat(&[chain]) < 1.05);
}

#[test]
fn short_constant_and_bad_chains_have_defined_answers() {
    assert!(split_rank_rhat(&[&[1.0, 2.0]]).is_nan());
    assert!(effective_size(&[]).is_nan());
    assert!(effective_size_tail(&[&[1.0, f64::NAN, 2.0, 3.0]]).is_nan());
    assert_eq!(effective_size(&[&[2.0; 10], &[2.0; 10]]), 20.0);
}

#[test]
fn quantiles_intervals_and_moments_are_those_of_numpy_and_arviz() {
    let draws: Vec<f64> = chains(1, 50, 0.5, 0.0)[0]
        .iter()
        .map(|x| x.powi(3))
        .collect();
    let ordered = sorted(&draws);
    close(quantile(&ordered, 0.05), -0.157_503_208_450_980_54);
    close(quantile(&ordered, 0.5), 0.000_103_816_759_564_582_63);
    close(quantile(&ordered, 0.937), 0.043_631_381_094_158_24);
    let (low, high) = shortest_interval(&ordered, 0.8);
    close(low, -0.052_184_469_107_869_44);
    close(high, 0.044_210_921_451_820_17);
    close(mean(&draws), -0.007_296_047_524_634_137);
    close(sd(&draws), 0.070_729_301_889_397_67);
}

#[test]
fn edges_of_quantiles_are_the_extreme_draws() {
    let ordered = [1.0, 2.0, 4.0];
    assert_eq!(quantile(&ordered, 0.0), 1.0);
    assert_eq!(quantile(&ordered, 1.0), 4.0);
    assert_eq!(quantile(&[3.0], 0.3), 3.0);
    assert!(quantile(&[], 0.3).is_nan() && mean(&[]).is_nan() && sd(&[1.0]).is_nan());
    assert_eq!(
        quantile(&[0.0, f64::INFINITY, f64::INFINITY], 0.75),
        f64::INFINITY
    );
    assert_eq!(shortest_interval(&ordered, 1.0), (1.0, 4.0));
    assert!(shortest_interval(&[], 0.5).0.is_nan());
}

#[test]
fn equal_weights_give_the_plain_summaries() {
    let draws = &chains(1, 50, 0.5, 0.0)[0];
    let weighted = WeightedSample::new(draws, &[3.0; 50]);
    close(weighted.mean(), mean(draws));
    close(weighted.sd(), sd(draws));
    close(weighted.effective_size(), 50.0);
    let ordered = sorted(draws);
    for probability in [0.0, 0.05, 0.31, 0.5, 0.9, 1.0] {
        close(
            weighted.quantile(probability),
            quantile(&ordered, probability),
        );
    }
    // Forty draws contain a probability of 0.8.
    let (low, high) = weighted.shortest_interval(0.8);
    let (first, last) = shortest_interval(&ordered, 0.78);
    assert_eq!((low, high), (first, last));
    let naive = sd(draws) / 50_f64.sqrt();
    assert!((weighted.mean_error() / naive - 1.0).abs() < 0.02);
}

#[test]
fn importance_weights_turn_one_normal_into_another() {
    let mut draws = vec![0.0; 40_000];
    Stream::new(3, "weighted", 0).fill_normal(&mut draws);
    for x in &mut draws {
        *x *= 1.5;
    }
    // From N(0, 1.5²) to N(0.5, 1).
    let weight = |x: &f64| (-0.5 * (x - 0.5).powi(2) + 0.5 * x * x / 2.25).exp();
    let weights: Vec<f64> = draws.iter().map(weight).collect();
    let weighted = WeightedSample::new(&draws, &weights);
    let error = weighted.mean_error();
    assert!((weighted.mean() - 0.5).abs() < 4.0 * error && error < 0.01);
    assert!((weighted.sd() - 1.0).abs() < 0.03);
    assert!((weighted.quantile(0.975) - 2.46).abs() < 0.06);
    let (low, high) = weighted.shortest_interval(0.9);
    assert!(
        (low + 1.145).abs() < 0.12 && (high - 2.145).abs() < 0.12,
        "{low} {high}"
    );
}

#[test]
fn draws_without_weight_change_nothing() {
    let weighted = WeightedSample::new(&[5.0, 1.0, 2.0, -9.0, 3.0], &[0.0, 1.0, 1.0, 0.0, 1.0]);
    let plain = WeightedSample::new(&[1.0, 2.0, 3.0], &[1.0; 3]);
    for probability in [0.0, 0.2, 0.5, 1.0] {
        close(weighted.quantile(probability), plain.quantile(probability));
    }
    assert_eq!(
        weighted.shortest_interval(0.6),
        plain.shortest_interval(0.6)
    );
    let heavy = WeightedSample::new(&[1.0, 7.0, 9.0], &[0.98, 0.01, 0.01]);
    assert!(heavy.quantile(0.5) < 1.5);
}
