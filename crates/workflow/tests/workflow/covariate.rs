//! Covariates that are measured with error or missing in some rows: `me(x, sd)`, `mi(x)`.

use std::collections::HashMap;

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::{FullRank, Nuts};
use lehr_infer::posterior::Posterior;
use lehr_model::Model;
use lehr_model::distribution::{Bernoulli, Distribution as _, HalfNormal, Normal};
use lehr_regression::{Family, Groups, Regression, Specification};
use lehr_table::Table;
use lehr_workflow::{SavedFit, compare_models, regress};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use crate::{
    coefficients, densities, joint, near, normal, number, point, refusal, regression, sigmoid,
};

const GAP: f64 = f64::NAN;

/// Rows of a true covariate N(3, 1.5²), observed as `x` with errors of standard deviation `s`, as
/// `z` with each third value missing, and responses around 1 + 0.8 of it: `y` a number, `hit` 0 or
/// 1.
fn generated(rows: usize, seed: u64) -> Table {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
    let (mut x, mut z, mut y, mut s) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut w, mut hit) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let truth = 3.0 + 1.5 * draw();
        let spread = if row % 2 == 0 { 0.8 } else { 1.6 };
        let other = draw();
        x.push(truth + spread * draw());
        z.push(if row % 3 == 1 { GAP } else { truth });
        s.push(spread);
        y.push(1.0 + 0.8 * truth + 0.5 * other + 0.7 * draw());
        // Logistic noise.
        let u = 0.5 * libm::erfc(-draw() / std::f64::consts::SQRT_2);
        let noise = (u / (1.0 - u)).ln();
        hit.push(f64::from(u8::from(-2.4 + 0.8 * truth + noise > 0.0)));
        w.push(other);
    }
    let table = number(number(Table::new(), "y", &y), "x", &x);
    let table = number(number(table, "z", &z), "s", &s);
    number(number(table, "w", &w), "hit", &hit)
}

/// The distribution of a row's true value: mean, variance, and the log density of the observation.
fn known(found: &HashMap<String, f64>, label: &str, seen: f64, error: f64) -> [f64; 3] {
    let (mean, sd) = (
        found[&format!("{label}.mean")],
        found[&format!("{label}.sd")],
    );
    if seen.is_nan() {
        return [mean, sd * sd, 0.0];
    }
    let total = sd * sd + error * error;
    let centre = mean + (seen - mean) * sd * sd / total;
    let variance = sd * sd * error * error / total;
    [centre, variance, normal(seen, mean, total.sqrt())]
}

fn closed(formula: &str, label: &str, seen: &str) {
    let table = generated(9, 3);
    let made = regression(formula, Family::Gaussian, &table);
    let density = made.bind(&table).unwrap();
    assert!(density.locals().is_none(), "closed form");
    let z = point(density.latents().size());
    let found = coefficients(&made, &density, &z);
    let (_, rows) = densities(&density, &z);
    for (row, value) in rows.iter().enumerate() {
        let at = |name: &str| table.number(name).unwrap()[row];
        let error = if seen == "x" { at("s") } else { 0.0 };
        let [centre, variance, of_seen] = known(&found, label, at(seen), error);
        let slope = found[label];
        let mean = found["Intercept"] + slope * centre + found["w"] * at("w");
        let sigma = (found["sigma"].powi(2) + slope * slope * variance).sqrt();
        near(*value, normal(at("y"), mean, sigma) + of_seen);
    }
}

#[test]
fn normal_responses_take_the_variance_of_the_truth_up_in_closed_form() {
    closed("y ~ w + me(x, s)", "me(x)", "x");
    closed("y ~ w + mi(z)", "mi(z)", "z");
}

#[test]
fn other_responses_have_the_truth_as_a_latent_of_the_row() {
    let table = generated(9, 4);
    for (formula, label, seen) in [
        ("hit ~ w + me(x, s)", "me(x)", "x"),
        ("hit ~ w + mi(z)", "mi(z)", "z"),
    ] {
        let made = regression(formula, Family::Bernoulli, &table);
        let density = made.bind(&table).unwrap();
        let z = point(density.latents().size());
        let found = coefficients(&made, &density, &z);
        let own: Vec<f64> = (0..9).map(|row| (1.3 * f64::from(row)).sin()).collect();
        for (row, value) in joint(&density, &z, &own).iter().enumerate() {
            let at = |name: &str| table.number(name).unwrap()[row];
            let error = if seen == "x" { at("s") } else { 0.0 };
            let [centre, variance, of_seen] = known(&found, label, at(seen), error);
            let truth = centre + variance.sqrt() * own[row];
            let eta = found["Intercept"] + found[label] * truth + found["w"] * at("w");
            let sign = 2.0 * at("hit") - 1.0;
            let expected = sigmoid(sign * eta).ln() + normal(own[row], 0.0, 1.0) + of_seen;
            near(*value, expected);
        }
    }
}

fn fitted<'t>(formula: &str, family: &str, table: &'t Table, fit: Fit<'t>) -> SavedFit {
    let asked = regress(formula, table).unwrap_or_else(|e| panic!("{e}"));
    let asked = asked.family(family).unwrap();
    asked.with(fit).fit().unwrap_or_else(|e| panic!("{e}"))
}

fn checked(fit: &SavedFit, truths: &[(&str, f64, f64)]) {
    let all = fit.coefficients(Groups::Leave);
    for (name, truth, most) in truths {
        let one = all
            .iter()
            .find(|one| one.name == *name)
            .unwrap()
            .best_summary();
        let off = (one.mean - truth) / one.sd;
        assert!(off.abs() < 3.5 && one.sd < *most, "{name}: {one:?}");
    }
}

#[test]
fn fits_find_the_slope_that_errors_would_flatten() {
    let table = generated(800, 11);
    let quick = || Fit::new(FullRank::default()).seed(2).unexamined();
    let fit = fitted("y ~ w + me(x, s)", "gaussian", &table, quick());
    let truths = [
        ("Intercept", 1.0, 0.4),
        ("w", 0.5, 0.1),
        ("me(x)", 0.8, 0.1),
        ("me(x).mean", 3.0, 0.2),
        ("me(x).sd", 1.5, 0.2),
        ("sigma", 0.7, 0.2),
    ];
    checked(&fit, &truths);
    let naive = fitted("y ~ w + x", "gaussian", &table, quick());
    let all = naive.coefficients(Groups::Leave);
    let slope = all
        .iter()
        .find(|one| one.name == "x")
        .unwrap()
        .best_summary();
    assert!((slope.mean - 0.8) / slope.sd < -8.0, "{slope:?}");
    let fit = fitted("hit ~ me(x, s)", "bernoulli", &table, quick());
    checked(&fit, &[("Intercept", -2.4, 0.6), ("me(x)", 0.8, 0.2)]);
}

#[test]
fn fits_use_rows_whose_covariate_is_missing() {
    let table = generated(600, 12);
    let quick = || Fit::new(FullRank::default()).seed(2).unexamined();
    let fit = fitted("y ~ w + mi(z)", "gaussian", &table, quick());
    let truths = [
        ("Intercept", 1.0, 0.2),
        ("w", 0.5, 0.06),
        ("mi(z)", 0.8, 0.05),
        ("mi(z).mean", 3.0, 0.1),
        ("mi(z).sd", 1.5, 0.1),
        ("sigma", 0.7, 0.05),
    ];
    checked(&fit, &truths);
    let notes = fit.subject.regression().unwrap().notes().join(" ");
    assert!(
        notes.contains("mi(z): missing in 200 of 600 rows"),
        "{notes}"
    );
    let fit = fitted("hit ~ mi(z)", "bernoulli", &table, quick());
    checked(&fit, &[("Intercept", -2.4, 0.6), ("mi(z)", 0.8, 0.2)]);
}

const PRIORS: [&str; 4] = [
    "Intercept ~ normal(0, 2)",
    "me(x) ~ normal(0, 1)",
    "me(x).mean ~ normal(3, 1)",
    "me(x, s).sd ~ half_normal(2)",
];

/// The true values of all rows sampled jointly with the other latents.
fn sampled_jointly(table: &Table) -> Posterior {
    let rows = table.n_rows();
    let ids: Vec<f64> = (0..rows).map(|row| row as f64).collect();
    let model = Model::new(move |m| {
        let intercept = m.sample("Intercept", Normal::new(0.0, 2.0));
        let slope = m.sample("me(x)", Normal::new(0.0, 1.0));
        let mean = m.sample("me(x).mean", Normal::new(3.0, 1.0));
        let spread = m.sample("me(x).sd", HalfNormal::new(2.0));
        let standard = m.sample("true", Normal::new(0.0, 1.0).expand([rows]));
        m.rows(|row| {
            let truth = standard.at(row.index("id")) * spread + mean;
            row.observe("hit", Bernoulli::with_logit(truth * slope + intercept));
            row.observe("x", Normal::new(truth, row.number("s")));
        });
    });
    let bound = model.bind(&number(table.clone(), "id", &ids)).unwrap();
    Fit::new(Nuts::default()).seed(6).run(&bound).unwrap()
}

#[test]
fn the_integrated_posterior_is_that_of_chains_over_all_true_values() {
    let table = generated(60, 8);
    let mut asked = regress("hit ~ me(x, s)", &table).unwrap();
    for prior in PRIORS {
        asked = asked.prior(prior).unwrap();
    }
    let fit = Fit::new(Nuts::default()).seed(5);
    let integrated = asked.with(fit).fit().unwrap();
    let truth = sampled_jointly(&table).summaries();
    for one in integrated.coefficients(Groups::Leave) {
        let site = truth.iter().find(|site| one.name == site.name).unwrap();
        let best = one.best_summary();
        let off = (best.mean - site.mean).abs() / site.sd;
        assert!(off < 0.2, "{site:?} {best:?}");
        assert!((best.sd / site.sd - 1.0).abs() < 0.2, "{site:?} {best:?}");
    }
}

#[test]
fn new_rows_are_predicted_by_what_is_seen_of_them_also_from_a_file() {
    let table = generated(300, 9);
    let quick = || Fit::new(FullRank::default()).seed(2).unexamined();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    let fit = fitted("y ~ mi(z)", "gaussian", &table, quick());
    fit.save(&path).unwrap();
    let loaded = SavedFit::load(&path).unwrap();
    let rows = number(Table::new(), "z", &[5.0, GAP]);
    let means = loaded.predict(&rows).unwrap().means().unwrap();
    assert_eq!(means, fit.predict(&rows).unwrap().means().unwrap());
    assert!(
        (means[0] - 5.0).abs() < 0.3 && (means[1] - 3.4).abs() < 0.3,
        "{means:?}"
    );
    let fit = fitted("y ~ me(x, s)", "gaussian", &table, quick());
    let rows = number(number(Table::new(), "x", &[6.0, 6.0]), "s", &[0.01, 50.0]);
    let means = fit.predict(&rows).unwrap().means().unwrap();
    // A row whose measurement is very imprecise is predicted like any other row.
    assert!(
        (means[0] - 5.8).abs() < 0.5 && (means[1] - 3.4).abs() < 0.3,
        "{means:?}"
    );
}

#[test]
fn what_cannot_be_is_refused_with_a_sentence() {
    let table = generated(30, 5);
    let table = number(table, "zero", &[0.0; 30]);
    let table = number(table, "nothing", &[f64::NAN; 30]);
    for (formula, family, expected) in [
        (
            "y ~ me(x)",
            Family::Gaussian,
            "me(...) takes a column and the sd of its errors, found 1",
        ),
        (
            "y ~ me(x, 0)",
            Family::Gaussian,
            "errors have a standard deviation above 0",
        ),
        (
            "y ~ me(x, zero)",
            Family::Gaussian,
            "me(x, zero), row 1: expected errors of a standard deviation above 0, found 0\n  \
             hint: give every row the spread of its error, a small one where x is as good as exact, or write x alone",
        ),
        (
            "y ~ me(x, s) + mi(z)",
            Family::Gaussian,
            "me(x, s) is there already, and one such term is supported\n  \
             y ~ me(x, s) + mi(z)\n                 \
             ^^^^^  write the better known of the two as a plain column, and leave out rows that \
             lack it with --missing drop",
        ),
        (
            "y ~ x + me(x, s)",
            Family::Gaussian,
            "\"x\" is read as it stands here, and by me(x, s)",
        ),
        (
            "y ~ me(x, s):w",
            Family::Gaussian,
            "a covariate with errors or gaps has one slope for all rows",
        ),
        (
            "y ~ (me(x, s) | w)",
            Family::Gaussian,
            "add it with +; a covariate with errors or gaps has one slope for all groups",
        ),
        (
            "y ~ mi(nothing)",
            Family::Gaussian,
            "mi(nothing): expected a value in some rows, found none in 30 rows\n  hint: leave the term out",
        ),
        (
            "y ~ mi(zero)",
            Family::Gaussian,
            "mi(zero): expected values that differ",
        ),
        ("y ~ z", Family::Gaussian, "10 missing, the first in row 2"),
    ] {
        let told = refusal(formula, family, &table);
        assert!(told.contains(expected), "{formula}: {told}");
    }
}

#[test]
fn a_prior_of_the_wrong_support_is_refused_for_the_mean_of_a_covariate() {
    let table = generated(30, 5);
    let wrong = ["me(x).mean ~ half_normal(1)".into()];
    let told = Regression::new("y ~ me(x, s)", Family::Gaussian, &wrong, &table);
    assert!(told.is_err());
}

#[test]
fn a_parameter_cannot_read_a_covariate_with_gaps_as_it_stands() {
    let table = generated(30, 5);
    let names = table.names().to_vec();
    let formulas = |text: &str| {
        let made = Specification::parse("y ~ mi(z)", &names).unwrap();
        made.with_formulas(&[text.to_owned()], &names)
    };
    let told = formulas("sigma ~ z").err().unwrap().to_string();
    assert_eq!(
        told,
        "formula:1:9: \"z\" is read as it stands here, and by mi(z)\n  sigma ~ z\n          ^  leave out one of the two"
    );
    assert!(formulas("sigma ~ w").is_ok());
}

#[test]
fn models_that_do_not_score_the_covariate_alike_are_not_compared() {
    let table = generated(120, 17);
    let fit = |formula: &str| {
        let quick = Fit::new(FullRank::default()).seed(2).unexamined();
        fitted(formula, "gaussian", &table, quick)
    };
    let fits = [
        fit("y ~ me(x, s)"),
        fit("y ~ w + me(x, s)"),
        fit("y ~ w + x"),
    ];
    let named = |place: usize| {
        let one = &fits[place];
        (place.to_string(), one, one.loo(&table, None, 0).unwrap())
    };
    assert!(compare_models(&[named(0), named(1)]).is_ok());
    let refused = compare_models(&[named(1), named(2)])
        .unwrap_err()
        .to_string();
    let expected = "compare: expected models that score the same columns, found me(x, s) and none";
    assert!(refused.starts_with(expected), "{refused}");
}
