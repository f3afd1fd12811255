//! Smooths by levels and by numbers: their columns, their estimates, their error messages.

use lehr_infer::fit::Fit;
use lehr_infer::method::Auto;
use lehr_learn::NewLevels;
use lehr_regression::{Family, Groups, Purpose, TableBlock};
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

use crate::{category, names, number, refusal, regression};

const LEVELS: [&str; 3] = ["a", "b", "c"];

/// y = 1 + f(level, x, z) + noise.
fn generated(rows: usize, seed: u64, truth: impl Fn(usize, f64, f64) -> f64) -> Table {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut y, mut x, mut z, mut g) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let place: f64 = StandardUniform.sample(&mut random);
        let dose: f64 = StandardNormal.sample(&mut random);
        let noise: f64 = StandardNormal.sample(&mut random);
        y.push(1.0 + truth(row % 3, 10.0 * place, dose) + 0.3 * noise);
        x.push(10.0 * place);
        z.push(dose);
        g.push(LEVELS[row % 3]);
    }
    let table = number(number(number(Table::new(), "y", &y), "x", &x), "z", &z);
    category(table, "g", &g)
}

fn by_level(level: usize, x: f64, _: f64) -> f64 {
    match level {
        0 => x.sin(),
        1 => 0.2 * x,
        _ => 1.0 - (0.7 * x).cos(),
    }
}

fn by_dose(_: usize, x: f64, z: f64) -> f64 {
    0.5 + z * (0.5 + x.sin())
}

fn fitted(formula: &str, table: &Table) -> SavedFit {
    let asked = regress(formula, table).unwrap();
    let fit = asked.with(Fit::new(Auto::default()).seed(7)).fit();
    fit.unwrap_or_else(|error| panic!("{error}"))
}

/// The mean square of (predicted − truth)/sd, and the largest sd.
fn scored(fit: &SavedFit, table: &Table, truth: impl Fn(usize, f64, f64) -> f64) -> (f64, f64) {
    let all = fit.forecaster(fit.posterior.n_draws());
    let found = all.predict(table, 0).unwrap().table().unwrap();
    let column = |name: &str| found.number(name).unwrap().to_vec();
    let (mean, sd) = (column("y_mean"), column("y_mean_sd"));
    let (x, z) = (table.number("x").unwrap(), table.number("z").unwrap());
    let rows = x.len();
    let square = |row: usize| {
        let expected = 1.0 + truth(row % 3, x[row], z[row]);
        ((mean[row] - expected) / sd[row]).powi(2)
    };
    let total: f64 = (0..rows).map(square).sum();
    (total / rows as f64, sd.into_iter().fold(0.0, f64::max))
}

#[test]
fn each_level_has_a_function_of_its_own_with_its_own_spread_and_line() {
    let table = generated(900, 31, by_level);
    let fit = fitted("y ~ g + s(x, by = g)", &table);
    assert_eq!(fit.posterior.method(), "collapse");
    let found = fit.coefficients(Groups::Leave);
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Intercept",
            "g[b]",
            "g[c]",
            "x:g[a]",
            "x:g[b]",
            "x:g[c]",
            "sd(s(x, by = g)[a])",
            "sd(s(x, by = g)[b])",
            "sd(s(x, by = g)[c])",
            "sigma"
        ]
    );
    let (square, widest) = scored(&fit, &table, by_level);
    assert!(square < 1.8 && widest < 0.25, "{square} {widest}");
    // The function of this level is a line, so its curvature is nearly 0.
    let spread = |level: &str| {
        let name = format!("sd(s(x, by = g)[{level}])");
        found
            .iter()
            .find(|one| one.name == name)
            .unwrap()
            .best_summary()
            .mean
    };
    assert!(
        spread("b") < 0.3 * spread("a"),
        "{} {}",
        spread("b"),
        spread("a")
    );
    // A single smooth for all levels does not represent their differences.
    let shared = fitted("y ~ g + s(x)", &table);
    assert!(scored(&shared, &table, by_level).0 > 10.0);
}

#[test]
fn a_number_multiplies_a_function_that_has_its_constant_and_its_line() {
    let table = generated(900, 32, by_dose);
    let fit = fitted("y ~ s(x, by = z)", &table);
    let found = fit.coefficients(Groups::Leave);
    let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        ["Intercept", "z", "x:z", "sd(s(x, by = z))", "sigma"]
    );
    let (square, widest) = scored(&fit, &table, by_dose);
    assert!(square < 1.8 && widest < 0.4, "{square} {widest}");
    let drawn = fit.functions();
    assert_eq!(drawn.len(), 1);
    assert_eq!(drawn[0].multiplier.as_deref(), Some("z"));
}

/// In other units of the column the functions are the same; their standard deviation is per unit.
#[test]
fn the_unit_of_a_multiplier_changes_the_spread_and_no_prediction() {
    let table = generated(300, 33, by_dose);
    let z: Vec<f64> = table
        .number("z")
        .unwrap()
        .iter()
        .map(|z| 100.0 * z)
        .collect();
    let mut other = table.clone();
    other.replace("z", lehr_table::Column::Number(z)).unwrap();
    let (one, two) = (
        fitted("y ~ s(x, by = z)", &table),
        fitted("y ~ s(x, by = z)", &other),
    );
    let spread = |fit: &SavedFit| {
        let all = fit.coefficients(Groups::Leave);
        let own = all.iter().find(|one| one.name == "sd(s(x, by = z))");
        own.unwrap().best_summary().mean
    };
    let ratio = spread(&one) / spread(&two);
    assert!((ratio / 100.0 - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn functions_of_a_level_are_orthonormal_over_its_rows_and_zero_elsewhere() {
    let table = generated(240, 34, by_level);
    let made = regression("y ~ g + s(x, by = g)", Family::Gaussian, &table);
    let design = made.design(&table).unwrap();
    for level in 0..3 {
        let (width, values) = design.matrix(&format!("spline{}", level + 1)).unwrap();
        let rows: Vec<&[f64]> = values.chunks_exact(width).collect();
        let others = (0..240).filter(|row| row % 3 != level);
        assert!(others.flat_map(|row| rows[row]).all(|value| *value == 0.0));
        let own: Vec<&[f64]> = (0..240)
            .filter(|row| row % 3 == level)
            .map(|row| rows[row])
            .collect();
        for i in 0..width {
            for j in 0..=i {
                let sum: f64 = own.iter().map(|row| row[i] * row[j]).sum::<f64>() / 80.0;
                let expected = f64::from(u8::from(i == j));
                assert!((sum - expected).abs() < 1e-6, "{level}: {i} {j} {sum}");
            }
        }
    }
}

#[test]
fn a_smooth_on_a_circle_by_levels_has_no_lines_and_refuses_new_levels() {
    let table = generated(300, 35, by_level);
    let made = regression(
        "y ~ g + s(x, by = g, bs = \"cc\")",
        Family::Gaussian,
        &table,
    );
    assert!(
        !names(&made, &table, Groups::Leave)
            .iter()
            .any(|name| name.contains("x:"))
    );
    let new = category(number(Table::new(), "x", &[1.0]), "g", &["d"]);
    let alone = regression("y ~ s(x, by = g, bs = \"cc\")", Family::Gaussian, &table);
    let refused = alone
        .design_rows(
            &TableBlock::whole(&new),
            Purpose::Predict(NewLevels::Sample),
        )
        .unwrap_err()
        .to_string();
    assert!(refused.contains('d') && refused.contains('g'), "{refused}");
    assert!(alone.bind_new(&new, NewLevels::Reference).is_ok());
}

#[test]
fn priors_are_given_to_all_levels_or_to_one() {
    let table = generated(90, 36, by_level);
    let given = |priors: &[&str]| {
        let priors: Vec<String> = priors.iter().map(ToString::to_string).collect();
        let formula = "y ~ s(x, by = g)";
        let made = lehr_regression::Regression::new(formula, Family::Gaussian, &priors, &table);
        made.unwrap_or_else(|error| panic!("{error}")).priors()
    };
    let priors = given(&[
        "sd(s(x, by = g)) ~ exponential(2)",
        "sd(s(x, by = g)[b]) ~ exponential(5)",
    ]);
    let law = |level: &str| {
        let name = format!("sd(s(x, by = g)[{level}])");
        priors
            .iter()
            .find(|(own, _)| *own == name)
            .unwrap()
            .1
            .clone()
    };
    assert_eq!([law("a"), law("b")], ["exponential(2)", "exponential(5)"]);
}

#[test]
fn levels_with_too_few_values_are_named() {
    let table = generated(90, 37, by_level);
    let mut levels: Vec<&str> = (0..90).map(|row| LEVELS[row % 3]).collect();
    levels[4] = "rare";
    let rare = category(
        number(
            number(Table::new(), "y", table.number("y").unwrap()),
            "x",
            table.number("x").unwrap(),
        ),
        "g",
        &levels,
    );
    let text = refusal("y ~ g + s(x, by = g)", Family::Gaussian, &rare);
    assert!(text.contains("s(x, by = g)[rare]"), "{text}");
    assert!(text.contains("join rare levels of g"), "{text}");
    let text = refusal("y ~ s(x, by = x)", Family::Gaussian, &rare);
    assert!(
        text.contains("another column than the one smoothed"),
        "{text}"
    );
}
