//! Group terms: shapes, names, crossed and nested groups, correlated slopes.

use lehr_density::Density;
use lehr_regression::{Family, Groups};
use lehr_table::Table;

use crate::{category, coefficients, densities, names, near, normal, number, point, regression};

const Y: [f64; 6] = [1.0, 2.5, -0.3, 4.0, 0.7, 3.3];
const DOSE: [f64; 6] = [10.0, 20.0, 30.0, 20.0, 40.0, 10.0];
const SITE: [&str; 6] = ["a", "b", "a", "c", "b", "c"];
const WARD: [f64; 6] = [1.0, 1.0, 2.0, 1.0, 10.0, 1.0];

fn table() -> Table {
    repeated(1)
}

/// The rows repeated `times` times: with many rows per group the sites are the effects themselves.
fn repeated(times: usize) -> Table {
    let table = number(Table::new(), "y", &Y.repeat(times));
    let table = number(table, "dose", &DOSE.repeat(times));
    let table = category(table, "site", &SITE.repeat(times));
    number(table, "ward", &WARD.repeat(times))
}

fn shape(formula: &str, site: &str) -> Option<Vec<usize>> {
    let table = table();
    let bound = regression(formula, Family::Gaussian, &table)
        .bind(&table)
        .unwrap();
    let position = bound.latents().position(site)?;
    Some(bound.latents().sites()[position].dims.clone())
}

#[test]
fn sites_have_one_entry_for_each_group_and_effect() {
    assert_eq!(shape("y ~ 1 + (1 | site)", "standard(site)"), Some(vec![3]));
    assert_eq!(shape("y ~ 1 + (1 | site)", "sd(site)"), Some(vec![]));
    let slopes = "y ~ dose + (1 + dose | site)";
    assert_eq!(shape(slopes, "standard(site)"), Some(vec![3, 2]));
    assert_eq!(shape(slopes, "sd(site)"), Some(vec![2]));
    assert_eq!(shape(slopes, "cor(site)"), Some(vec![2, 2]));
    let apart = "y ~ dose + (1 + dose || site)";
    assert_eq!(shape(apart, "standard(site)"), Some(vec![3, 2]));
    assert_eq!(shape(apart, "cor(site)"), None);
}

#[test]
fn nested_groups_are_the_combinations_that_occur() {
    let formula = "y ~ 1 + (1 | site/ward)";
    assert_eq!(shape(formula, "standard(site)"), Some(vec![3]));
    assert_eq!(shape(formula, "standard(site:ward)"), Some(vec![5]));
    let table = table();
    let regression = regression(formula, Family::Gaussian, &table);
    assert_eq!(
        names(&regression, &table, Groups::Include),
        [
            "Intercept",
            "sd(site)",
            "sd(site:ward)",
            "sigma",
            "site[a]",
            "site[b]",
            "site[c]",
            "site:ward[a:1]",
            "site:ward[a:2]",
            "site:ward[b:1]",
            "site:ward[b:10]",
            "site:ward[c:1]"
        ]
    );
}

#[test]
fn names_are_those_of_the_manual() {
    let table = table();
    let formula = "y ~ dose*site + (1 | ward) + (1 + dose | site)";
    let regression = regression(formula, Family::Gaussian, &table);
    assert_eq!(
        names(&regression, &table, Groups::Leave),
        [
            "Intercept",
            "dose",
            "site[b]",
            "site[c]",
            "dose:site[b]",
            "dose:site[c]",
            "sd(ward)",
            "sd(site, Intercept)",
            "sd(site, dose)",
            "cor(site, Intercept, dose)",
            "sigma"
        ]
    );
    let all = names(&regression, &table, Groups::Include);
    assert_eq!(
        all[11..15],
        ["ward[1]", "ward[2]", "ward[10]", "site[a, Intercept]"]
    );
}

/// The density of all rows computed from the reported group effects, in either parametrisation.
fn check(formula: &str, effect: impl Fn(&dyn Fn(&str) -> f64, usize) -> f64) {
    check_on(&repeated(1), formula, &effect);
    check_on(&repeated(20), formula, &effect);
}

fn check_on(table: &Table, formula: &str, effect: &impl Fn(&dyn Fn(&str) -> f64, usize) -> f64) {
    let regression = regression(formula, Family::Gaussian, table);
    let bound = regression.bind(table).unwrap();
    let z = point(bound.latents().size());
    let named = coefficients(&regression, &bound, &z);
    for (row, found) in densities(&bound, &z).1.iter().enumerate() {
        let row = row % Y.len();
        let at = |name: &str| named[name];
        let mean = named["Intercept"] + named["dose"] * DOSE[row] + effect(&at, row);
        near(*found, normal(Y[row], mean, named["sigma"]));
    }
}

#[test]
fn reported_effects_are_those_of_the_rows() {
    check("y ~ dose + (1 | site) + (1 | ward)", |at, row| {
        at(&format!("site[{}]", SITE[row])) + at(&format!("ward[{}]", WARD[row]))
    });
    check("y ~ dose + (1 | ward:site)", |at, row| {
        at(&format!("ward:site[{}:{}]", WARD[row], SITE[row]))
    });
    let both = |at: &dyn Fn(&str) -> f64, row: usize| {
        let site = SITE[row];
        at(&format!("site[{site}, Intercept]")) + at(&format!("site[{site}, dose]")) * DOSE[row]
    };
    check("y ~ dose + (1 + dose | site)", both);
    check("y ~ dose + (1 + dose || site)", both);
    check("y ~ dose + (0 + dose | site)", |at, row| {
        at(&format!("site[{}, dose]", SITE[row])) * DOSE[row]
    });
    check("y ~ dose + (1 | site) + (0 + dose | site)", |at, row| {
        let site = SITE[row];
        at(&format!("site[{site}]")) + at(&format!("site[{site}, dose]")) * DOSE[row]
    });
}

#[test]
fn spreads_and_correlations_are_those_of_the_effects() {
    let table = table();
    let regression = regression("y ~ dose + (1 + dose | site)", Family::Gaussian, &table);
    let bound = regression.bind(&table).unwrap();
    let mut z = point(bound.latents().size());
    let standard = bound
        .latents()
        .range(bound.latents().position("standard(site)").unwrap());
    let named = |z: &[f64]| coefficients(&regression, &bound, z);
    // The columns of the effects' Cholesky factor are the effects of unit vectors.
    z[standard.clone()].copy_from_slice(&[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let found = named(&z);
    let row = |effect: &str| {
        [
            found[&format!("site[a, {effect}]")],
            found[&format!("site[b, {effect}]")],
        ]
    };
    let (first, second) = (row("Intercept"), row("dose"));
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    near(found["sd(site, Intercept)"], dot(first, first).sqrt());
    near(found["sd(site, dose)"], dot(second, second).sqrt());
    let correlation = dot(first, second) / (dot(first, first) * dot(second, second)).sqrt();
    near(found["cor(site, Intercept, dose)"], correlation);
    assert!(correlation.abs() > 0.01);
}

#[test]
fn numbers_texts_and_truths_can_all_be_groups() {
    let table = table()
        .with_boolean("flag", vec![true, false, true, true, false, false])
        .unwrap();
    let regression = regression("y ~ 1 + (1 | flag) + (1 | ward)", Family::Gaussian, &table);
    let found = names(&regression, &table, Groups::Include);
    assert_eq!(
        found[4..],
        [
            "flag[false]",
            "flag[true]",
            "ward[1]",
            "ward[2]",
            "ward[10]"
        ]
    );
}

#[test]
fn both_forms_are_one_model_in_two_coordinates() {
    let formula = "y ~ dose + (1 + dose || site)";
    let joint = |table: &Table, site: &str, spread_power: f64| {
        let regression = regression(formula, Family::Gaussian, table);
        let bound = regression.bind(table).unwrap();
        let latents = bound.latents();
        let mut z = point(latents.size());
        let spreads = z[latents.range(latents.position("sd(site)").unwrap())].to_vec();
        let own = latents.range(latents.position(site).unwrap());
        let mut volume = 0.0;
        for (place, z) in z[own].iter_mut().enumerate() {
            // Positive sites are logarithms in z.
            let log_spread = spread_power * spreads[place % 2];
            *z *= log_spread.exp();
            volume += log_spread;
        }
        densities(&bound, &z).0 + volume
    };
    let standard = joint(&repeated(1), "standard(site)", 0.0);
    let effect = joint(&repeated(20), "effect(site)", 1.0);
    near(effect, standard);
}
