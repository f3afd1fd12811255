//! Monotonic effects in formulas: their contribution to each row, their estimates and their error
//! messages.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::{FullRank, Nuts};
use lehr_regression::{Family, Groups, Regression};
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use crate::{category, coefficients, densities, near, normal, number, point, refusal, regression};

const SIZES: [&str; 4] = ["small", "mid", "large", "huge"];
const ORDERED: &str = "y ~ mo(size, levels = c(\"small\", \"mid\", \"large\", \"huge\"))";

/// Rows of four sizes with these means; the sizes are also the numbers 1, 2, 4 and 8.
fn generated(rows: usize, seed: u64, means: [f64; 4]) -> Table {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
    let y: Vec<f64> = (0..rows)
        .map(|row| means[row % 4] + 0.5 * noise())
        .collect();
    let sizes: Vec<&str> = (0..rows).map(|row| SIZES[row % 4]).collect();
    let number_of = |row: usize| [1.0, 2.0, 4.0, 8.0][row % 4];
    let numbers: Vec<f64> = (0..rows).map(number_of).collect();
    let table = number(number(Table::new(), "y", &y), "rank", &numbers);
    category(table, "size", &sizes)
}

#[test]
fn a_level_has_the_slope_times_the_steps_before_it() {
    let table = generated(12, 3, [0.0, 1.0, 2.0, 3.0]);
    for formula in [ORDERED, "y ~ mo(rank)"] {
        let made = regression(formula, Family::Gaussian, &table);
        let density = made.bind(&table).unwrap();
        let z = point(density.latents().size());
        let found = coefficients(&made, &density, &z);
        let label = if formula == ORDERED {
            "mo(size)"
        } else {
            "mo(rank)"
        };
        let steps: Vec<f64> = match label {
            "mo(size)" => SIZES[1..].to_vec(),
            _ => vec!["2", "4", "8"],
        }
        .into_iter()
        .map(|level| found[&format!("{label}.step[{level}]")])
        .collect();
        near(steps.iter().sum(), 1.0);
        let (_, rows) = densities(&density, &z);
        for (row, y) in table.number("y").unwrap().iter().enumerate() {
            let way: f64 = steps[..row % 4].iter().sum();
            let mean = found["Intercept"] + found[label] * 3.0 * way;
            near(rows[row], normal(*y, mean, found["sigma"]));
        }
    }
}

#[test]
fn a_fit_finds_the_steps_up_and_down() {
    for means in [[1.0, 1.2, 2.6, 3.0], [3.0, 2.6, 1.2, 1.0]] {
        let table = generated(800, 11, means);
        let fit = regress(ORDERED, &table).unwrap();
        let fit = fit.with(Fit::new(Nuts::default()).seed(2)).fit().unwrap();
        let found = fit.coefficients(Groups::Leave);
        let way = means[3] - means[0];
        let expected = [
            ("Intercept", means[0]),
            ("mo(size)", way / 3.0),
            ("mo(size).step[mid]", (means[1] - means[0]) / way),
            ("mo(size).step[large]", (means[2] - means[1]) / way),
            ("mo(size).step[huge]", (means[3] - means[2]) / way),
            ("sigma", 0.5),
        ];
        for (one, (name, value)) in found.iter().zip(expected) {
            let best = one.best_summary();
            assert_eq!(one.name, name);
            assert!(
                (best.mean - value).abs() < 4.0 * best.sd,
                "{name}: {best:?} {value}"
            );
            assert!(best.sd < 0.1, "{name}: {best:?}");
        }
    }
}

#[test]
fn the_order_survives_the_file_and_new_levels_are_refused() {
    let table = generated(100, 5, [0.0, 1.0, 1.5, 3.0]);
    let fit = Fit::new(FullRank::default()).seed(1);
    let fit = fit.set("iterations", "500").unwrap();
    let fit = regress(ORDERED, &table).unwrap().with(fit).fit().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    fit.save(&path).unwrap();
    let loaded = SavedFit::load(&path).unwrap();
    let rows = category(Table::new(), "size", &["huge", "small", "large", "mid"]);
    let means = |fit: &SavedFit| fit.predict(&rows).unwrap().means().unwrap();
    let found = means(&fit);
    assert_eq!(found, means(&loaded));
    assert!(found[1] < found[3] && found[3] < found[2] && found[2] < found[0]);
    let told = loaded.predict(&category(Table::new(), "size", &["tiny", "mid"]));
    let told = told.unwrap_err().to_string();
    assert!(
        told.contains("the level \"tiny\" was not in the table"),
        "{told}"
    );
}

#[test]
fn what_has_no_order_is_refused_with_a_sentence() {
    let table = generated(120, 5, [0.0, 1.0, 1.5, 3.0]);
    let many: Vec<f64> = (0..120).map(f64::from).collect();
    let two: Vec<f64> = (0..120).map(|row| f64::from(row % 2)).collect();
    let table = number(number(table, "many", &many), "two", &two);
    for (formula, expected) in [
        (
            "y ~ mo(size)",
            "mo(size) needs the order of its levels, which are text",
        ),
        (
            "y ~ mo(size)",
            "write mo(size, levels = c(\"low\", \"mid\", \"high\"))",
        ),
        (
            "y ~ mo(two)",
            "mo(two): expected at least 3 levels, found 2",
        ),
        ("y ~ mo(many)", "write s(many) for a smooth function"),
        ("y ~ mo(rank):two", "this cannot stand next to :"),
        ("y ~ mo(log(rank))", "mo(...) takes the name of a column"),
        (
            "y ~ mo(size, levels = c(\"small\", \"mid\", \"large\"))",
            "\"huge\" is not among levels",
        ),
        ("y ~ (mo(rank) | two)", "this cannot vary by group"),
    ] {
        let told = refusal(formula, Family::Gaussian, &table);
        assert!(told.contains(expected), "{formula}: {told}");
    }
}

#[test]
fn slope_and_steps_take_priors_by_their_names() {
    let table = generated(40, 5, [0.0, 1.0, 1.5, 3.0]);
    let given = [
        "mo(rank) ~ normal(0, 1)".into(),
        "mo( rank ).step ~ dirichlet(2)".into(),
    ];
    let made = Regression::new("y ~ mo(rank)", Family::Gaussian, &given, &table).unwrap();
    let priors = made.priors();
    for (name, law) in [
        ("mo(rank)", "normal(0, 1)"),
        ("mo(rank).step", "dirichlet(2)"),
    ] {
        assert!(priors.contains(&(name.into(), law.into())), "{priors:?}");
    }
    let wrong = ["mo(rank).step ~ normal(0, 1)".into()];
    assert!(Regression::new("y ~ mo(rank)", Family::Gaussian, &wrong, &table).is_err());
}
