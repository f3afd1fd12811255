//! Impossible requests end in a one-sentence error, and failures during a fit are counted.

use std::sync::Arc;

use lehr_density::Density;
use lehr_infer::annealed::{AnnealedGuide, AnnealedStart, Drive, Momentum};
use lehr_infer::draw::draw;
use lehr_infer::error::{SettingError, TrainError};
use lehr_infer::fit::Fit;
use lehr_infer::guide::{MeanField, WhitenedDensity, Whitening};
use lehr_infer::judge::Level;
use lehr_infer::method::SlDais;
use lehr_infer::run::Run;
use lehr_infer::start::{Laplace, Zero};
use lehr_infer::surrogate::SurrogateKind;
use lehr_infer::train::{Iterations, Task, TrainOutcome, TrainSettings, train};
use lehr_model::distribution::{Distribution, Normal, Poisson};
use lehr_model::{Bound, Model};
use lehr_table::Table;

use crate::linear::Linear;
use crate::{all_rows, common, named, run, set, starts};

/// A model whose last row has no density if the level is below 0.
fn last_row_edged() -> Bound {
    let model = Model::new(move |m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        m.sample("other", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let edge = (level * row.number("on") + 1.0 - row.number("on")).ln();
            row.observe("y", Normal::new(edge, 30.0));
        });
    });
    let on = (0..1500).map(|n| f64::from(n == 1499)).collect();
    let table = Table::new().with_number("y", vec![0.1; 1500]);
    let table = table.and_then(|table| table.with_number("on", on)).unwrap();
    model.bind(&table).unwrap()
}

#[test]
fn a_stopped_run_names_the_rows_that_were_not_finite() {
    let error = trained(&last_row_edged(), &TrainSettings::default()).unwrap_err();
    let error = error.to_string();
    let expected = ", in the likelihood of rows 1024 to 1499, at site \"level\"";
    assert!(error.contains(expected), "{error}");
}

/// A model whose density is not defined below −`edge`.
fn edged(edge: f64) -> Bound {
    let model = Model::new(move |m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        m.factor("edge", (level + edge).ln() * 0.01);
        m.rows(|row| row.observe("y", Normal::new(level, 30.0)));
    });
    let table = Table::new().with_number("y", vec![0.1, -0.2, 0.4]).unwrap();
    model.bind(&table).unwrap()
}

fn trained(density: &dyn Density, settings: &TrainSettings) -> Result<TrainOutcome, TrainError> {
    let guide = MeanField { start_scale: 1.0 };
    let task = Task {
        density,
        whitening: &Whitening::Identity,
        guide: &guide,
        score: &all_rows(),
        seed: 0,
    };
    train(
        &task,
        starts(density, &guide),
        settings,
        &mut Run::default(),
    )
}

#[test]
fn a_few_steps_that_are_not_finite_are_skipped_and_counted() {
    let settings = TrainSettings {
        iterations: Iterations::Fixed(2000),
        ..TrainSettings::default()
    };
    let trained = trained(&edged(2.0), &settings).unwrap();
    assert!(
        trained.training.bad_steps > 10 && trained.training.bad_steps < 200,
        "{}",
        trained.training.bad_steps
    );
    assert_eq!(trained.training.iterations, 2000);
    assert!(trained.learned.values.iter().all(|v| v.is_finite()));
}

#[test]
fn many_steps_that_are_not_finite_stop_the_run_with_an_explanation() {
    for iterations in [
        Iterations::Fixed(50),
        Iterations::Fixed(2000),
        Iterations::Auto { cap: 900 },
    ] {
        let settings = TrainSettings {
            iterations,
            ..TrainSettings::default()
        };
        let error = trained(&edged(0.0), &settings).unwrap_err().to_string();
        assert!(error.starts_with("train: "), "{error}");
        assert!(
            error.contains("steps were not finite, most often in \"bound\""),
            "{error}"
        );
        assert!(
            error.contains(", in the prior of site \"level\""),
            "{error}"
        );
        assert!(
            error.contains("\n  hint: standardise the columns"),
            "{error}"
        );
    }
}

fn refusal(density: &dyn Density, change: impl FnOnce(&mut SlDais)) -> String {
    let mut method = SlDais::default();
    method.variational.train.iterations = Iterations::Fixed(10);
    change(&mut method);
    match Fit::new(method).run(density) {
        Ok(_) => panic!("expected a refusal"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn settings_that_cannot_work_are_refused_in_one_sentence() {
    let linear = Linear::new(30, 2, 1).bind();
    let refused = |expected: &str, change: &dyn Fn(&mut SlDais)| {
        let found = refusal(&linear, change);
        assert_eq!(found.lines().next().unwrap(), expected);
    };
    refused(
        "sl-dais: a batch of 31 rows was asked for, but the table has 30",
        &|f| {
            f.variational.batch = Some(31);
        },
    );
    refused("sl-dais: a batch of 0 rows was asked for", &|f| {
        f.variational.batch = Some(0);
    });
    refused(
        "sl-dais: 31 surrogate rows were asked for, but the table has 30",
        &|f| {
            f.surrogate_rows = Some(31);
        },
    );
    let few = named("sl-dais").draws(24).run(&linear).unwrap_err();
    assert_eq!(
        few.to_string().lines().next().unwrap(),
        "sl-dais: 24 draws were asked for, fewer than the 25 a verdict needs"
    );
    refused(
        "schedule: expected a positive learning rate, found 0",
        &|f| {
            f.variational.train.schedule = lehr_infer::train::Schedule::Constant(0.0);
        },
    );
    refused(
        "sl-dais: a control variate was asked for, but there is no mode to expand at",
        &|f| {
            f.variational.start = Some(Arc::new(Zero));
            f.variational.control = Some(true);
        },
    );
    refused(
        "sl-dais: taylor needs the posterior's mode, but none was computed",
        &|f| {
            f.variational.start = Some(Arc::new(Zero));
            f.surrogate = Some(SurrogateKind::TAYLOR);
        },
    );
}

#[test]
fn numbers_out_of_range_are_refused_in_one_sentence() {
    let linear = Linear::new(30, 2, 1).bind();
    let refused = |expected: &str, change: &dyn Fn(&mut SlDais)| {
        let found = refusal(&linear, change);
        assert_eq!(found.lines().next().unwrap(), expected);
    };
    refused("sl-dais: 0 draws per step were asked for", &|f| {
        f.variational.train.lanes = 0;
    });
    refused(
        "sl-dais: expected a step size between 0 and 0.25, found 0.3",
        &|f| {
            f.chain.start.step_size = 0.3;
        },
    );
    refused(
        "sl-dais: expected a refreshment of at least 0 and below 1, found 1",
        &|f| {
            f.chain.start.refreshment = 1.0;
        },
    );
    refused(
        "sl-dais: expected a positive momentum variance, found 0",
        &|f| {
            f.chain.start.momentum_variance = 0.0;
        },
    );
}

#[test]
fn settings_of_other_methods_are_refused_by_name() {
    for (method, setting) in [
        ("full-rank", "surrogate"),
        ("full-rank", "chain-steps"),
        ("dais", "surrogate"),
        ("dais", "surrogate-rows"),
        ("mean-field", "base"),
    ] {
        let error = named(method).method.set(setting, "3").unwrap_err();
        assert!(matches!(error, SettingError::Other { .. }), "{error}");
        let expected = format!("{method}: the method has no setting {setting}\n  hint: ");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
}

#[test]
fn both_labels_are_refused_on_counts() {
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Poisson::with_log_rate(row.number("x") * level)));
    });
    let table = Table::new()
        .with_number("y", vec![0.0, 3.0, 1.0])
        .and_then(|t| t.with_number("x", vec![0.3, 0.9, -0.4]))
        .unwrap();
    let density = model.bind(&table).unwrap();
    let found = refusal(&density, |f| {
        f.surrogate = Some("rand±".parse().expect("a surrogate"));
    });
    assert!(
        found.starts_with("sl-dais: rand± needs a binary response"),
        "{found}"
    );
}

#[test]
fn a_small_cap_is_reported_as_not_converged() {
    let density = Linear::new(30, 2, 1).bind();
    let capped = |cap: u64| {
        let mut fit = named("mean-field");
        common(&mut fit).start = Some(Arc::new(Laplace));
        common(&mut fit).train.iterations = Iterations::Auto { cap };
        run(fit, &density)
    };
    let posterior = capped(100);
    let training = posterior.training().unwrap();
    assert!(!training.converged);
    assert_eq!(training.iterations, 100);
    let verdict = posterior.verdict();
    // The chains may still confirm its draws.
    let heard = verdict.reasons.iter().chain(&verdict.overruled);
    let mut said = heard.filter(|one| one.sentence == "training had not converged");
    assert_eq!(said.next().map(|one| one.level), Some(Level::Untrusted));
    let posterior = capped(100_000);
    let training = posterior.training().unwrap();
    assert!(training.converged, "{}", training.iterations);
    assert!(training.iterations < 50_000);
}

/// A funnel, and a chain whose steps are too long for its neck.
fn too_long_steps() -> (Bound, AnnealedGuide) {
    let model = Model::new(|m| {
        let v = m.sample("v", Normal::new(0.0, 3.0));
        m.sample("x", Normal::new(0.0, (0.5 * v).exp()).expand([2]));
        m.rows(|row| row.observe("y", Normal::new(0.0, 1.0)));
    });
    let table = Table::new().with_number("y", vec![0.0]).unwrap();
    let chain = AnnealedGuide {
        base: Arc::new(MeanField::default()),
        drive: Drive::FullData,
        steps: 6,
        momentum: Momentum::Diagonal,
        start: AnnealedStart {
            step_size: 0.6,
            max_step_size: 1.0,
            ..AnnealedStart::default()
        },
    };
    (model.bind(&table).unwrap(), chain)
}

#[test]
fn a_chain_that_runs_away_is_drawn_again_and_its_share_taken_off_the_weights() {
    let (density, chain) = too_long_steps();
    let mut learned = starts(&density, &chain);
    set(&mut learned, "base_log_scale", &[3_f64.ln(), 0.0, 0.0]);
    let place = WhitenedDensity::new(&density, &Whitening::Identity);
    let some = |count: usize| draw(place, &chain, &learned, (count, 5)).unwrap();
    let (many, few) = (some(4000), some(4));
    assert!(many.latents.iter().all(|entry| entry.is_finite()));
    assert!(many.log_weights.iter().all(|weight| weight.is_finite()));
    assert_eq!(many.latents[..few.latents.len()], few.latents);
    let share = (many.log_weights[0] - few.log_weights[0]).exp();
    let lost = 4000.0 / share - 4000.0;
    assert!(
        lost > 10.0,
        "{lost} of the chains ran away: the test has nothing to see"
    );
    assert!((lost - lost.round()).abs() < 1e-6, "{lost}");
}
