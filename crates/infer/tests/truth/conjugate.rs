//! Conjugate models: moments and evidence in closed form.

use std::sync::Arc;

use faer::Mat;
use lehr_infer::fit::{Fit, FitError};
use lehr_infer::judge::Level;
use lehr_infer::method::MethodInfo;
use lehr_infer::posterior::{Evidence, Posterior, Summary};
use lehr_infer::start::{STARTS, Zero};
use lehr_infer::train::Schedule;
use lehr_model::distribution::{
    Beta, Binomial, Distribution, Gamma, InverseGamma, Normal, Poisson,
};
use lehr_model::{Bound, Model};
use lehr_table::Table;
use libm::lgamma;

use crate::linear::{Linear, NOISE, inverse, log_determinant, quadratic_form};
use crate::{METHODS, common, fixed, has, named, run, with};

/// A model whose posterior is known.
struct Case {
    name: &'static str,
    density: Bound,
    log_evidence: f64,
    /// Mean and standard deviation of every constrained number.
    moments: Vec<(f64, f64)>,
}

fn cases() -> [Case; 5] {
    [
        normal_mean(),
        known_noise(),
        unknown_noise(),
        beta_binomial(),
        gamma_poisson(),
    ]
}

fn of_linear(name: &'static str, linear: &Linear) -> Case {
    let posterior = linear.posterior();
    let moment = |i: usize| (posterior.mean[(i, 0)], posterior.covariance[(i, i)].sqrt());
    Case {
        name,
        density: linear.bind(),
        log_evidence: linear.log_evidence(),
        moments: (0..linear.width()).map(moment).collect(),
    }
}

fn normal_mean() -> Case {
    let mut linear = Linear::new(9, 1, 21);
    linear.x = Mat::from_fn(9, 1, |_, _| 1.0);
    of_linear("normal mean", &linear)
}

fn known_noise() -> Case {
    of_linear("known noise", &Linear::new(14, 3, 22))
}

/// Normal and inverse gamma: σ² ~ IG(a, b), w | σ² ~ N(0, σ²s²).
fn unknown_noise() -> Case {
    const SHAPE: f64 = 3.0;
    const SCALE: f64 = 2.0;
    const WIDE: f64 = 1.7;
    let linear = Linear::new(15, 2, 23);
    let model = Model::new(|m| {
        let variance = m.sample("variance", InverseGamma::new(SHAPE, SCALE));
        let noise = variance.sqrt();
        let weight = m.sample("weight", Normal::new(0.0, noise * WIDE).expand([2]));
        m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), noise)));
    });
    let x = (0..30).map(|k| linear.x[(k / 2, k % 2)]).collect();
    let y = (0..15).map(|n| linear.y[(n, 0)]).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_matrix("x", 15, 2, x))
        .unwrap();
    let (gram, product) = linear.information(&linear.all(), NOISE.powi(2));
    let precision = gram + Mat::<f64>::identity(2, 2) * faer::Scale(WIDE.powi(-2));
    let covariance = inverse(&precision);
    let mean = &covariance * product;
    let squares = (linear.y.transpose() * &linear.y)[(0, 0)];
    let shape = SHAPE + 7.5;
    let scale = SCALE + 0.5 * (squares - quadratic_form(&precision, &mean));
    let log_evidence = -7.5 * (2.0 * std::f64::consts::PI).ln()
        - 0.5 * log_determinant(&precision)
        - 2.0 * WIDE.ln()
        + SHAPE * SCALE.ln()
        - shape * scale.ln()
        + lgamma(shape)
        - lgamma(SHAPE);
    let variance = scale / (shape - 1.0);
    let weight = |i: usize| (mean[(i, 0)], (variance * covariance[(i, i)]).sqrt());
    Case {
        name: "unknown noise",
        density: model.bind(&table).unwrap(),
        log_evidence,
        moments: vec![
            (variance, variance / (shape - 2.0).sqrt()),
            weight(0),
            weight(1),
        ],
    }
}

/// ln B(a, b)
fn log_beta(a: f64, b: f64) -> f64 {
    lgamma(a) + lgamma(b) - lgamma(a + b)
}

fn beta_binomial() -> Case {
    let trials = [9.0, 12.0, 5.0, 20.0, 11.0];
    let counts = [4.0, 5.0, 1.0, 9.0, 6.0];
    let model = Model::new(|m| {
        let chance = m.sample("chance", Beta::new(2.0, 3.0));
        let logit = chance.ln() - (1.0 - chance).ln();
        m.rows(|row| {
            row.observe("y", Binomial::with_logit(row.number("trials"), logit));
        });
    });
    let table = Table::new()
        .with_number("y", counts.to_vec())
        .and_then(|t| t.with_number("trials", trials.to_vec()))
        .unwrap();
    let hits: f64 = counts.iter().sum();
    let misses = trials.iter().sum::<f64>() - hits;
    let choose = |(n, k): (&f64, &f64)| -log_beta(k + 1.0, n - k + 1.0) - (n + 1.0).ln();
    let ways: f64 = trials.iter().zip(&counts).map(choose).sum();
    let (a, b) = (2.0 + hits, 3.0 + misses);
    let mean = a / (a + b);
    Case {
        name: "beta binomial",
        density: model.bind(&table).unwrap(),
        log_evidence: ways + log_beta(a, b) - log_beta(2.0, 3.0),
        moments: vec![(mean, (mean * (1.0 - mean) / (a + b + 1.0)).sqrt())],
    }
}

fn gamma_poisson() -> Case {
    let counts = [3.0, 0.0, 2.0, 5.0, 1.0, 2.0];
    let (shape, rate) = (2.0, 0.8);
    let model = Model::new(move |m| {
        let level = m.sample("level", Gamma::new(shape, rate));
        m.rows(|row| row.observe("y", Poisson::with_log_rate(level.ln())));
    });
    let table = Table::new().with_number("y", counts.to_vec()).unwrap();
    let total: f64 = counts.iter().sum();
    let (a, b) = (shape + total, rate + counts.len() as f64);
    let factorials: f64 = counts.iter().map(|k| lgamma(k + 1.0)).sum();
    let log_evidence = shape * rate.ln() - lgamma(shape) + lgamma(a) - a * b.ln() - factorials;
    Case {
        name: "gamma poisson",
        density: model.bind(&table).unwrap(),
        log_evidence,
        moments: vec![(a / b, a.sqrt() / b)],
    }
}

/// The bound lies below the evidence, which importance weights or bridge sampling estimate if the
/// draws can be trusted.
fn assert_bounds(case: &Case, posterior: &Posterior, what: &str) {
    let Some(Evidence {
        bound, estimate, ..
    }) = &posterior.evidence
    else {
        return;
    };
    let truth = case.log_evidence;
    if let Some(bound) = bound {
        assert!(
            bound.mean <= truth + 4.0 * bound.error + 1e-9,
            "{what}: bound {bound:?} above {truth}"
        );
    }
    if posterior.draws_level() != Level::Untrusted {
        assert!(
            (estimate.mean - truth).abs() <= 4.0 * estimate.error + 1e-9,
            "{what}: evidence {estimate:?} for {truth}"
        );
    }
}

/// Importance-corrected moments agree to four standard errors, given this effective sample size.
fn assert_moments(case: &Case, summaries: &[Summary], effective: f64, what: &str) {
    assert_eq!(summaries.len(), case.moments.len(), "{what}");
    for (summary, (mean, deviation)) in summaries.iter().zip(&case.moments) {
        let error = deviation / effective.sqrt();
        assert!(
            (summary.mean - mean).abs() < 4.0 * error,
            "{what}: mean of {} {} for {mean} ± {error}",
            summary.name,
            summary.mean
        );
        // The standard deviation of a skewed posterior has a larger error than that of a Gaussian.
        assert!(
            (summary.sd - deviation).abs() < 4.0 * error,
            "{what}: sd of {} {} for {deviation} ± {error}",
            summary.name,
            summary.sd
        );
    }
}

/// A fit with few steps, with a chain of four if the method has one.
fn short(method: &MethodInfo) -> Fit<'static> {
    with(
        with(named(method.name), "iterations", 600),
        "chain-steps",
        4,
    )
}

/// The conformance grid: every method of the table × every model with known moments.
///
/// In each cell the bound lies below the evidence, and the draws have the right moments or the
/// verdict says why not. For each method most cells must have the right moments.
#[test]
fn every_method_bounds_the_evidence_and_recovers_the_moments() {
    let cases = cases();
    // None of these models has group effects, which collapsing needs, or a binary response, which
    // coresets need. Chains over subsets need more rows, and chains over local latents need such
    // latents.
    let others = ["collapse", "nuts-cs", "hmcecs", "semi-dais"];
    for method in METHODS
        .iter()
        .filter(|method| !others.contains(&method.name))
    {
        let mut trusted = 0;
        for case in &cases {
            let what = format!("{} by {}", case.name, method.name);
            let posterior = match short(method).seed(3).draws(2000).run(&case.density) {
                Ok(posterior) => posterior,
                // A model that a method does not support is refused with an alternative.
                Err(FitError::Setting { hint, .. }) => {
                    assert!(hint.contains("use "), "{what}: {hint}");
                    continue;
                }
                Err(error) => panic!("{what}: {error}"),
            };
            assert_bounds(case, &posterior, &what);
            let verdict = posterior.verdict();
            println!("{what}: {verdict}");
            if verdict.level == Level::Untrusted {
                assert!(verdict.advice().next().is_some(), "{what}: {verdict}");
                assert!(!verdict.sentence.is_empty(), "{what}");
                continue;
            }
            trusted += 1;
            let effective = posterior.effective_size();
            assert_moments(case, &posterior.corrected_summaries(), effective, &what);
        }
        // Two of the five posteriors are independent.
        let least = if method.name == "mean-field" { 2 } else { 3 };
        let (name, all) = (method.name, cases.len());
        assert!(trusted >= least, "{name}: {trusted} cells of {all}");
    }
}

/// The same grid with starts instead of methods.
#[test]
fn a_fit_from_every_start_recovers_the_moments_or_says_why_not() {
    let full_rank = METHODS.iter().find(|method| method.name == "full-rank");
    let full_rank = full_rank.expect("a Gaussian with all correlations");
    for start in STARTS.iter().map(|new| new()) {
        for case in cases() {
            let what = format!("{} from {}", case.name, start.name());
            let fit = short(full_rank).set("start", start.name()).unwrap();
            let posterior = match fit.seed(3).draws(2000).run(&case.density) {
                Ok(posterior) => posterior,
                // A model that a start does not support is refused with an alternative.
                Err(FitError::Setting { hint, .. }) => {
                    assert!(hint.starts_with("start from "), "{what}: {hint}");
                    continue;
                }
                Err(error) => panic!("{what}: {error}"),
            };
            assert_bounds(&case, &posterior, &what);
            let verdict = posterior.verdict();
            println!("{what}: {verdict}");
            if verdict.level == Level::Untrusted {
                assert!(verdict.advice().next().is_some(), "{what}: {verdict}");
                continue;
            }
            let effective = posterior.effective_size();
            assert_moments(&case, &posterior.corrected_summaries(), effective, &what);
        }
    }
}

#[test]
fn batches_of_rows_still_bound_the_evidence() {
    let case = known_noise();
    let others = |method: &&&MethodInfo| has(method, "batch") && method.name != "semi-dais";
    for method in METHODS.iter().filter(others) {
        let fit = with(short(method), "batch", 5).seed(4).draws(1000);
        let posterior = run(fit, &case.density);
        assert_bounds(&case, &posterior, &format!("{} on batches", method.name));
    }
}

#[test]
fn full_rank_reaches_the_evidence_of_gaussian_posteriors() {
    for case in [normal_mean(), known_noise()] {
        let posterior = run(named("full-rank"), &case.density);
        assert!(posterior.training().unwrap().converged);
        let gap = case.log_evidence - posterior.bound().unwrap().mean;
        println!(
            "{}: full rank from laplace is {gap:.1e} nats short",
            case.name
        );
        assert!(gap.abs() < 1e-3, "{}: {gap}", case.name);
        let draws = posterior.n_draws() as f64;
        assert_moments(&case, &posterior.summaries(), draws, case.name);
    }
}

#[test]
fn full_rank_reaches_the_evidence_from_far_away() {
    for case in [normal_mean(), known_noise()] {
        let mut fit = fixed("full-rank", 6000);
        common(&mut fit).start = Some(Arc::new(Zero));
        common(&mut fit).train.schedule = Schedule::Staircase { start: 2e-2 };
        let posterior = run(fit, &case.density);
        let gap = case.log_evidence - posterior.bound().unwrap().mean;
        println!("{}: full rank from zero is {gap:.1e} nats short", case.name);
        assert!(gap.abs() < 1e-2, "{}: {gap}", case.name);
    }
}
