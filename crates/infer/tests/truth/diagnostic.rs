//! The diagnostics of a posterior, its files, and its summaries.

use std::sync::Arc;
use std::time::Duration;

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::judge::Level;
use lehr_infer::observer::{Observer, Phase, Progress, Wish};
use lehr_infer::posterior::Posterior;
use lehr_infer::run::{Checkpoint, ExistingCheckpoint};
use lehr_infer::start::FromFit;
use lehr_model::distribution::{Bernoulli, Cauchy, Distribution, LogNormal, Normal, Poisson};
use lehr_model::{Bound, Model};
use lehr_table::Table;

use crate::linear::Linear;
use crate::{chain, common, fixed, learned, normals, run, with};

/// Two nearly identical covariates.
fn collinear() -> Linear {
    let mut linear = Linear::new(40, 3, 31);
    for n in 0..40 {
        linear.x[(n, 1)] = linear.x[(n, 0)] + 0.05 * linear.x[(n, 1)];
    }
    linear
}

#[test]
fn a_well_fitted_model_is_called_reliable() {
    let posterior = run(fixed("full-rank", 4000), &collinear().bind());
    let verdict = posterior.verdict();
    let found = (verdict.level, verdict.warns());
    assert_eq!(found, (Level::Reliable, false), "{verdict}");
    let words = "reliable: 64 Markov chains that start from the draws stay where they are; ";
    assert!(verdict.to_string().starts_with(words), "{verdict}");
}

#[test]
fn independence_among_correlated_coefficients_is_seen_and_chains_stand_in() {
    let posterior = run(fixed("mean-field", 800), &collinear().bind());
    assert!(posterior.pareto_shape().unwrap() > 0.7);
    let verdict = posterior.verdict();
    let words = "reliable: the draws are those of 64 Markov chains that started from the fit's own, \
                 which were off: ";
    assert!(verdict.to_string().starts_with(words), "{verdict}");
    let words = "the draws are too far from the posterior for weights to repair them";
    let overruled = &verdict.overruled;
    assert!(overruled.iter().any(|one| one.sentence.starts_with(words)));
    // The exact Gaussian of the full-rank fit.
    let exact = run(fixed("full-rank", 4000), &collinear().bind()).summaries();
    for (one, truth) in posterior.summaries().iter().zip(&exact) {
        assert!((one.sd / truth.sd).ln().abs() < 0.1, "{one:?} {truth:?}");
        assert!((one.mean - truth.mean).abs() < 0.15 * truth.sd, "{one:?}");
    }
}

/// A logistic regression with few events among many rows, whose posterior is skewed.
fn rare_events(rows: usize) -> Bound {
    events(rows, 2.6)
}

/// A logistic regression whose events are the values above a limit.
pub(crate) fn events(rows: usize, limit: f64) -> Bound {
    let x = normals(2 * rows, 41);
    let noise = normals(rows, 42);
    let label = |n: usize| f64::from(0.8 * x[2 * n] + 1.2 * noise[n] > limit);
    let y: Vec<f64> = (0..rows).map(label).collect();
    let events: f64 = y.iter().sum();
    assert!(events >= 2.0, "{events} events");
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 10.0));
        let weight = m.sample("weight", Normal::new(0.0, 3.0).expand([2]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + level;
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    let table = Table::new()
        .with_number("y", y)
        .and_then(|t| t.with_matrix("x", rows, 2, x))
        .unwrap();
    model.bind(&table).unwrap()
}

fn bound_of(method: &str, steps: Option<usize>, density: &dyn Density) -> (f64, f64) {
    let mut fit = fixed(method, 3000).seed(5).draws(4000);
    if let Some(steps) = steps {
        fit = with(fit.set("base", "mean-field").unwrap(), "chain-steps", steps);
    }
    // A chain on far fewer rows than there are learns not to move: its noise costs more than it
    // gains.
    let fit = with(with(fit, "batch", 198), "lanes", 4);
    let bound = run(with(fit, "surrogate-rows", 64).unexamined(), density)
        .bound()
        .unwrap();
    (bound.mean, bound.error)
}

#[test]
fn chains_improve_on_their_base_and_on_shorter_ones() {
    let density = rare_events(200);
    let base = bound_of("mean-field", None, &density);
    for method in ["dais", "ns-dais", "ns2-dais", "sl-dais"] {
        let short = bound_of(method, Some(1), &density);
        let long = bound_of(method, Some(8), &density);
        println!("{method}: {base:.3?}, K = 1 {short:.3?}, K = 8 {long:.3?}");
        let better = |a: (f64, f64), b: (f64, f64)| a.0 - b.0 > 2.0 * a.1.hypot(b.1);
        assert!(better(long, base), "{method}: {long:?} over {base:?}");
        assert!(better(long, short), "{method}: {long:?} over {short:?}");
    }
}

fn small_fit() -> Fit<'static> {
    let fit = with(fixed("sl-dais", 200), "chain-steps", 3);
    with(fit, "surrogate-rows", 16).seed(6).draws(100)
}

#[test]
fn a_fit_that_nobody_examined_is_not_called_reliable() {
    let density = rare_events(200);
    let whole = run(small_fit(), &density);
    let posterior = run(small_fit().unexamined(), &density);
    let examination = &posterior.importance().unwrap().examination;
    assert!(examination.opinion.is_none() && examination.modes.is_empty());
    let verdict = posterior.verdict();
    assert!(
        verdict.level >= Level::Doubtful && verdict.warns(),
        "{verdict}"
    );
    let words = "only the weights of the draws were looked at";
    assert!(verdict.sentence.contains(words), "{verdict}");
    assert!(!whole.verdict().sentence.contains(words));
}

#[test]
fn a_saved_posterior_comes_back_whole_and_goes_on_drawing() {
    let density = rare_events(200);
    let posterior = run(small_fit(), &density);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("posterior");
    posterior.save(&path).unwrap();
    let back = Posterior::load(&path).unwrap();
    assert_eq!(back.draws, posterior.draws);
    let pareto = |of: &Posterior| of.importance().unwrap().pareto.clone();
    assert_eq!(pareto(&back), pareto(&posterior));
    assert_eq!(learned(&back), learned(&posterior));
    assert_eq!(back.summaries(), posterior.summaries());
    assert_eq!(back.corrected_summaries(), posterior.corrected_summaries());
    assert_eq!(back.verdict(), posterior.verdict());
    let more = posterior.draw_more(&density, 50, 7).unwrap();
    assert_eq!(back.draw_more(&density, 50, 7).unwrap(), more);
}

#[test]
fn draws_of_a_chain_on_a_surrogate_need_none_of_the_rows() {
    let density = rare_events(200);
    let posterior = run(small_fit(), &density);
    let x = normals(10, 77);
    let table = Table::new()
        .with_number("y", vec![0.0, 1.0, 1.0, 0.0, 1.0])
        .and_then(|t| t.with_matrix("x", 5, 2, x))
        .unwrap();
    let elsewhere = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 10.0));
        let weight = m.sample("weight", Normal::new(0.0, 3.0).expand([2]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + level;
            row.observe("y", Bernoulli::with_logit(logit));
        });
    })
    .bind(&table)
    .unwrap();
    let expected = posterior.draw_more(&density, 70, 8).unwrap();
    assert_eq!(posterior.draw_more(&elsewhere, 70, 8).unwrap(), expected);
    assert_eq!(expected.len(), 70 * 3);
}

#[test]
fn a_damaged_file_is_refused() {
    let posterior = run(small_fit(), &rare_events(200));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("posterior");
    posterior.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Posterior::load(&path).unwrap_err().to_string()
    };
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    let mut newer = bytes.clone();
    newer[8] += 1;
    for damaged in [
        &flipped[..],
        &bytes[..bytes.len() - 9],
        &bytes[..10],
        &newer,
    ] {
        let error = refused(damaged);
        assert!(
            error.contains(": expected ") && error.contains("\n  hint: "),
            "{error}"
        );
    }
}

#[test]
fn a_fit_goes_on_from_another_fit() {
    let density = rare_events(200);
    let gaussian = run(fixed("mean-field", 1500), &density);
    let sampler = gaussian.sampler().unwrap();
    let (whitening, learned) = sampler.learned().unwrap();
    let fit = fixed("dais", 1).set("base", "mean-field").unwrap();
    let mut fit = with(fit, "chain-steps", 2);
    common(&mut fit).start = Some(Arc::new(FromFit {
        whitening: whitening.clone(),
        learned: learned.clone(),
    }));
    chain(&mut fit).start.step_size = 1e-6;
    let from = gaussian.bound().unwrap();
    let to = run(fit, &density).bound().unwrap();
    let error = from.error.hypot(to.error);
    assert!((from.mean - to.mean).abs() < 4.0 * error, "{from:?} {to:?}");
}

/// Stops a fit during the examination of its draws.
struct StopExamination {
    now: Phase,
}

impl Observer for StopExamination {
    fn begin(&mut self, phase: Phase) {
        self.now = phase;
    }

    fn progress(&mut self, _: &Progress) -> Wish {
        if self.now == Phase::EXAMINE {
            Wish::Stop
        } else {
            Wish::Continue
        }
    }
}

#[test]
fn a_second_opinion_can_be_stopped_and_the_fit_resumed() {
    let density = rare_events(200);
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = Checkpoint {
        path: folder.path().join("fit"),
        every: Duration::from_secs(3600),
        older: ExistingCheckpoint::Resume,
    };
    let fit = || fixed("full-rank", 300).draws(64);
    let whole = run(fit(), &density);
    let mut stop = StopExamination { now: Phase::START };
    let stopping = fit().checkpoint(checkpoint.clone()).observer(&mut stop);
    let stopped = stopping.run(&density).unwrap_err().to_string();
    let words = "asking for a second opinion: stopped after 64 draws of chains";
    assert!(stopped.contains(words), "{stopped}");
    let rest = run(fit().checkpoint(checkpoint), &density);
    assert_eq!(rest.draws, whole.draws);
    assert_eq!(rest.verdict(), whole.verdict());
}

/// A rate of events none of which was observed: one number with a skewed posterior.
fn rate_of_zeros() -> Bound {
    let model = Model::new(|m| {
        let rate = m.sample("rate", LogNormal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Poisson::with_rate(rate)));
    });
    let table = Table::new().with_number("y", vec![0.0; 5]).unwrap();
    model.bind(&table).unwrap()
}

/// Mean and standard deviation of the rate, by a sum over ln rate.
fn truth_of_rate() -> (f64, f64) {
    let mut sums = [0.0; 3];
    for k in -12_000..6_000_i32 {
        let log_rate = f64::from(k) * 1e-3;
        let rate = log_rate.exp();
        let share = (-0.5 * log_rate.powi(2) - 5.0 * rate).exp();
        for (power, sum) in sums.iter_mut().enumerate() {
            *sum += share * rate.powi(power as i32);
        }
    }
    let mean = sums[1] / sums[0];
    (mean, (sums[2] / sums[0] - mean * mean).sqrt())
}

#[test]
fn a_grid_stands_in_for_a_gaussian_of_one_skewed_number() {
    // Too few steps for a good fit.
    let posterior = run(fixed("mean-field", 5).seed(3), &rate_of_zeros());
    let verdict = posterior.verdict();
    let words =
        "reliable: the draws are those of a grid over the posterior; the fit's own were off";
    assert!(verdict.to_string().starts_with(words), "{verdict}");
    let (mean, sd) = truth_of_rate();
    let found = &posterior.summaries()[0];
    // 4,096 stratified draws, whose error is far below that of independent ones.
    assert!((found.mean - mean).abs() < 0.01 * sd, "{found:?} {mean}");
    assert!((found.sd / sd).ln().abs() < 0.02, "{found:?} {sd}");
    // Equal weights have no tail.
    assert_eq!(posterior.pareto_shape(), None);
}

#[test]
fn a_grid_finds_both_modes_of_one_number() {
    let model = Model::new(|m| {
        let mu = m.sample("mu", Normal::new(0.0, 10.0));
        m.rows(|row| row.observe("y", Cauchy::new(mu, 0.5)));
    });
    let y = vec![-4.1, -3.9, -4.0, 3.9, 4.05, 4.1];
    let table = Table::new().with_number("y", y).unwrap();
    let posterior = run(fixed("full-rank", 500), &model.bind(&table).unwrap());
    assert_eq!(posterior.verdict().level, Level::Reliable);
    let low = posterior.draws.iter().filter(|mu| **mu < 0.0).count();
    let share = low as f64 / posterior.n_draws() as f64;
    assert!((0.2..0.8).contains(&share), "{share}");
}
