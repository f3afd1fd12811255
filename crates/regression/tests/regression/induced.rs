//! Functions of many columns by inducing points in formulas.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::FullRank;
use lehr_regression::{Family, NewLevels, SavedFit, regress};
use lehr_table::Table;

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
