//! Functions of many columns by inducing points in formulas.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::FullRank;
use lehr_learn::NewLevels;
use lehr_regression::{Family, Regression};
use lehr_report::{FunctionCurve, FunctionShape, FunctionSurface};
use lehr_table::Table;
use lehr_workflow::{EffectAverager, EffectQuestion, SavedFit, regress};

use crate::{number, refusal, regression};

fn place(row: usize, column: usize) -> f64 {
    let pace = [0.618_034, 0.414_214, 0.236_068][column];
    10.0 * (pace * (row + 1) as f64).fract()
}

fn truth(row: usize) -> f64 {
    let [a, b, c] = [0, 1, 2].map(|column| place(row, column));
    (0.5 * a).sin() * (0.3 * b).cos() + 0.1 * c
}

fn table(rows: usize) -> Table {
    let noise = |row: usize| 0.1 * ((row * row % 101) as f64 / 29.3 - 1.73);
    let y: Vec<f64> = (0..rows)
        .map(|row| 5.0 + 3.0 * (truth(row) + noise(row)))
        .collect();
    let columns = ["a", "b", "c"].iter().enumerate();
    let table = columns.fold(Table::new(), |table, (column, name)| {
        let values: Vec<f64> = (0..rows).map(|row| place(row, column)).collect();
        number(table, name, &values)
    });
    let table = number(table, "one", &vec![1.0; rows]);
    number(table, "y", &y)
}

#[test]
fn three_columns_are_a_function_by_points_with_what_is_learned_as_parameters() {
    let table = table(200);
    let made = regression("y ~ gp(a, b, c, k = 30)", Family::Gaussian, &table);
    let density = made.bind(&table).unwrap();
    let names = |layout: &lehr_density::Layout| -> Vec<(String, usize)> {
        let sites = layout.sites().iter();
        sites
            .map(|site| (site.name.clone(), site.shape().size()))
            .collect()
    };
    let label = "gp(a, b, c)";
    let site = |name: &str, size: usize| (format!("{label}.{name}"), size);
    assert_eq!(
        names(density.params()),
        [site("scale", 1), site("lengthscale", 3), site("point", 90)]
    );
    assert!(names(density.latents()).contains(&site("weight", 30)));
    let usual = regression("y ~ gp(a, b, how = inducing)", Family::Gaussian, &table);
    assert_eq!(usual.bind(&table).unwrap().latents().size(), 128 + 2);
}

#[test]
fn a_fit_by_points_finds_the_function_and_survives_its_file() {
    let table = table(300);
    let fit = regress("y ~ gp(a, b, c, k = 20)", &table).unwrap();
    let fit = fit.with(Fit::new(FullRank::default()).seed(3).draws(300));
    let fit = fit.fit().unwrap();
    let means = |fit: &SavedFit| fit.predict(&table).unwrap().means().unwrap();
    let found = means(&fit);
    let errors = (0..300).map(|row| (found[row] - 5.0 - 3.0 * truth(row)).powi(2));
    let error = (errors.sum::<f64>() / 300.0).sqrt();
    assert!(error < 0.3, "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    fit.save(&path).unwrap();
    assert_eq!(found, means(&SavedFit::load(&path).unwrap()));
}

#[test]
fn rows_outside_the_fitted_range_are_counted() {
    let table = table(100);
    let made = regression("y ~ gp(a, b, c, k = 9)", Family::Student, &table);
    let mut new = Table::new();
    for (name, values) in [("a", [1.0, 2.0]), ("b", [1.0, 99.0]), ("c", [3.0, 3.0])] {
        new = number(new, name, &values);
    }
    let rows = made.bind_new(&new, NewLevels::Sample).unwrap();
    let outside = &rows.outside()[0];
    assert_eq!(
        (outside.function.as_str(), outside.rows),
        ("gp(a, b, c)", 1)
    );
}

#[test]
fn what_cannot_be_fitted_by_points_is_refused_with_what_to_write() {
    let table = table(150);
    let told = |formula: &str| refusal(formula, Family::Gaussian, &table);
    let count: Vec<f64> = (0..150).map(|row| f64::from(row % 7)).collect();
    let counts = number(table.clone(), "n", &count);
    let poisson = refusal("n ~ gp(a, b, c)", Family::Poisson, &counts);
    assert!(
        poisson.starts_with("gp(a, b, c): expected family gaussian, student or bernoulli"),
        "{poisson}"
    );
    let two = told("y ~ gp(a, b, c) + gp(a, b, how = inducing)");
    assert!(
        two.contains("at most one function by inducing points"),
        "{two}"
    );
    let constant = told("y ~ gp(a, b, one)");
    assert!(
        constant.starts_with("gp(a, b, one): expected values of one that differ, found 1"),
        "{constant}"
    );
    let many = told("y ~ gp(a, b, c, k = 151)");
    assert!(many.contains("expected k up to 150"), "{many}");
}

/// The true function of two columns; the third column has no effect.
fn surface(rows: usize) -> Table {
    let noise = |row: usize| 0.1 * ((row * row % 101) as f64 / 29.3 - 1.73);
    let y: Vec<f64> = (0..rows)
        .map(|row| bump(place(row, 0), place(row, 1)) + noise(row))
        .collect();
    let table = number(table(rows), "z", &y);
    let wave: Vec<f64> = (0..rows)
        .map(|row| place(row, 0).sin() + noise(row))
        .collect();
    number(table, "wave", &wave)
}

fn bump(a: f64, b: f64) -> f64 {
    2.0 * (0.6 * a).sin() * (0.4 * b).cos()
}

#[test]
fn functions_by_points_of_one_and_two_columns_are_drawn() {
    let table = surface(200);
    let drawn = |formula: &str| {
        let fit = regress(formula, &table).unwrap();
        let fit = fit.with(
            Fit::new(FullRank::default())
                .unexamined()
                .seed(3)
                .draws(300),
        );
        fit.fit().unwrap().report().functions
    };
    let one = drawn("wave ~ gp(a, how = inducing, k = 10)");
    let FunctionShape::Curve(FunctionCurve {
        x,
        mean,
        low,
        high,
        places,
    }) = &one[0].shape
    else {
        panic!("a curve");
    };
    assert_eq!(places.len(), 200);
    for k in 0..x.len() {
        let off = mean[k] - mean[60] - x[k].sin() + x[60].sin();
        assert!(off.abs() < 0.2, "at {}: {off}", x[k]);
        assert!(low[k] < mean[k] && mean[k] < high[k]);
    }
    let two = drawn("z ~ gp(a, b, how = inducing, k = 16)");
    assert_eq!(two[0].inputs, ["a", "b"]);
    let FunctionShape::Surface(FunctionSurface { x, y, mean, sd, .. }) = &two[0].shape else {
        panic!("a surface");
    };
    let truth = |k: usize| bump(x[k % x.len()], y[k / x.len()]);
    let shift = (0..mean.len()).map(|k| mean[k] - truth(k)).sum::<f64>() / mean.len() as f64;
    let inner = (0..mean.len()).filter(|k| {
        let (column, row) = (k % x.len(), k / x.len());
        (5..36).contains(&column) && (5..36).contains(&row)
    });
    for k in inner {
        let off = mean[k] - shift - truth(k);
        assert!(off.abs() < 0.4, "at {k}: {off}");
    }
    assert!(sd.iter().all(|sd| *sd > 0.0 && *sd < 2.0));
}

#[test]
fn effects_of_a_column_are_those_of_the_function_that_reads_it() {
    let table = surface(200);
    let fit = regress("z ~ gp(a, b, how = inducing, k = 16)", &table).unwrap();
    let fit = fit.with(
        Fit::new(FullRank::default())
            .unexamined()
            .seed(3)
            .draws(300),
    );
    let fit = fit.fit().unwrap();
    let question = EffectQuestion {
        at: vec![("b".into(), "2".into())],
        ..EffectQuestion::new("a")
    };
    let forecaster = fit.forecaster(fit.posterior.n_draws());
    let mut averager = EffectAverager::new(&forecaster, &question).unwrap();
    averager.push(&table).unwrap();
    let found = averager.finish().unwrap();
    let is_prediction = |effect: &&lehr_workflow::EffectEstimate| effect.value.is_some();
    let predictions: Vec<_> = found.effects.iter().filter(is_prediction).collect();
    assert_eq!(predictions.len(), 5);
    let first = (predictions[0].summary.mean, predictions[0].value.unwrap());
    for one in &predictions[1..] {
        let rise = one.summary.mean - first.0;
        let known = bump(one.value.unwrap(), 2.0) - bump(first.1, 2.0);
        assert!((rise - known).abs() < 0.4, "{}: {rise} {known}", one.name);
    }
}

#[test]
fn a_million_places_are_no_more_work_than_some_thousand() {
    let table = table(1_000_000);
    for formula in ["y ~ gp(a)", "y ~ gp(a, b)", "y ~ gp(a, b, c, k = 50)"] {
        let made = Regression::new(formula, Family::Gaussian, &[], &table);
        made.unwrap_or_else(|error| panic!("{formula}: {error}"));
    }
}

#[test]
fn missing_values_of_any_column_are_counted() {
    let mut gap: Vec<f64> = (0..150).map(|row| place(row, 1)).collect();
    gap[7] = f64::NAN;
    let table = number(table(150), "gap", &gap);
    assert_eq!(
        refusal("y ~ gp(a, gap, c)", Family::Gaussian, &table),
        "column \"gap\": expected a value in every row, found 1 missing, the first in row 8\n  \
         hint: leave such rows out with --missing drop"
    );
}
