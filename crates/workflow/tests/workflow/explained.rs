//! Shares of variance compared with those of the generated table.

use std::collections::HashMap;

use lehr_infer::fit::Fit;
use lehr_numeric::stream::Stream;
use lehr_report::Summary;
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};

use crate::{category, number};

const GROUPS: usize = 80;
const ROWS: usize = 1600;
const SLOPE: f64 = 0.8;
const SPREAD: f64 = 0.6;

/// η = 0.8 x + u_g with x standard normal and u_g of standard deviation 0.6; y = η + ε, or whether
/// that is positive with logistic noise.
fn table() -> Table {
    let mut random = Stream::new(11, "rows", 0);
    let effects: Vec<f64> = (0..GROUPS).map(|_| SPREAD * random.normal()).collect();
    let names: Vec<String> = (0..ROWS).map(|row| format!("g{}", row % GROUPS)).collect();
    let x: Vec<f64> = (0..ROWS).map(|_| random.normal()).collect();
    let predictor: Vec<f64> = (x.iter().enumerate())
        .map(|(row, x)| SLOPE * x + effects[row % GROUPS])
        .collect();
    let y: Vec<f64> = predictor.iter().map(|eta| eta + random.normal()).collect();
    let hit = |eta: &f64| f64::from(u8::from(random.uniform() < (1.0 + (-eta).exp()).recip()));
    let z: Vec<f64> = predictor.iter().map(hit).collect();
    let count = |eta: &f64| eta.exp().round();
    let counts: Vec<f64> = predictor.iter().map(count).collect();
    let table = number(number(number(Table::new(), "x", &x), "y", &y), "z", &z);
    let angles: Vec<f64> = y.iter().map(|y| y.sin().atan2(y.cos())).collect();
    let table = number(number(table, "counts", &counts), "angle", &angles);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    category(table, "g", &names)
}

fn shares(formula: &str, family: &str) -> HashMap<String, Summary> {
    shares_by(Fit::default(), &table(), (formula, family))
}

fn shares_by<'t>(
    fit: Fit<'t>,
    table: &'t Table,
    (formula, family): (&str, &str),
) -> HashMap<String, Summary> {
    let regress = regress(formula, table).unwrap().family(family).unwrap();
    let saved: SavedFit = regress.with(fit.seed(5)).fit().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    saved.save(&path).unwrap();
    let again = SavedFit::load(&path).unwrap().explained();
    assert_eq!(saved.explained(), again);
    let found = again.into_iter();
    found
        .map(|one| (one.name.clone(), *one.best_summary()))
        .collect()
}

#[track_caller]
fn agrees(found: &Summary, truth: f64) {
    let distance = (found.mean - truth).abs();
    assert!(
        distance < 3.0 * found.sd,
        "{} ± {}, {truth}",
        found.mean,
        found.sd
    );
}

#[test]
fn a_share_of_sorted_rows_is_that_of_all_rows_with_its_sampling_error() {
    let mut random = Stream::new(12, "sorted rows", 0);
    let mut x: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
    x.sort_unstable_by(f64::total_cmp);
    let y: Vec<f64> = x.iter().map(|x| SLOPE * x + random.normal()).collect();
    let table = number(number(Table::new(), "x", &x), "y", &y);
    let found = shares_by(Fit::default(), &table, ("y ~ x", "gaussian"));
    let share = &found["R2"];
    agrees(share, SLOPE * SLOPE / (SLOPE * SLOPE + 1.0));
    // All rows determine it to 0.005. A sample of 1,000 of them determines the variance of x to √(2/1000) of itself.
    let sampling = share.mean * (1.0 - share.mean) * (2.0 / 1000_f64).sqrt();
    assert!(
        (0.6..1.6).contains(&(share.sd / sampling)),
        "{} and {sampling}",
        share.sd
    );
}

#[test]
fn shares_of_a_normal_response_are_those_that_made_it() {
    let found = shares("y ~ x + (1 | g)", "gaussian");
    let (columns, groups) = (SLOPE * SLOPE, SPREAD * SPREAD);
    agrees(
        &found["R2 conditional"],
        (columns + groups) / (columns + groups + 1.0),
    );
    agrees(&found["R2 marginal"], columns / (columns + groups + 1.0));
    agrees(&found["ICC(g)"], groups / (groups + 1.0));
    assert_eq!(found.len(), 3);
}

#[test]
fn the_share_of_groups_of_a_binary_response_is_on_the_scale_of_the_predictor() {
    let found = shares("z ~ x + (1 | g)", "bernoulli");
    let noise = std::f64::consts::PI.powi(2) / 3.0;
    agrees(
        &found["ICC(g)"],
        SPREAD * SPREAD / (SPREAD * SPREAD + noise),
    );
    assert!(found["R2 marginal"].mean < found["R2 conditional"].mean);
}

/// Group effects multiply the means of counts, and may reduce their variance.
#[test]
fn shares_of_counts_are_at_most_all() {
    let found = shares("counts ~ x + (1 | g)", "poisson");
    for name in ["R2 marginal", "R2 conditional"] {
        let summary = found[name];
        assert!(summary.q5 > 0.0 && summary.q95 < 1.0, "{name}: {summary:?}");
    }
    assert!(found["R2 marginal"].mean < found["R2 conditional"].mean);
}

#[test]
fn without_groups_there_is_one_share_and_with_slopes_no_correlation() {
    let plain = shares("y ~ x", "gaussian");
    assert_eq!(plain.keys().collect::<Vec<_>>(), ["R2"]);
    let columns = SLOPE * SLOPE;
    agrees(&plain["R2"], columns / (columns + SPREAD * SPREAD + 1.0));
    let sloped = shares("y ~ x + (1 + x | g)", "gaussian");
    assert!(!sloped.contains_key("ICC(g)") && sloped.contains_key("R2 marginal"));
}

#[test]
fn shares_by_many_chains_have_an_error() {
    // 200 draws are used, three of each chain.
    let fit = Fit::named("hmc").unwrap().set("chains", "64").unwrap();
    let found = shares_by(fit, &table(), ("y ~ x", "gaussian"))["R2"];
    let error = found.mcse.unwrap();
    let independent = found.sd / 200.0_f64.sqrt();
    assert!((error / independent - 1.0).abs() < 1e-9, "{error}");
}

#[test]
fn directions_have_no_share_of_variance() {
    assert!(shares("angle ~ x", "von_mises").is_empty());
}
