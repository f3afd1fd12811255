//! Leave-one-out estimates: samples estimate the whole, and folds and fits without a row agree with
//! it.

use lehr_infer::fit::Fit;
use lehr_infer::method::FullRank;
use lehr_numeric::stream::Stream;
use lehr_table::Table;
use lehr_workflow::{Folds, Loo, LooSampling, SavedFit, compare_models, leave_rows_out, regress};

use crate::{category, number};

const ROWS: usize = 120;

fn table() -> Table {
    let mut noise = vec![0.0; 2 * ROWS];
    Stream::new(8, "loo", 0).fill_normal(&mut noise);
    let (x, e) = noise.split_at(ROWS);
    let y: Vec<f64> = x
        .iter()
        .zip(e)
        .map(|(x, e)| 1.0 + 0.8 * x + 0.5 * e)
        .collect();
    let site: Vec<&str> = (0..ROWS).map(|row| ["a", "b", "c", "d"][row % 4]).collect();
    category(number(number(Table::new(), "x", x), "y", &y), "site", &site)
}

fn fit(formula: &str, table: &Table) -> SavedFit {
    let method = Fit::new(FullRank::default()).seed(3).draws(500);
    let fitted = regress(formula, table).unwrap().family("gaussian").unwrap();
    fitted.with(method).fit().unwrap()
}

fn left_out(saved: &SavedFit, table: &Table) -> Loo {
    let rows: Vec<u64> = (0..table.n_rows() as u64).collect();
    let mut loo = Loo::new(saved);
    loo.push(saved.leave_out(table, &rows).unwrap());
    loo
}

#[test]
fn a_sample_of_rows_estimates_the_sum_over_all_within_its_error() {
    let table = table();
    let saved = fit("y ~ x", &table);
    let all = left_out(&saved, &table);
    let whole = all.elpd();
    assert_eq!(whole.sampling_se, 0.0);
    let plain: f64 = all.rows.iter().map(|row| row.left.elpd).sum();
    assert!((whole.estimate - plain).abs() < 1e-9);
    let part = saved.loo(&table, Some(30), 4).unwrap().elpd();
    assert!(
        part.sampling_se > 0.0 && part.sampling_se < 0.2 * whole.se,
        "{part:?}"
    );
    assert!(
        (part.estimate - plain).abs() < 4.0 * part.sampling_se,
        "{part:?} {plain}"
    );
    let summary = all.summary().unwrap();
    assert!(
        (2.0..4.5).contains(&summary.p_loo),
        "three parameters: {summary:?}"
    );
    assert!((summary.elpd_waic - plain).abs() < 0.5 && summary.n_high_k < 3);
}

#[test]
fn rows_left_out_block_by_block_are_those_of_the_whole_table() {
    let table = table();
    let fits = [fit("y ~ x", &table), fit("y ~ x + site", &table)];
    let fits: Vec<&SavedFit> = fits.iter().collect();
    let sampling = LooSampling {
        subsample: Some(30),
        seed: 4,
    };
    let blocks = [0..50, 50..51, 51..ROWS].map(|rows| {
        let rows: Vec<usize> = rows.collect();
        table.select_rows(&rows)
    });
    let found = leave_rows_out(&fits, sampling, &mut |visit| {
        blocks.iter().try_for_each(&mut *visit)
    });
    let found = found.unwrap();
    for (fit, left) in fits.iter().zip(&found) {
        let whole = fit.loo(&table, Some(30), 4).unwrap();
        assert_eq!((left.n_rows, left.rows.len()), (ROWS as u64, 30));
        for (own, other) in left.rows.iter().zip(&whole.rows) {
            assert_eq!(own.row, other.row);
            assert!((own.left.elpd - other.left.elpd).abs() < 1e-9);
        }
        assert!((left.elpd().estimate - whole.elpd().estimate).abs() < 1e-9);
    }
    let none = leave_rows_out(&fits, sampling, &mut |_| Ok(()));
    assert!(none.unwrap_err().to_string().contains("at least one row"));
}

#[test]
fn a_fit_without_a_row_agrees_with_its_smoothed_weights() {
    let table = table();
    let saved = fit("y ~ x", &table);
    let mut loo = left_out(&saved, &table);
    let before = loo.rows[7].left.elpd;
    loo.rows[7].left.shape = 2.0;
    let folds = Folds {
        saved: &saved,
        table: &table,
        seed: 1,
    };
    assert_eq!(folds.refit(&mut loo, 1, &mut |_| ()).unwrap(), 1);
    let after = loo.rows[7].left;
    assert_eq!(after.shape, 0.0);
    assert!(
        (after.elpd - before).abs() < 0.05,
        "{} {before}",
        after.elpd
    );
    assert_ne!(after.elpd, before);
}

#[test]
fn folds_score_every_row_once_and_keep_groups_together() {
    let table = table();
    let saved = fit("y ~ x + (1 | site)", &table);
    let folds = Folds {
        saved: &saved,
        table: &table,
        seed: 2,
    };
    let parts = folds.by("site", 4).unwrap();
    assert!((0..ROWS).all(|row| parts[row] == parts[row % 4]));
    let loo = folds.run(&parts, &mut |_| ()).unwrap();
    assert!(loo.rows.iter().map(|row| row.row).eq(0..ROWS as u64));
    let within = left_out(&saved, &table).elpd();
    let apart = (loo.elpd().estimate - within.estimate).abs();
    assert!(apart < 0.3 * within.estimate.abs(), "{apart} {within:?}");
    let error = folds.by("site", 5).unwrap_err().to_string();
    assert_eq!(error, "--folds: expected from 2 to 4 folds, found 5");
    let even = folds.evenly(7).unwrap();
    let sizes: Vec<usize> = (0..7)
        .map(|k| even.iter().filter(|f| **f == k).count())
        .collect();
    assert!(
        sizes.iter().all(|size| (17..=18).contains(size)),
        "{sizes:?}"
    );
}

#[test]
fn the_model_that_made_the_rows_wins_and_other_responses_are_refused() {
    let table = table();
    let fits = [fit("y ~ 1", &table), fit("y ~ x", &table)];
    let models: Vec<_> = (fits.iter().enumerate())
        .map(|(place, saved)| (format!("m{place}"), saved, left_out(saved, &table)))
        .collect();
    let compared = compare_models(&models).unwrap();
    let [best, other] = &compared.models[..] else {
        panic!("two models")
    };
    assert_eq!((best.name.as_str(), best.difference.estimate), ("m1", 0.0));
    assert!(other.difference.estimate < -4.0 * other.difference.se);
    assert!(best.stacking_weight > 0.9);
    assert!(best.log_evidence.unwrap() > other.log_evidence.unwrap());
    let square = fit("exp(y) ~ x", &table);
    let left = left_out(&square, &table);
    let mixed = [models[0].clone(), ("other".into(), &square, left)];
    assert!(
        compare_models(&mixed)
            .unwrap_err()
            .to_string()
            .contains("one response")
    );
}
