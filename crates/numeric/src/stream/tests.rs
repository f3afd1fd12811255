//! Fixed bits, distributions, and subsets.

use super::*;

fn normals(count: usize) -> Vec<f64> {
    let mut draws = vec![0.0; count];
    Stream::new(1, "normal", 0).fill_normal(&mut draws);
    draws
}

#[test]
fn the_bits_of_a_named_stream_never_change() {
    let mut stream = Stream::new(42, "noise", 7);
    let mut draws = [0.0; 3];
    stream.fill_normal(&mut draws);
    assert_eq!(
        draws.map(f64::to_bits),
        [
            4_586_831_181_490_958_528,
            13_823_309_529_851_505_221,
            13_821_658_306_972_038_469
        ]
    );
    assert_eq!(stream.uniform().to_bits(), 4_601_781_391_324_453_090);
    // The largest of many exercises the tail, where a platform's own logarithm could differ.
    let largest = normals(100_000).into_iter().fold(0.0, f64::max);
    assert_eq!(largest.to_bits(), 4_616_725_085_268_347_346);
}

#[test]
fn every_part_of_the_name_changes_the_stream() {
    let first = |seed, purpose, step| Stream::new(seed, purpose, step).next_u64();
    let long = "a purpose with more than sixteen letters";
    let draws = [
        first(1, "rows", 0),
        first(2, "rows", 0),
        first(1, "row", 0),
        first(1, "rows", 1),
        first(1, "", 0),
        first(1, long, 0),
        first(1, &long[..30], 0),
    ];
    for (place, draw) in draws.iter().enumerate() {
        assert!(!draws[..place].contains(draw));
    }
    assert_eq!(first(1, "rows", 0), draws[0]);
}

#[test]
fn filling_in_pieces_equals_filling_at_once() {
    let whole = normals(1000);
    let mut stream = Stream::new(1, "normal", 0);
    let mut pieces = vec![0.0; 1000];
    for piece in pieces.chunks_mut(7) {
        stream.fill_normal(piece);
    }
    assert_eq!(whole, pieces);
}

#[test]
fn normals_follow_the_normal_distribution_function() {
    let mut draws = normals(1_000_000);
    draws.sort_unstable_by(f64::total_cmp);
    let count = draws.len() as f64;
    let distance = draws.iter().enumerate().fold(0.0, |worst: f64, (rank, x)| {
        let below = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
        worst.max((below - rank as f64 / count).abs())
    });
    // The test statistic exceeds 1.95 with probability 0.001 (Kolmogorov's distribution).
    assert!(distance * count.sqrt() < 1.95, "{distance}");
}

#[test]
fn normal_moments_and_tail_are_right() {
    let draws = normals(2_000_000);
    let count = draws.len() as f64;
    for (power, expected, variance) in [
        (1, 0.0, 1.0),
        (2, 1.0, 2.0),
        (3, 0.0, 15.0),
        (4, 3.0, 96.0),
        (6, 15.0, 10_170.0),
    ] {
        let moment = draws.iter().map(|x| x.powi(power)).sum::<f64>() / count;
        let error: f64 = (moment - expected) / f64::sqrt(variance / count);
        assert!(error.abs() < 4.0, "moment {power}: {error} standard errors");
    }
    let expected = count * libm::erfc(TAIL * std::f64::consts::FRAC_1_SQRT_2);
    let beyond = draws.iter().filter(|x| x.abs() > TAIL).count() as f64;
    assert!(
        (beyond - expected).abs() < 4.0 * expected.sqrt(),
        "{beyond} for {expected}"
    );
}

#[test]
fn uniforms_fill_the_unit_interval() {
    let mut draws = vec![0.0; 100_000];
    Stream::new(3, "uniform", 0).fill_uniform(&mut draws);
    assert!(draws.iter().all(|x| (0.0..1.0).contains(x)));
    let mut counts = [0; 10];
    for x in &draws {
        counts[(x * 10.0) as usize] += 1;
    }
    // Binomial(100000, 0.1) has standard deviation 95.
    assert!(
        counts.iter().all(|&n: &i32| (n - 10_000).abs() < 430),
        "{counts:?}"
    );
}

#[test]
fn every_subset_is_equally_likely_by_both_algorithms() {
    let mut stream = Stream::new(5, "subset", 0);
    for dense in [0, 1] {
        let mut counts = [0_i32; 64];
        for _ in 0..20_000 {
            let mut chosen = [0; 3];
            match dense {
                0 => stream.choose_sparse(6, &mut chosen),
                _ => stream.choose_dense(6, &mut chosen),
            }
            assert!(chosen.is_sorted_by(|a, b| a < b));
            counts[chosen.iter().map(|row| 1 << row).sum::<usize>()] += 1;
        }
        // 20 subsets, Binomial(20000, 1/20): standard deviation 31.
        let seen = counts.iter().filter(|&&n| n > 0);
        assert_eq!(seen.clone().count(), 20);
        assert!(
            seen.into_iter().all(|n| (n - 1000).abs() < 140),
            "{counts:?}"
        );
    }
}

#[test]
fn choosing_all_gives_all_and_choosing_few_of_many_stays_in_range() {
    let mut stream = Stream::new(5, "subset", 1);
    let mut all = [0; 9];
    stream.choose_without_replacement(9, &mut all);
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let mut few = [0; 200];
    stream.choose_without_replacement(1_000_000_000, &mut few);
    assert!(few.is_sorted_by(|a, b| a < b) && few[199] < 1_000_000_000);
    assert!(few[199] > 900_000_000 && few[0] < 100_000_000);
}

#[test]
fn every_order_of_three_is_equally_likely() {
    let mut stream = Stream::new(9, "order", 0);
    let mut counts = [0_i32; 27];
    for _ in 0..12_000 {
        let mut order = [0, 1, 2];
        stream.shuffle(&mut order);
        counts[order[0] * 9 + order[1] * 3 + order[2]] += 1;
    }
    let seen: Vec<_> = counts.iter().filter(|&&n| n > 0).collect();
    assert_eq!(seen.len(), 6);
    // Binomial(12000, 1/6) has standard deviation 41.
    assert!(seen.iter().all(|&&n| (n - 2000).abs() < 180), "{counts:?}");
}

#[test]
fn distinct_integers_increase_and_no_part_has_too_many() {
    let rows = Stream::new(7, "distinct", 0).distinct(100_000, 20_000);
    assert_eq!(rows.len(), 20_000);
    assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
    let half = rows.iter().filter(|row| **row < 50_000).count();
    // Hypergeometric: its standard deviation is 63.
    assert!((half as f64 - 10_000.0).abs() < 4.0 * 63.3, "{half}");
    let all = Stream::new(0, "distinct", 0).distinct(5, 9);
    assert_eq!(all, [0, 1, 2, 3, 4]);
}
