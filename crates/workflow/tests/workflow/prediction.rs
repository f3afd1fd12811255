//! Predictions are averages over draws and not counts of sampled outcomes; the report names the
//! outcomes.

use lehr_infer::fit::Fit;
use lehr_infer::method::MeanField;
use lehr_regression::{Groups, NamedDraws};
use lehr_report::render_page;
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};

use crate::number;

const LEVELS: [&str; 3] = ["poor", "fair", "good"];

fn x() -> Vec<f64> {
    (0..150_u32)
        .map(|row| f64::from(row * 7 % 31) / 15.0 - 1.0)
        .collect()
}

/// Noise within ±1 that is not related to the columns.
fn noise(row: usize) -> f64 {
    (row * row % 17) as f64 / 8.0 - 1.0
}

fn graded() -> Table {
    let x = x();
    let code = |(row, x): (usize, &f64)| match x + noise(row) {
        at if at < -0.4 => 0,
        at if at < 0.5 => 1,
        _ => 2,
    };
    let codes = x.iter().enumerate().map(code).collect();
    let table = number(Table::new(), "x", &x);
    let levels = LEVELS.map(String::from).to_vec();
    table.with_category("quality", codes, levels).unwrap()
}

fn fitted(formula: &str, family: &str, table: &Table) -> SavedFit {
    let fit = Fit::new(MeanField::default()).seed(5);
    let fit = fit.set("iterations", "200").unwrap();
    let regress = regress(formula, table).unwrap().family(family).unwrap();
    regress.with(fit).fit().unwrap()
}

fn draws<'d>(all: &'d [NamedDraws], name: &str) -> &'d [f64] {
    let found = all.iter().find(|one| one.name.as_str() == name);
    &found.unwrap_or_else(|| panic!("no {name}")).values
}

fn sigmoid(at: f64) -> f64 {
    1.0 / (1.0 + (-at).exp())
}

/// The columns predicted with all draws.
fn predicted(fit: &SavedFit, table: &Table) -> Table {
    let all = fit.forecaster(fit.posterior.n_draws());
    all.predict(table, 0).unwrap().table().unwrap()
}

/// The average over the draws as in every summary: weighted if the fit is corrected.
fn average(fit: &SavedFit, values: impl Iterator<Item = f64>) -> f64 {
    let count = fit.posterior.n_draws();
    let weights = if fit.is_corrected() {
        fit.posterior.weights()
    } else {
        vec![1.0 / count as f64; count]
    };
    values
        .zip(weights)
        .map(|(value, weight)| value * weight)
        .sum()
}

fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-10,
        "{found} is not {expected}"
    );
}

#[test]
fn ordinal_probabilities_are_named_and_averaged_over_draws() {
    let table = graded();
    let fit = fitted("quality ~ x", "ordinal", &table);
    let scored = predicted(&fit, &table);
    assert_eq!(
        scored.names(),
        [
            "quality_class",
            "quality[poor]",
            "quality[fair]",
            "quality[good]"
        ]
    );
    let all = fit.raw_draws(Groups::Leave);
    let (slope, cut) = (draws(&all, "x"), draws(&all, "cutpoint[1]"));
    let at = |x: f64| {
        let probability = slope.iter().zip(cut).map(|(b, cut)| sigmoid(cut - b * x));
        average(&fit, probability)
    };
    let column = |name: &str| scored.number(name).unwrap();
    for (row, x) in x().into_iter().enumerate() {
        near(column("quality[poor]")[row], at(x));
        let sum: f64 = LEVELS
            .iter()
            .map(|level| column(&format!("quality[{level}]"))[row])
            .sum();
        near(sum, 1.0);
    }
    let (codes, levels) = scored.category("quality_class").unwrap();
    let best = column("quality[good]")[0] > column("quality[poor]")[0];
    assert_eq!(levels[codes[0] as usize] == "good", best);
}

#[test]
fn class_probabilities_are_averaged_over_draws() {
    let table = graded();
    let fit = fitted("quality ~ x", "categorical", &table);
    let scored = predicted(&fit, &table);
    let all = fit.raw_draws(Groups::Leave);
    let line = |class: &str, x: f64| -> Vec<f64> {
        let at = draws(&all, &format!("Intercept[{class}]"));
        let slope = draws(&all, &format!("x[{class}]"));
        at.iter()
            .zip(slope)
            .map(|(a, b)| (a + b * x).exp())
            .collect()
    };
    for (row, x) in x().into_iter().enumerate() {
        let (fair, good) = (line("fair", x), line("good", x));
        let shares = fair.iter().zip(&good).map(|(f, g)| g / (1.0 + f + g));
        let expected = average(&fit, shares);
        near(scored.number("quality[good]").unwrap()[row], expected);
    }
}

#[test]
fn the_spread_of_a_yes_or_no_is_that_of_its_probability() {
    let table = number(
        graded(),
        "hit",
        &x().iter()
            .enumerate()
            .map(|(row, x)| f64::from(u8::from(x + noise(row) > 0.0)))
            .collect::<Vec<_>>(),
    );
    let fit = fitted("hit ~ x", "bernoulli", &table);
    let scored = predicted(&fit, &table);
    let (p, sd) = (
        scored.number("hit_mean").unwrap(),
        scored.number("hit_sd").unwrap(),
    );
    for row in 0..p.len() {
        near(sd[row], (p[row] * (1.0 - p[row])).sqrt());
        near(scored.number("hit[1]").unwrap()[row], p[row]);
        near(scored.number("hit[0]").unwrap()[row], 1.0 - p[row]);
    }
}

#[test]
fn the_predictive_sd_joins_the_noise_and_the_uncertain_mean() {
    let y: Vec<f64> = x()
        .iter()
        .enumerate()
        .map(|(row, x)| 2.0 * x + noise(row))
        .collect();
    let table = number(graded(), "y", &y);
    let fit = fitted("y ~ x", "gaussian", &table);
    let scored = predicted(&fit, &table);
    let all = fit.raw_draws(Groups::Leave);
    let (at, slope, sigma) = (
        draws(&all, "Intercept"),
        draws(&all, "x"),
        draws(&all, "sigma"),
    );
    let n = sigma.len() as f64;
    let noise = sigma.iter().map(|sigma| sigma * sigma).sum::<f64>() / n;
    for (row, x) in x().into_iter().enumerate() {
        let means: Vec<f64> = at.iter().zip(slope).map(|(a, b)| a + b * x).collect();
        let middle = means.iter().sum::<f64>() / n;
        let spread = means
            .iter()
            .map(|mean| (mean - middle).powi(2))
            .sum::<f64>()
            / n;
        near(scored.number("y_sd").unwrap()[row], (noise + spread).sqrt());
    }
}

#[test]
fn the_report_names_levels_and_lists_priors_once() {
    let fit = fitted("quality ~ x", "ordinal", &graded());
    let shown = render_page(&fit.report());
    for level in LEVELS {
        let tick = format!(">{level}</text>");
        assert!(shown.contains(&tick), "no {tick} on the axis");
    }
    assert!(shown.contains("quality: the order is poor &lt; fair &lt; good"));
    let report = fit.report();
    assert!(!report.priors.is_empty());
    assert!(!report.model.contains('('), "{}", report.model);
}

#[test]
fn a_gross_outlier_is_remarked_and_an_honest_tail_is_not() {
    let y: Vec<f64> = x()
        .iter()
        .enumerate()
        .map(|(row, x)| 2.0 * x + noise(row))
        .collect();
    let clean = number(graded(), "y", &y);
    assert_eq!(fitted("y ~ x", "gaussian", &clean).notes(), [""; 0]);
    let mut typed = y;
    typed[70] = 1234.5;
    let fit = fitted("y ~ x", "gaussian", &number(graded(), "y", &typed));
    let notes = fit.notes().join("\n");
    assert!(
        notes.contains("y: 1 of 150 rows lies far beyond"),
        "{notes}"
    );
    assert!(notes.contains("the farthest 1234.5"), "{notes}");
    assert!(fit.report().notes == fit.notes());
}
