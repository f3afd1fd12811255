//! Gaussian processes by a basis whose weights are integrated out: the posterior agrees with long
//! chains, verdicts are correct, and all results of a fit can be computed.

use lehr_infer::fit::Fit;
use lehr_infer::method::{Auto, Collapse, Nuts};
use lehr_regression::Groups;
use lehr_report::{FunctionCurve, FunctionShape, Level};
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Poisson, StandardNormal, StandardUniform};

use crate::{category, number};

/// Coordinates x and z, three sites, and responses around a function of x: real numbers, counts,
/// and noise alone.
fn generated(rows: usize, seed: u64) -> Table {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut place = || -> f64 {
        let share: f64 = StandardUniform.sample(&mut random);
        10.0 * share
    };
    let (x, z): (Vec<f64>, Vec<f64>) = (0..rows).map(|_| (place(), place())).unzip();
    let normal = |random: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(random) };
    let mut random = ChaCha8Rng::seed_from_u64(seed + 1);
    let wave = |x: f64| (0.9 * x).sin();
    let y: Vec<f64> = (x.iter().map(|x| wave(*x) + 0.5 * normal(&mut random))).collect();
    let noise: Vec<f64> = x.iter().map(|_| normal(&mut random)).collect();
    let mut count = |x: &f64| {
        Poisson::new((0.5 + wave(*x)).exp())
            .unwrap()
            .sample(&mut random)
    };
    let counts: Vec<f64> = x.iter().map(&mut count).collect();
    let sites: Vec<&str> = (0..rows).map(|row| ["a", "b", "c"][row % 3]).collect();
    let table = number(number(Table::new(), "x", &x), "z", &z);
    let table = number(number(table, "y", &y), "noise", &noise);
    category(number(table, "count", &counts), "site", &sites)
}

fn fitted<'t>(formula: &str, table: &'t Table, fit: Fit<'t>) -> SavedFit {
    regress(formula, table).unwrap().with(fit).fit().unwrap()
}

/// Means of parameters and rows agree with those of long chains to a tenth of a standard deviation,
/// standard deviations to 8 %.
fn agrees_with_chains(formula: &str, family: &str, table: &Table) {
    let regress = || regress(formula, table).unwrap().family(family).unwrap();
    let own = Fit::new(Collapse::default()).draws(4000).seed(5);
    let own = regress().with(own).fit().unwrap();
    let chains = Fit::new(Nuts::default()).draws(16_000).seed(5);
    let chains = regress().with(chains).fit().unwrap();
    assert_eq!(
        own.verdict().level,
        Level::Reliable,
        "{}",
        own.verdict().sentence
    );
    let named = |fit: &SavedFit| fit.coefficients(Groups::Leave);
    for (one, other) in named(&own).iter().zip(&named(&chains)) {
        let (one, other) = (one.best_summary(), other.best_summary());
        let off = (one.mean - other.mean) / other.sd;
        assert!(off.abs() < 0.1, "{one:?} {other:?}");
        assert!((one.sd / other.sd).ln().abs() < 0.08, "{one:?} {other:?}");
    }
    let rows = |fit: &SavedFit| {
        let all = fit.forecaster(fit.posterior.n_draws());
        let table = all.predict(table, 0).unwrap().table().unwrap();
        let response = formula.split(' ').next().unwrap().to_owned();
        ["mean", "mean_sd"].map(|end| table.number(&format!("{response}_{end}")).unwrap().to_vec())
    };
    let ([mean, sd], [other, other_sd]) = (rows(&own), rows(&chains));
    for row in 0..mean.len() {
        let off = (mean[row] - other[row]) / other_sd[row];
        assert!(off.abs() < 0.12, "{row}: {off}");
        assert!((sd[row] / other_sd[row]).ln().abs() < 0.1, "{row}");
    }
}

#[test]
fn a_collapsed_function_has_the_posterior_of_long_chains() {
    agrees_with_chains("y ~ gp(x)", "gaussian", &generated(120, 31));
}

#[test]
fn a_collapsed_function_of_counts_has_the_posterior_of_long_chains() {
    agrees_with_chains("count ~ gp(x)", "poisson", &generated(120, 32));
}

#[test]
fn functions_of_noise_are_collapsed_and_reliable() {
    let table = generated(200, 33);
    for formula in [
        "noise ~ gp(x)",
        "noise ~ gp(x, period = 10)",
        "noise ~ gp(x, z)",
    ] {
        let fit = fitted(formula, &table, Fit::new(Auto::default()).seed(7));
        assert_eq!(fit.posterior.origin.method.name, "collapse", "{formula}");
        let verdict = fit.verdict();
        assert_eq!(
            verdict.level,
            Level::Reliable,
            "{formula}: {}",
            verdict.sentence
        );
    }
}

#[test]
fn functions_of_every_kind_are_collapsed_drawn_and_survive_their_file() {
    let table = generated(300, 34);
    for (formula, functions) in [
        ("y ~ gp(x)", 1),
        ("y ~ gp(x, by = site)", 3),
        ("y ~ gp(x, by = z)", 1),
        ("y ~ gp(x, z)", 1),
        ("y ~ gp(x, kernel = matern32) + (1 | site)", 1),
        ("y ~ gp(x) + gp(z, period = 10)", 2),
    ] {
        let fit = fitted(formula, &table, Fit::new(Auto::default()).seed(3));
        assert_eq!(fit.posterior.origin.method.name, "collapse", "{formula}");
        assert!(fit.is_trusted(), "{formula}: {}", fit.verdict().sentence);
        let report = fit.report();
        assert_eq!(report.functions.len(), functions, "{formula}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit.lehr");
        fit.save(&path).unwrap();
        let loaded = SavedFit::load(&path).unwrap();
        let means = |fit: &SavedFit| fit.predict(&table).unwrap().means().unwrap();
        assert_eq!(means(&fit), means(&loaded));
        assert_eq!(loaded.report().functions, report.functions);
    }
}

/// The band of a collapsed function covers the truth as often as it should.
#[test]
fn the_curve_of_a_collapsed_function_is_around_the_truth() {
    let table = generated(400, 35);
    let fit = fitted("y ~ gp(x)", &table, Fit::new(Collapse::default()).seed(3));
    let report = fit.report();
    let FunctionShape::Curve(FunctionCurve {
        x, mean, low, high, ..
    }) = &report.functions[0].shape
    else {
        panic!("a function of one column is a curve");
    };
    let own = table.number("x").unwrap();
    let average = own.iter().map(|x| (0.9 * x).sin()).sum::<f64>() / own.len() as f64;
    let inside = (0..x.len()).filter(|k| {
        let known = (0.9 * x[*k]).sin() - average;
        assert!((mean[*k] - known).abs() < 0.3, "{known} {}", mean[*k]);
        low[*k] < known && known < high[*k]
    });
    assert!(inside.count() * 10 > 7 * x.len());
}
