//! Censored and truncated responses.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::FullRank;
use lehr_regression::{Family, Groups};
use lehr_table::Table;
use lehr_workflow::{Error, SavedFit, regress};
use libm::{erfc, lgamma};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};

use crate::{category, coefficients, densities, near, normal, number, point, refusal, regression};

const X: [f64; 8] = [0.2, -0.4, 1.1, 0.9, -1.3, 0.0, 0.7, -0.8];
const Y: [f64; 8] = [1.0, 3.0, 2.0, 7.0, 4.0, 2.0, 5.0, 1.0];
const UPPER: [f64; 8] = [0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 6.0, 3.0];
const STATUS: [&str; 8] = [
    "none", "left", "right", "interval", "Right", "left", "interval", "interval",
];
/// The same as numbers.
const CODE: [f64; 8] = [0.0, -1.0, 1.0, 2.0, 1.0, -1.0, 2.0, 2.0];

fn table() -> Table {
    let table = number(number(Table::new(), "y", &Y), "x", &X);
    let table = number(number(table, "u", &UPPER), "code", &CODE);
    category(table, "c", &STATUS)
}

/// P(Y ≤ y) of each family at a predictor, by hand.
fn below(family: Family, y: f64, at: f64, own: f64) -> f64 {
    let phi = |z: f64| 0.5 * erfc(-z / std::f64::consts::SQRT_2);
    match family {
        Family::Gaussian => phi((y - at) / own),
        Family::LogNormal => phi((y.ln() - at) / own),
        Family::Exponential => -(-y * (-at).exp()).exp_m1(),
        Family::Weibull => {
            let scale = (at - lgamma(1.0 + 1.0 / own)).exp();
            -(-(y / scale).powf(own)).exp_m1()
        }
        _ => (0..=y as u32)
            .map(|k| (f64::from(k) * at - at.exp() - lgamma(f64::from(k) + 1.0)).exp())
            .sum(),
    }
}

fn log_density(family: Family, y: f64, at: f64, own: f64) -> f64 {
    match family {
        Family::Gaussian => normal(y, at, own),
        Family::LogNormal => normal(y.ln(), at, own) - y.ln(),
        Family::Exponential => -at - y * (-at).exp(),
        Family::Weibull => {
            let t = y.ln() - at + lgamma(1.0 + 1.0 / own);
            own.ln() - y.ln() + own * t - (own * t).exp()
        }
        _ => y * at - at.exp() - lgamma(y + 1.0),
    }
}

const FAMILIES: [(Family, &str); 5] = [
    (Family::Gaussian, "sigma"),
    (Family::LogNormal, "sigma"),
    (Family::Exponential, ""),
    (Family::Weibull, "shape"),
    (Family::Poisson, ""),
];

/// The predictor of every row, the family's parameter, and the rows' log likelihoods.
fn rows(formula: &str, family: Family, own: &str) -> (Vec<f64>, f64, Vec<f64>) {
    let table = table();
    let made = regression(formula, family, &table);
    let density = made.bind(&table).unwrap();
    let z = point(density.latents().size());
    let found = coefficients(&made, &density, &z);
    let at = X.map(|x| found["Intercept"] + found["x"] * x).to_vec();
    let (_, likelihood) = densities(&density, &z);
    (at, found.get(own).copied().unwrap_or(1.0), likelihood)
}

#[test]
fn a_censored_row_counts_by_the_probability_of_what_is_known() {
    for (family, own) in FAMILIES {
        for formula in ["y | cens(c, u) ~ x", "y | cens(code, upper = u) ~ x"] {
            let (at, own, found) = rows(formula, family, own);
            for row in 0..Y.len() {
                let under = |y: f64| below(family, y, at[row], own);
                let expected = match CODE[row] {
                    -1.0 => under(Y[row]).ln(),
                    1.0 => (1.0 - under(Y[row])).ln(),
                    2.0 => (under(UPPER[row]) - under(Y[row])).ln(),
                    _ => log_density(family, Y[row], at[row], own),
                };
                near(found[row], expected);
            }
        }
    }
}

#[test]
fn a_truncated_row_is_divided_by_the_probability_of_being_there() {
    for (family, own) in FAMILIES {
        // A count equal to its limit is allowed.
        let least = if family == Family::Poisson { 0.0 } else { 0.5 };
        for (formula, limits) in [
            ("y | trunc(lb = 0.5) ~ x", [Some(least), None]),
            ("y | trunc(ub = 7.5) ~ x", [None, Some(7.5)]),
            ("y | trunc(0.5, 2 * 5) ~ x", [Some(least), Some(10.0)]),
        ] {
            let (at, own, found) = rows(formula, family, own);
            for row in 0..Y.len() {
                let under =
                    |y: Option<f64>, none: f64| y.map_or(none, |y| below(family, y, at[row], own));
                let mass = under(limits[1], 1.0) - under(limits[0], 0.0);
                let whole = log_density(family, Y[row], at[row], own);
                near(found[row], whole - mass.ln());
            }
        }
    }
}

/// Rows of (y, x, c) with y around 1 + 0.8 x, made by `draw` of the predictor.
fn generated(rows: usize, seed: u64, mut draw: impl FnMut(f64, &mut ChaCha8Rng) -> f64) -> Table {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut y, mut x) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let at: f64 = StandardNormal.sample(&mut random);
        x.push(at);
        y.push(draw(1.0 + 0.8 * at, &mut random));
    }
    number(number(Table::new(), "y", &y), "x", &x)
}

/// The table with responses above `end` replaced by it, and a column that marks them.
fn ended(table: &Table, end: f64) -> Table {
    let y = table.number("y").unwrap();
    let cut: Vec<f64> = y.iter().map(|y| y.min(end)).collect();
    let status: Vec<&str> = y
        .iter()
        .map(|y| if *y > end { "right" } else { "none" })
        .collect();
    let rest = number(Table::new(), "x", table.number("x").unwrap());
    category(number(rest, "y", &cut), "c", &status)
}

/// The rows whose response is at least `least`.
fn kept(table: &Table, least: f64) -> Table {
    let y = table.number("y").unwrap();
    let rows: Vec<usize> = (0..y.len()).filter(|row| y[*row] >= least).collect();
    table.select_rows(&rows)
}

fn fitted(formula: &str, family: &str, table: &Table) -> SavedFit {
    let asked = regress(formula, table).unwrap().family(family).unwrap();
    let fit = Fit::new(FullRank::default()).seed(4).unexamined();
    asked.with(fit).fit().unwrap_or_else(|e| panic!("{e}"))
}

/// The error of a coefficient in posterior standard deviations, and that standard deviation.
fn off(fit: &SavedFit, name: &str, truth: f64) -> (f64, f64) {
    let all = fit.coefficients(Groups::Leave);
    let one = all
        .iter()
        .find(|one| one.name == name)
        .unwrap()
        .best_summary();
    ((one.mean - truth) / one.sd, one.sd)
}

#[test]
fn censored_fits_find_what_made_the_data_and_naive_ones_do_not() {
    let whole = generated(600, 21, |at, random| {
        let noise: f64 = StandardNormal.sample(random);
        at + 0.7 * noise
    });
    let table = ended(&whole, 1.5);
    let fit = fitted("y | cens(c) ~ x", "gaussian", &table);
    for (name, truth) in [("Intercept", 1.0), ("x", 0.8), ("sigma", 0.7)] {
        let (off, sd) = off(&fit, name, truth);
        assert!(off.abs() < 3.5 && sd < 0.06, "{name}: {off} of {sd}");
    }
    let naive = fitted("y ~ x", "gaussian", &table);
    assert!(off(&naive, "x", 0.8).0 < -8.0);
    let waits = generated(600, 22, |at, random| {
        let wait: f64 = Exp1.sample(random);
        at.exp() / libm::tgamma(1.0 + 1.0 / 1.5) * wait.powf(1.0 / 1.5)
    });
    let fit = fitted("y | cens(c) ~ x", "weibull", &ended(&waits, 3.0));
    for (name, truth) in [("Intercept", 1.0), ("x", 0.8), ("shape", 1.5)] {
        let (off, sd) = off(&fit, name, truth);
        assert!(off.abs() < 3.5 && sd < 0.12, "{name}: {off} of {sd}");
    }
}

#[test]
fn truncated_fits_find_what_made_the_data_and_naive_ones_do_not() {
    let whole = generated(1500, 23, |at, random| {
        let noise: f64 = StandardNormal.sample(random);
        at + 0.7 * noise
    });
    let table = kept(&whole, 0.8);
    let fit = fitted("y | trunc(lb = 0.8) ~ x", "gaussian", &table);
    for (name, truth) in [("Intercept", 1.0), ("x", 0.8), ("sigma", 0.7)] {
        let (off, sd) = off(&fit, name, truth);
        assert!(off.abs() < 3.5 && sd < 0.12, "{name}: {off} of {sd}");
    }
    let naive = fitted("y ~ x", "gaussian", &table);
    assert!(off(&naive, "x", 0.8).0 < -6.0);
    let counts = generated(1000, 24, |at, random| {
        Poisson::new(at.exp()).unwrap().sample(random)
    });
    let fit = fitted("y | trunc(lb = 2) ~ x", "poisson", &kept(&counts, 2.0));
    for (name, truth) in [("Intercept", 1.0), ("x", 0.8)] {
        let (off, sd) = off(&fit, name, truth);
        assert!(off.abs() < 3.5 && sd < 0.06, "{name}: {off} of {sd}");
    }
}

#[test]
fn predictions_are_of_the_whole_response_of_censored_fits_and_of_the_kept_one_of_truncated_fits() {
    let whole = generated(400, 25, |at, random| {
        let noise: f64 = StandardNormal.sample(random);
        at + 0.7 * noise
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    let fit = fitted("y | cens(c) ~ x", "gaussian", &ended(&whole, 1.2));
    fit.save(&path).unwrap();
    let loaded = SavedFit::load(&path).unwrap();
    // Neither the response nor its censoring is needed.
    let rows = number(Table::new(), "x", &[0.0, 2.0]);
    let means = loaded.predict(&rows).unwrap().means().unwrap();
    assert_eq!(means, fit.predict(&rows).unwrap().means().unwrap());
    assert!((means[1] - 2.6).abs() < 0.3, "{means:?}");
    let fit = fitted("y | trunc(lb = 0.8) ~ x", "gaussian", &kept(&whole, 0.8));
    fit.save(&path).unwrap();
    let loaded = SavedFit::load(&path).unwrap();
    let predicted = loaded.predict(&rows).unwrap();
    let means = predicted.means().unwrap();
    // E(y | y > 0.8) for a mean of 1 and a standard deviation of 0.7: 1 + 0.7 φ(−2/7)/Φ(2/7)
    assert!((means[0] - 1.438).abs() < 0.1, "{means:?}");
    let least = predicted.responses().iter().flatten();
    assert!(least.copied().fold(f64::INFINITY, f64::min) >= 0.8);
}

#[test]
fn what_would_compare_bounds_with_predictions_is_left_out() {
    let whole = generated(200, 26, |at, random| {
        let noise: f64 = StandardNormal.sample(random);
        at + 0.7 * noise
    });
    let table = ended(&whole, 1.2);
    let fit = fitted("y | cens(c) ~ x", "gaussian", &table);
    assert!(fit.data_check.predictive.is_none() && fit.data_check.residuals.is_empty());
    let scores = fit.evaluate(&table).unwrap();
    assert_eq!(scores.rmse, None);
    assert!(scores.log_likelihood_per_row.is_finite());
    // Without the columns of censoring the responses cannot be scored.
    let bare = number(Table::new(), "x", table.number("x").unwrap());
    let bare = number(bare, "y", table.number("y").unwrap());
    let told = fit.evaluate(&bare).unwrap_err();
    assert!(matches!(told, Error::NoResponse { .. }), "{told}");
    let truncated = fitted("y | trunc(lb = 0.8) ~ x", "gaussian", &kept(&whole, 0.8));
    assert!(truncated.data_check.predictive.is_some());
    assert!(
        truncated
            .evaluate(&kept(&whole, 0.8))
            .unwrap()
            .rmse
            .is_some()
    );
}

#[test]
fn bounds_that_cannot_be_are_refused_by_row() {
    let table = table();
    for (formula, family, expected) in [
        (
            "y | cens(x) ~ 1",
            Family::Gaussian,
            "cens(x), row 1: expected none, left, right or interval, or 0, -1, 1 or 2, found 0.2",
        ),
        (
            "y | cens(c) ~ x",
            Family::Gaussian,
            "cens(c), row 4: expected where the interval ends, found interval and no upper end",
        ),
        (
            "y | cens(c, x) ~ 1",
            Family::Gaussian,
            "cens(c, x), row 4: expected an interval that ends above 7, its start, found 0.9",
        ),
        (
            "y | trunc(lb = 2) ~ x",
            Family::Gaussian,
            "column \"y\", row 1: expected 2 or more, by trunc(lb = 2), found 1",
        ),
        (
            "y | trunc(0, u) ~ x",
            Family::Gaussian,
            "trunc(lb = 0, ub = u), row 1: expected an upper limit above 0, the lower one, found 0\n  \
             hint: lb is the least that was kept, ub the largest",
        ),
        (
            "y | cens(c, u) ~ x",
            Family::Student,
            "student: expected a response without cens(...) and trunc(...)",
        ),
        (
            "y | trunc(lb = 0) ~ x",
            Family::Gamma,
            "the families gaussian, lognormal, exponential, weibull and poisson have them",
        ),
        (
            "y | cens(c) + trunc(lb = 0) ~ x",
            Family::Gaussian,
            "a response is either censored or truncated here",
        ),
        (
            "y | trunc(lb = y) ~ x",
            Family::Gaussian,
            "name a column of its own, which says what is known of it",
        ),
    ] {
        let told = refusal(formula, family, &table);
        assert!(told.contains(expected), "{formula}: {told}");
    }
}
