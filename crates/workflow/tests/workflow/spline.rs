//! Splines in formulas: their columns, their estimates, their error messages, and their files.

use std::f64::consts::TAU;

use lehr_infer::fit::Fit;
use lehr_infer::method::{Auto, Collapse, MeanField, Nuts};
use lehr_learn::NewLevels;
use lehr_regression::{Family, Groups, Regression};
use lehr_report::{FunctionCurve, FunctionShape};
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

use crate::{category, number, refusal, regression};

/// A table with y = f(x) + noise, and the month as a periodic column.
fn generated(rows: usize, seed: u64, truth: impl Fn(f64) -> f64, noise: f64) -> Table {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = || -> f64 { StandardUniform.sample(&mut random) };
    let x: Vec<f64> = (0..rows).map(|_| 10.0 * uniform()).collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed + 1);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let y: Vec<f64> = x.iter().map(|x| truth(*x) + noise * normal()).collect();
    number(number(Table::new(), "x", &x), "y", &y)
}

fn wave(x: f64) -> f64 {
    (1.3 * x).sin() + 0.3 * x
}

fn fitted(formula: &str, table: &Table) -> SavedFit {
    let regress = regress(formula, table).unwrap();
    regress
        .with(Fit::new(Auto::default()).seed(7))
        .fit()
        .unwrap()
}

/// The mean of each row and its standard deviation.
fn predicted(fit: &SavedFit, table: &Table) -> (Vec<f64>, Vec<f64>) {
    let all = fit.forecaster(fit.posterior.n_draws());
    let table = all.predict(table, 0).unwrap().table().unwrap();
    let column = |name| table.number(name).unwrap().to_vec();
    (column("y_mean"), column("y_mean_sd"))
}

#[test]
fn functions_are_orthonormal_over_the_rows_and_orthogonal_to_the_line() {
    let table = generated(200, 3, wave, 0.3);
    let x = table.number("x").unwrap();
    for (formula, width) in [
        ("y ~ s(x)", 8),
        ("y ~ s(x, k = 25)", 23),
        ("y ~ s(x, bs = \"ps\", k = 12)", 10),
        ("y ~ s(x, bs = \"cc\")", 8),
    ] {
        let design = regression(formula, Family::Gaussian, &table)
            .design(&table)
            .unwrap();
        let (found, values) = design.matrix("spline1").unwrap();
        assert_eq!(found, width, "{formula}");
        let rows = values.len() / width;
        let column = |j: usize| values.iter().skip(j).step_by(width);
        for j in 0..width {
            let mean = column(j).sum::<f64>() / rows as f64;
            assert!(mean.abs() < 1e-9, "{formula}: {mean}");
            if !formula.contains("cc") {
                let slope: f64 = column(j).zip(x).map(|(a, x)| a * (x - 5.0)).sum();
                assert!((slope / rows as f64).abs() < 1e-8, "{formula}: {slope}");
            }
            for k in 0..=j {
                let product = column(j).zip(column(k)).map(|(a, b)| a * b).sum::<f64>();
                let expected = f64::from(u8::from(j == k));
                assert!(
                    (product / rows as f64 - expected).abs() < 1e-6,
                    "{formula}: {j} {k} {product}"
                );
            }
        }
    }
}

#[test]
fn a_smooth_is_collapsed_and_finds_the_function_with_its_band() {
    let table = generated(500, 11, wave, 0.4);
    for formula in ["y ~ s(x)", "y ~ s(x, bs = \"ps\", k = 15)"] {
        let fit = fitted(formula, &table);
        assert_eq!(fit.posterior.method(), "collapse", "{formula}");
        let grid: Vec<f64> = (0..=40).map(|k| 0.1 + 9.8 * f64::from(k) / 40.0).collect();
        let (means, sds) = predicted(&fit, &number(Table::new(), "x", &grid));
        let errors = grid.iter().zip(means.iter().zip(&sds));
        let scores = errors.map(|(x, (mean, sd))| ((mean - wave(*x)) / sd).powi(2));
        let scores: Vec<f64> = scores.collect();
        let average = scores.iter().sum::<f64>() / scores.len() as f64;
        // About ten independent numbers, whose squares have mean 1 and standard deviation 1.4 each.
        assert!(
            average < 1.0 + 4.0 * 1.4 / 10_f64.sqrt(),
            "{formula}: {average}"
        );
        assert!(sds.iter().all(|sd| *sd < 0.2), "{formula}: {sds:?}");
    }
}

#[test]
fn a_straight_line_is_found_as_one() {
    let table = generated(300, 5, |x| 1.0 + 0.5 * x, 0.5);
    let fit = fitted("y ~ s(x)", &table);
    let found = fit.coefficients(Groups::Leave);
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["Intercept", "x", "sd(s(x))", "sigma"]);
    let slope = found[1].best_summary();
    assert!((slope.mean - 0.5).abs() < 4.0 * slope.sd, "{slope:?}");
    let spread = found[2].best_summary();
    assert!(spread.q50 < 0.3, "{spread:?}");
}

#[test]
fn collapse_and_nuts_agree_on_a_small_table() {
    let table = generated(60, 21, wave, 0.5);
    let grid: Vec<f64> = (0..=10).map(f64::from).map(|x| 0.2 + 0.96 * x).collect();
    let grid = number(Table::new(), "x", &grid);
    let formula = "y ~ s(x, k = 8)";
    let with = |fit: SavedFit| (predicted(&fit, &grid), fit.coefficients(Groups::Leave));
    let regress = || regress(formula, &table).unwrap();
    let (collapse, first) = with(
        regress()
            .with(Fit::new(Collapse::default()).draws(4000).seed(4))
            .fit()
            .unwrap(),
    );
    let (nuts, second) = with(
        regress()
            .with(Fit::new(Nuts::default()).seed(4))
            .fit()
            .unwrap(),
    );
    for (one, other) in first.iter().zip(&second) {
        let (one, other) = (one.best_summary(), other.best_summary());
        let error = one.mcse.unwrap().hypot(other.mcse.unwrap());
        assert!(
            (one.mean - other.mean).abs() < 5.0 * error,
            "{one:?} {other:?}"
        );
        // The error of a standard deviation is about that of a mean over √2, more with a heavy tail.
        assert!(
            (one.sd - other.sd).abs() < 0.15 * one.sd,
            "{one:?} {other:?}"
        );
    }
    for row in 0..11 {
        let (mean, sd) = (collapse.0[row], collapse.1[row]);
        assert!(
            (nuts.0[row] - mean).abs() < 0.2 * sd,
            "{row}: {mean} {}",
            nuts.0[row]
        );
        assert!(
            (nuts.1[row] / sd - 1.0).abs() < 0.15,
            "{row}: {sd} {}",
            nuts.1[row]
        );
    }
}

#[test]
fn a_function_on_a_circle_closes_with_its_slope() {
    let table = generated(300, 8, |x| (TAU * x / 10.0).cos(), 0.3);
    for (formula, period) in [
        ("y ~ s(x, bs = \"cc\", period = 10)", 10.0),
        ("y ~ s(x, bs = \"cc\")", f64::NAN),
    ] {
        let fit = fitted(formula, &table);
        let x = table.number("x").unwrap();
        let low = x.iter().copied().fold(f64::INFINITY, f64::min);
        let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let period = if period.is_nan() { high - low } else { period };
        let step = 1e-4;
        let places = [low - step, low, low + step].map(|x| [x, x + period, x - 3.0 * period]);
        let all = predicted(&fit, &number(Table::new(), "x", &places.concat())).0;
        for three in all.chunks(3) {
            assert!((three[0] - three[1]).abs() < 1e-9, "{formula}: {three:?}");
            assert!((three[0] - three[2]).abs() < 1e-9, "{formula}: {three:?}");
        }
        // The slope before the seam and the one after it.
        let (before, after) = ((all[3] - all[0]) / step, (all[6] - all[3]) / step);
        assert!((before - after).abs() < 1e-2, "{formula}: {before} {after}");
    }
}

#[test]
fn beyond_the_range_a_smooth_goes_on_as_a_line_and_rows_are_counted() {
    let table = generated(200, 3, wave, 0.3);
    let fit = fitted("y ~ s(x)", &table);
    let places = number(
        Table::new(),
        "x",
        &[11.0, 12.0, 13.0, -1.0, -2.0, -3.0, 5.0],
    );
    let means = predicted(&fit, &places).0;
    for three in [&means[..3], &means[3..6]] {
        let bend = three[0] - 2.0 * three[1] + three[2];
        assert!(bend.abs() < 1e-9, "{three:?}");
    }
    let new = fit.subject.regression().unwrap();
    let new = new.bind_new(&places, NewLevels::Sample).unwrap();
    let outside = &new.outside()[0];
    assert_eq!((outside.function.as_str(), outside.rows), ("s(x)", 6));
}

#[test]
fn knots_constraints_and_scales_survive_the_file_bit_by_bit() {
    let table = generated(150, 9, wave, 0.3);
    let fresh = generated(40, 77, wave, 0.3);
    let folder = tempfile::tempdir().unwrap();
    for formula in [
        "y ~ s(x) + (1 | g)",
        "y ~ s(x, bs = \"cc\", period = 5)",
        "y ~ s(x, bs = \"ps\", k = 20)",
        "y ~ ns(x, df = 5)",
        "y ~ ns(log(x + 1), df = 3) + C(g)",
    ] {
        let groups: Vec<&str> = (0..150).map(|row| ["a", "b", "c"][row % 3]).collect();
        let table = category(table.clone(), "g", &groups);
        let fresh = category(fresh.clone(), "g", &groups[..40]);
        let fit = fitted(formula, &table);
        let path = folder.path().join("fit.lehr");
        fit.save(&path).unwrap();
        let loaded = SavedFit::load(&path).unwrap();
        assert_eq!(
            predicted(&fit, &fresh),
            predicted(&loaded, &fresh),
            "{formula}"
        );
        assert_eq!(fit.functions(), loaded.functions());
        // The prediction of a row does not depend on the other rows: nothing is learned from rows
        // to predict.
        let alone = predicted(&loaded, &fresh.select_rows(&[7])).0[0];
        let among = predicted(&loaded, &fresh).0[7];
        assert!((alone - among).abs() < 1e-12, "{formula}: {alone} {among}");
    }
}

#[test]
fn a_report_draws_line_and_bends_together() {
    let table = generated(400, 2, wave, 0.3);
    let fit = fitted("y ~ s(x)", &table);
    let functions = fit.functions();
    let FunctionShape::Curve(FunctionCurve {
        x, mean, low, high, ..
    }) = &functions[0].shape
    else {
        panic!("a function of one column is a curve");
    };
    assert_eq!(functions[0].name, "s(x)");
    let column = table.number("x").unwrap();
    let average = column.iter().map(|x| wave(*x)).sum::<f64>() / 400.0;
    for k in 0..x.len() {
        let known = wave(x[k]) - average;
        let size = (high[k] - low[k]) / 3.29;
        assert!(
            (mean[k] - known).abs() < 5.0 * size,
            "{}: {known} {}",
            x[k],
            mean[k]
        );
    }
}

#[test]
fn columns_of_splines_span_what_r_has_and_go_on_as_documented() {
    let table = generated(120, 4, wave, 0.2);
    let made = regression("y ~ ns(x, df = 4)", Family::Gaussian, &table);
    assert_eq!(made.design(&table).unwrap().matrix("x").unwrap().0, 4);
    let fit = fitted("y ~ ns(x, df = 4)", &table);
    let beyond = predicted(&fit, &number(Table::new(), "x", &[12.0, 14.0, 16.0])).0;
    assert!((beyond[0] - 2.0 * beyond[1] + beyond[2]).abs() < 1e-9);
    let fit = fitted("y ~ bs(x, df = 9)", &table);
    let (means, sds) = predicted(&fit, &table);
    let x = table.number("x").unwrap();
    for row in 0..120 {
        assert!((means[row] - wave(x[row])).abs() < 5.0 * sds[row], "{row}");
    }
    let told = fit.predict(&number(Table::new(), "x", &[5.0, 12.0]));
    let told = told.unwrap_err().to_string();
    assert!(
        told.contains("bs(x, df = 9): expects values from "),
        "{told}"
    );
    assert!(
        told.contains("found 12") && told.contains("hint:"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_smooth_is_refused_with_a_sentence() {
    let few: Vec<f64> = (0..40).map(|row| f64::from(row % 6)).collect();
    let three: Vec<f64> = (0..40).map(|row| f64::from(row % 3)).collect();
    let y: Vec<f64> = (0..40).map(|row| f64::from(row * 7 % 11)).collect();
    let table = number(number(Table::new(), "few", &few), "y", &y);
    let table = number(number(table, "three", &three), "one", &[1.0; 40]);
    let cells: Vec<&str> = (0..40).map(|row| ["a", "b"][row % 2]).collect();
    let table = category(table, "g", &cells);
    for (formula, expected) in [
        (
            "y ~ s(few, k = 7)",
            "s(few): expected k up to 6, the number of distinct values of few, found 7",
        ),
        (
            "y ~ s(three)",
            "s(three): expected at least 4 distinct values of three, found 3",
        ),
        ("y ~ s(three)", "write C(three)"),
        (
            "y ~ s(one)",
            "s(one): expected at least 4 distinct values of one, found 1",
        ),
        (
            "y ~ s(g)",
            "arithmetic needs numbers, but column \"g\" holds text",
        ),
        (
            "y ~ ns(g, df = 3)",
            "arithmetic needs numbers, but column \"g\" holds text",
        ),
        ("y ~ s(few, bs = \"cr\")", "no basis \"cr\""),
        (
            "y ~ ns(few, df = 6)",
            "ns(few, df = 6): df = 6 expects more than 6 distinct values",
        ),
        ("y ~ bs(three, df = 4)", "write a smaller df"),
        ("y ~ s(missing)", "no column \"missing\" in the table"),
    ] {
        let told = refusal(formula, Family::Gaussian, &table);
        assert!(told.contains(expected), "{formula}: {told}");
    }
    // Without k there are as many functions as the values allow.
    let made = regression("y ~ s(few)", Family::Gaussian, &table);
    assert_eq!(made.design(&table).unwrap().matrix("spline1").unwrap().0, 4);
}

#[test]
fn the_spread_takes_a_prior_by_its_name() {
    let table = generated(80, 4, wave, 0.2);
    let made = |prior: &str| {
        Regression::new(
            "y ~ s(x, k = 20)",
            Family::Gaussian,
            &[prior.into()],
            &table,
        )
    };
    let priors = made("sd(s( x )) ~ half_normal(0.5)").unwrap().priors();
    assert!(
        priors.contains(&("sd(s(x))".into(), "half_normal(0.5)".into())),
        "{priors:?}"
    );
    let told = made("sd(s(z)) ~ half_normal(0.5)").unwrap_err().to_string();
    assert!(told.contains("sd(s(x))"), "{told}");
}

#[test]
fn functions_that_no_row_sees_are_known_by_their_prior() {
    // No row lies between 3 and 7, where five of twenty B-splines have their support.
    let full = generated(300, 14, wave, 0.3);
    let x = full.number("x").unwrap();
    let outside: Vec<usize> = (0..300).filter(|row| (x[*row] - 5.0).abs() > 2.0).collect();
    let table = full.select_rows(&outside);
    let fit = fitted("y ~ s(x, bs = \"ps\", k = 30)", &table);
    assert_eq!(fit.posterior.method(), "collapse");
    let (means, sds) = predicted(&fit, &number(Table::new(), "x", &[2.0, 5.0, 8.0]));
    assert!(sds[1] > 3.0 * sds[0] && sds[1] > 3.0 * sds[2], "{sds:?}");
    for (place, x) in [2.0, 5.0, 8.0].iter().enumerate() {
        assert!(
            (means[place] - wave(*x)).abs() < 4.0 * sds[place],
            "{means:?}"
        );
    }
}

#[test]
fn every_family_has_smooths() {
    let table = generated(200, 6, wave, 0.3);
    let x = table.number("x").unwrap();
    let count: Vec<f64> = x.iter().map(|x| (0.5 * wave(*x)).exp().floor()).collect();
    let grade: Vec<&str> = (x.iter().enumerate())
        .map(|(row, x)| ["a", "b", "c"][((x / 3.4) as usize + row % 2).min(2)])
        .collect();
    let table = category(number(table, "count", &count), "grade", &grade);
    for (formula, family) in [
        ("count ~ s(x)", "poisson"),
        ("grade ~ s(x, k = 5)", "categorical"),
        ("grade ~ s(x, k = 5)", "ordinal"),
    ] {
        let fit = regress(formula, &table).unwrap().family(family).unwrap();
        let quick = Fit::new(MeanField::default()).seed(1).unexamined();
        let quick = quick.set("iterations", "100").unwrap();
        let fit = fit.with(quick).fit().unwrap();
        let names: Vec<String> = (fit.coefficients(Groups::Leave).into_iter())
            .map(|one| one.name)
            .collect();
        assert!(
            names.iter().any(|name| name.starts_with("sd(s(x))")),
            "{names:?}"
        );
        let functions = if family == "categorical" { 2 } else { 1 };
        assert_eq!(fit.functions().len(), functions, "{family}");
    }
}
