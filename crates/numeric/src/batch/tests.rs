//! Orders, coverage and unbiasedness of batches.

use super::*;
use proptest::prelude::*;

/// The consecutive rows of a step.
fn run(epochs: &mut Epochs, step: u64, batch: &mut [u32]) {
    let first = epochs.consecutive_start(step);
    for (row, at) in batch.iter_mut().zip(first..) {
        *row = (at % epochs.rows) as u32;
    }
}

proptest! {
        #[test]
        fn an_order_holds_every_row_once(count in 1_u64..3000, seed: u64) {
            let order = Permutation::new(count, &mut Stream::new(seed, "order", 0));
            let mut rows = vec![0; count as usize];
            order.fill_places(0, &mut rows);
            prop_assert_eq!(rows[rows.len() / 2], order.at(count / 2));
            rows.sort_unstable();
            prop_assert!(rows.iter().copied().eq(0..count as u32));
        }

        #[test]
        fn batches_of_an_epoch_do_not_overlap(
            rows in 1_u64..500,
            size in 1_usize..60,
            seed: u64,
            pieces: bool,
        ) {
            prop_assume!(size as u64 <= rows);
            let mut epochs = Epochs::new(rows, size, seed, "rows").unwrap();
            for epoch in 0..2 {
                let mut seen = vec![0; rows as usize];
                let mut batch = vec![0; size];
                for step in 0..epochs.steps_per_epoch() {
                    let step = epoch * epochs.steps_per_epoch() + step;
                    if pieces {
                        run(&mut epochs, step, &mut batch);
                    } else {
                        epochs.fill_batch(step, &mut batch);
                    }
                    for &row in &batch {
seen[row as usize] += 1;
}
                }
                prop_assert!(seen.iter().all(|&times| times <= 1));
                let left_out = seen.iter().filter(|&&times| times == 0).count();
                prop_assert_eq!(left_out as u64, rows % size as u64);
            }
        }
    }

/// Pearson's statistic of (row at `first`, row at `second`) over many epochs, in standard
/// deviations from its mean.
fn pair_excess(count: u64, first: u64, second: u64) -> f64 {
    let epochs = 40_000;
    let mut counts = vec![0_u32; (count * count) as usize];
    for epoch in 0..epochs {
        let order = Permutation::new(count, &mut Stream::new(11, "pairs", epoch));
        counts[(u64::from(order.at(first)) * count + u64::from(order.at(second))) as usize] += 1;
    }
    let cells = (count * (count - 1)) as f64;
    let expected = epochs as f64 / cells;
    let statistic: f64 = (0..count * count)
        .filter(|cell| cell / count != cell % count)
        .map(|cell| (f64::from(counts[cell as usize]) - expected).powi(2) / expected)
        .sum();
    (statistic - (cells - 1.0)) / (2.0 * (cells - 1.0)).sqrt()
}

#[test]
fn every_pair_of_rows_is_equally_likely_in_a_batch_even_of_small_tables() {
    for count in [3, 5, 12, 30, 257, 300] {
        for (first, second) in [(0, 1), (0, count - 1), (count / 2, count / 2 + 1)] {
            let excess = pair_excess(count, first, second);
            assert!(
                excess < 4.5,
                "{count} rows, places {first}, {second}: {excess}"
            );
        }
    }
}

#[test]
fn a_batch_total_is_unbiased_with_the_variance_of_sampling_without_replacement() {
    let (rows, size, steps) = (1000_u64, 50_usize, 40_000_u64);
    let mut epochs = Epochs::new(rows, size, 3, "rows").unwrap();
    // Steps of different epochs are independent, steps of one epoch are not.
    let mut batch = vec![0; size];
    let totals: Vec<f64> = (0..steps)
        .map(|step| {
            epochs.fill_batch(step * epochs.steps_per_epoch() + 7, &mut batch);
            batch.iter().map(|&row| f64::from(row)).sum::<f64>()
        })
        .collect();
    let mean = totals.iter().sum::<f64>() / steps as f64;
    let variance = totals.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / steps as f64;
    let population = (1000.0 * 1000.0 - 1.0) / 12.0;
    let expected = 50.0 * population * 950.0 / 999.0;
    assert!((mean - 50.0 * 499.5).abs() < 4.0 * (expected / steps as f64).sqrt());
    assert!((variance / expected - 1.0).abs() < 4.0 * (2.0 / steps as f64).sqrt());
}

#[test]
fn a_billion_rows_cost_no_memory_and_cover_their_range() {
    let mut epochs = Epochs::new(1_000_000_000, 1024, 5, "rows").unwrap();
    let mut batch = vec![0; 1024];
    epochs.fill_batch(123_456_789, &mut batch);
    let mut again = vec![0; 1024];
    epochs.fill_batch(123_456_789, &mut again);
    assert_eq!(batch, again);
    let mut eighths = [0_i32; 8];
    for &row in &batch {
        eighths[(row / 125_000_000) as usize] += 1;
    }
    // Binomial(1024, 1/8) has standard deviation 10.6.
    assert!(eighths.iter().all(|n| (n - 128).abs() < 48), "{eighths:?}");
}

#[test]
fn the_remainder_falls_on_every_row_alike() {
    let mut epochs = Epochs::new(10, 4, 8, "rows").unwrap();
    let mut counts = [0_i32; 10];
    let mut batch = [0; 4];
    for step in 0..40_000 {
        epochs.fill_batch(step, &mut batch);
        for &row in &batch {
            counts[row as usize] += 1;
        }
    }
    // 20000 epochs of Bernoulli(0.8): standard deviation 57.
    assert!(
        counts.iter().all(|n| (n - 16_000).abs() < 240),
        "{counts:?}"
    );
}

#[test]
fn a_batch_larger_than_the_table_is_refused() {
    let error = Epochs::new(10, 11, 0, "rows").unwrap_err();
    assert_eq!(
        error.to_string(),
        "batch: expected between 1 and 10 rows, found 11\n  hint: a batch is drawn without replacement"
    );
    assert!(Epochs::new(10, 0, 0, "rows").is_err());
    assert!(Epochs::new(1 << 33, 4, 0, "rows").is_err());
}

#[test]
fn consecutive_batches_are_runs_in_which_every_row_is_as_likely() {
    let mut epochs = Epochs::new(10, 3, 5, "runs").unwrap();
    let mut counts = [0_u32; 10];
    let mut batch = [0; 3];
    for step in 0..30_000 {
        run(&mut epochs, step, &mut batch);
        for row in &batch {
            counts[*row as usize] += 1;
        }
    }
    // 9,000 each; the standard deviation of a count is below 95.
    assert!(
        counts.iter().all(|count| count.abs_diff(9000) < 400),
        "{counts:?}"
    );
}
