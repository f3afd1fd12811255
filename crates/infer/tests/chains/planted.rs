//! Posteriors on which methods are known to fail: draws that are called reliable must be right.

use lehr_infer::fit::{Fit, FitError};
use lehr_infer::judge::Level;
use lehr_infer::method::METHODS;
use lehr_model::distribution::{Bernoulli, Cauchy, Distribution, Flat, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_table::Table;

use crate::model::funnel;

/// A posterior, and the true mean and standard deviation of its first latent.
struct Planted {
    name: &'static str,
    density: Bound,
    truth: (f64, f64),
}

/// Latents without any information in the rows; with them there are too many latents for a grid.
const IDLE: usize = 3;

/// Mean and standard deviation of a density by sums over a grid.
fn moments(log_density: impl Fn(f64) -> f64) -> (f64, f64) {
    let points: Vec<f64> = (-12_000..=12_000).map(|k| f64::from(k) * 5e-3).collect();
    let values: Vec<f64> = points.iter().map(|z| log_density(*z)).collect();
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        let each = points.iter().zip(&values);
        each.map(|(z, value)| of(*z) * (value - most).exp()).sum()
    };
    let total = sum(&|_| 1.0);
    let mean = sum(&|z| z) / total;
    (mean, (sum(&|z| (z - mean).powi(2)) / total).sqrt())
}

fn rows(y: &[f64]) -> Table {
    Table::new().with_number("y", y.to_vec()).unwrap()
}

/// y = 9 ~ N(a², 1): a is 3 or −3.
fn two_modes() -> Planted {
    let model = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.0, 3.0));
        m.sample("idle", Normal::new(0.0, 1.0).expand([IDLE]));
        m.rows(|row| row.observe("y", Normal::new(a.square(), 1.0)));
    });
    Planted {
        name: "two modes",
        density: model.bind(&rows(&[9.0])).unwrap(),
        truth: moments(|a| -a * a / 18.0 - 0.5 * (9.0 - a * a).powi(2)),
    }
}

/// A few rows near the start, and twice as many far away with nearly all of the posterior mass.
fn wrong_mode() -> Planted {
    let y = [0.3, 0.5, 0.6, 9.8, 9.9, 10.0, 10.1, 10.2, 10.3];
    let model = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.0, 10.0));
        m.sample("idle", Normal::new(0.0, 1.0).expand([IDLE]));
        m.rows(|row| row.observe("y", Cauchy::new(a, 0.3)));
    });
    let row = |a: f64, y: f64| -(1.0 + ((y - a) / 0.3).powi(2)).ln();
    Planted {
        name: "the wrong mode",
        density: model.bind(&rows(&y)).unwrap(),
        truth: moments(|a| -a * a / 200.0 + y.iter().map(|y| row(a, *y)).sum::<f64>()),
    }
}

/// A binary response that the sign of x determines, and a wide prior: the slope is not bounded by
/// the data.
fn separation() -> Planted {
    let x: [f64; 8] = [-2.0, -1.5, -1.0, -0.4, 0.3, 0.9, 1.6, 2.2];
    let y = x.map(|x| f64::from(u8::from(x > 0.0)));
    let table = rows(&y).with_number("x", x.to_vec()).unwrap();
    let model = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.0, 10.0));
        m.sample("idle", Normal::new(0.0, 1.0).expand([IDLE]));
        m.rows(|row| row.observe("y", Bernoulli::with_logit(row.number("x") * a)));
    });
    let row = |a: f64, x: f64| -(-x.abs() * a).exp().ln_1p();
    Planted {
        name: "separation",
        density: model.bind(&table).unwrap(),
        truth: moments(|a| -a * a / 200.0 + x.iter().map(|x| row(a, *x)).sum::<f64>()),
    }
}

fn neal() -> Planted {
    Planted {
        name: "the funnel",
        density: funnel(9),
        truth: (0.0, 3.0),
    }
}

/// Equal responses whose noise is a parameter: the density grows without bound as the noise
/// vanishes.
fn no_noise() -> Bound {
    let model = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.0, 1.0));
        let noise = m.sample("noise", HalfNormal::new(1.0));
        m.sample("idle", Normal::new(0.0, 1.0).expand([IDLE]));
        m.rows(|row| row.observe("y", Normal::new(a, noise)));
    });
    model.bind(&rows(&[0.7; 4])).unwrap()
}

/// A slope without a prior, and a response that the sign of its column determines.
fn open_slope() -> Bound {
    let x = vec![-1.0, -0.5, 0.5, 1.0];
    let table = rows(&[0.0, 0.0, 1.0, 1.0]).with_number("x", x).unwrap();
    let model = Model::new(|m| {
        let a = m.sample("a", Flat);
        m.rows(|row| row.observe("y", Bernoulli::with_logit(row.number("x") * a)));
    });
    model.bind(&table).unwrap()
}

/// Few steps, and enough draws for moments.
fn quick(method: &str, seed: u64) -> Fit<'static> {
    let mut fit = Fit::named(method).unwrap().seed(seed).draws(2000);
    if let Some(trained) = fit.method.variational_mut() {
        trained.common_mut().train.iterations = "500".parse().unwrap();
    }
    fit
}

/// Fits an improper posterior: an error is acceptable, a reliable verdict is not.
fn never_trusted(method: &str, density: &Bound, seed: u64) {
    match quick(method, seed).run(density) {
        Err(error) => println!("{method}, seed {seed}: {error}"),
        Ok(posterior) => {
            let verdict = posterior.verdict();
            println!("{method}, seed {seed}: {verdict}");
            assert!(
                verdict.level > Level::Corrected,
                "{method}, {seed}: {verdict}"
            );
        }
    }
}

/// The verdict of a method; `None` if it refuses the model.
fn fitted(method: &str, planted: &Planted, seed: u64) -> Option<(Level, String)> {
    let posterior = match quick(method, seed).run(&planted.density) {
        Ok(posterior) => posterior,
        Err(FitError::Setting { .. } | FitError::Surrogate(_)) => return None,
        Err(error) => panic!("{} by {method}: {error}", planted.name),
    };
    let (verdict, found) = (posterior.verdict(), &posterior.corrected_summaries()[0]);
    let (mean, sd) = planted.truth;
    let (shift, ratio) = ((found.mean - mean) / sd, found.sd / sd);
    let words = format!(
        "{} by {method}, seed {seed}: mean off by {shift:.2} sd, sd × {ratio:.2}; {verdict}",
        planted.name
    );
    println!("{words}");
    let relied_on = verdict.level <= Level::Corrected;
    let right = shift.abs() < 0.25 && ratio.ln().abs() < 0.15;
    assert!(right || !relied_on, "{words}");
    Some((verdict.level, words))
}

#[test]
fn chains_that_are_relied_on_are_right() {
    for method in ["nuts", "hmc", "surrogate-hmc", "hmcecs", "nuts-cs"] {
        fitted(method, &two_modes(), 1);
    }
    for method in ["nuts", "hmc", "surrogate-hmc"] {
        fitted(method, &wrong_mode(), 1);
    }
}

#[test]
fn chains_that_all_miss_a_mode_are_not_trusted() {
    for method in ["nuts", "hmc"] {
        let (level, words) = fitted(method, &two_modes(), 2).unwrap();
        assert_eq!(level, Level::Untrusted, "{words}");
    }
}

#[test]
fn a_posterior_that_is_none_is_never_trusted() {
    for method in METHODS {
        never_trusted(method.name, &no_noise(), 1);
        never_trusted(method.name, &open_slope(), 1);
    }
}

#[test]
#[ignore = "twenty seeds of every method"]
fn a_posterior_that_is_none_is_never_trusted_from_any_seed() {
    for method in METHODS {
        for seed in 2..=20 {
            never_trusted(method.name, &no_noise(), seed);
        }
    }
}

/// Twenty seeds of every method.
fn all_fitted(planted: &Planted) {
    for method in METHODS.iter().filter(|one| one.name != "collapse") {
        for seed in 1..=20 {
            fitted(method.name, planted, seed);
        }
    }
}

#[test]
#[ignore = "twenty seeds of every method"]
fn no_method_relies_on_one_of_two_modes() {
    all_fitted(&two_modes());
}

#[test]
#[ignore = "twenty seeds of every method"]
fn no_method_relies_on_the_wrong_mode() {
    all_fitted(&wrong_mode());
}

#[test]
#[ignore = "twenty seeds of every method"]
fn no_method_relies_on_a_slope_without_end() {
    all_fitted(&separation());
}

#[test]
#[ignore = "twenty seeds of every method"]
fn no_method_relies_on_half_a_funnel() {
    all_fitted(&neal());
}
