//! What cannot work is said in one sentence, and what goes wrong is counted.

use lehr_density::Density;
use lehr_infer::fit::{Fit, Start};
use lehr_infer::guide::{Base, Frame, MeanField};
use lehr_infer::method::Method;
use lehr_infer::surrogate::SurrogateKind;
use lehr_infer::train::{
    Iterations, Objective, Run, Task, TrainError, TrainSettings, Trained, train,
};
use lehr_model::distribution::{Normal, Poisson};
use lehr_model::{Bound, Model};
use lehr_table::Table;

use crate::linear::Linear;
use crate::{all_rows, fixed, run, starts, try_run};

/// A model whose last row has no density where the level is below 0.
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

fn trained(density: &dyn Density, settings: &TrainSettings) -> Result<Trained, TrainError> {
    let guide = Base::MeanField(MeanField { start_scale: 1.0 });
    let task = Task {
        density,
        frame: &Frame::Identity,
        guide: &guide,
        score: &all_rows(),
    };
    let mut run = Run {
        observer: &mut (),
        checkpoint: None,
    };
    train(&task, starts(density, &guide), settings, &mut run)
}

#[test]
fn a_few_steps_that_are_not_finite_are_skipped_and_counted() {
    let settings = TrainSettings {
        iterations: Iterations::Fixed(2000),
        ..TrainSettings::default()
    };
    let trained = trained(&edged(2.0), &settings).unwrap();
    assert!(
        trained.bad_steps > 10 && trained.bad_steps < 200,
        "{}",
        trained.bad_steps
    );
    assert_eq!(trained.iterations, 2000);
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

#[test]
fn importance_weights_of_any_spread_do_not_overflow() {
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(level, 1e-3)));
    });
    let table = Table::new().with_number("y", vec![0.3; 5]).unwrap();
    let settings = TrainSettings {
        iterations: Iterations::Fixed(300),
        objective: Objective::ImportanceWeighted,
        lanes: 8,
        ..TrainSettings::default()
    };
    let trained = trained(&model.bind(&table).unwrap(), &settings).unwrap();
    assert_eq!(trained.bad_steps, 0);
}

fn refusal(density: &dyn Density, change: impl FnOnce(&mut Fit)) -> String {
    let mut fit = fixed(Method::SlDais, 10);
    change(&mut fit);
    match try_run(&fit, density) {
        Ok(_) => panic!("expected a refusal"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn settings_that_cannot_work_are_refused_in_one_sentence() {
    let linear = Linear::new(30, 2, 1).bind();
    let refused = |expected: &str, change: &dyn Fn(&mut Fit)| {
        let found = refusal(&linear, change);
        assert_eq!(found.lines().next().unwrap(), expected);
    };
    refused(
        "sl-dais: a batch of 31 rows was asked for, but the table has 30",
        &|f| {
            f.batch = Some(31);
        },
    );
    refused("sl-dais: a batch of 0 rows was asked for", &|f| {
        f.batch = Some(0);
    });
    refused(
        "full-rank: chain steps or a surrogate were set, but the method has no chain",
        &|f| {
            f.method = Method::FullRank;
            f.surrogate = Some(SurrogateKind::RANDOM);
        },
    );
    refused(
        "dais: a surrogate was set, but the chain runs on the table's rows",
        &|f| {
            f.method = Method::Dais;
            f.surrogate = Some(SurrogateKind::RANDOM);
        },
    );
    refused(
        "sl-dais: 31 surrogate rows were asked for, but the table has 30",
        &|f| {
            f.surrogate_rows = Some(31);
        },
    );
    refused(
        "sl-dais: 24 draws were asked for, fewer than the 25 a verdict needs",
        &|f| {
            f.draws = 24;
        },
    );
    refused("train: no learned block \"mean\"", &|f| {
        f.train.frozen = vec!["mean".into()];
    });
    refused(
        "schedule: expected a positive learning rate, found 0",
        &|f| {
            f.train.schedule = lehr_infer::train::Schedule::Constant(0.0);
        },
    );
    refused(
        "sl-dais: a control variate was asked for, but there is no mode to expand at",
        &|f| {
            f.start = Start::Zero;
            f.control = Some(true);
        },
    );
    refused(
        "sl-dais: taylor needs the posterior's mode, but none was computed",
        &|f| {
            f.start = Start::Zero;
            f.surrogate = Some(SurrogateKind::TAYLOR);
        },
    );
}

#[test]
fn numbers_out_of_range_are_refused_in_one_sentence() {
    let linear = Linear::new(30, 2, 1).bind();
    let refused = |expected: &str, change: &dyn Fn(&mut Fit)| {
        let found = refusal(&linear, change);
        assert_eq!(found.lines().next().unwrap(), expected);
    };
    refused("sl-dais: 0 draws per step were asked for", &|f| {
        f.train.lanes = 0;
    });
    refused(
        "sl-dais: expected a step size between 0 and 0.25, found 0.3",
        &|f| {
            f.annealed_start.step_size = 0.3;
        },
    );
    refused(
        "sl-dais: expected a refreshment of at least 0 and below 1, found 1",
        &|f| {
            f.annealed_start.refreshment = 1.0;
        },
    );
    refused(
        "sl-dais: expected a positive momentum variance, found 0",
        &|f| {
            f.annealed_start.momentum_variance = 0.0;
        },
    );
    refused(
        "dais: surrogate rows were set, but the chain runs on the table's rows",
        &|f| {
            f.method = Method::Dais;
            f.surrogate_rows = Some(8);
        },
    );
    refused(
        "mean-field: a full-rank base was set, but the method is its own base",
        &|f| {
            f.method = Method::MeanField;
            f.base = Some(Base::FullRank(lehr_infer::guide::FullRank::default()));
        },
    );
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
        f.surrogate = Some("rand±".parse().expect("a surrogate"))
    });
    assert!(
        found.starts_with("sl-dais: rand± needs a binary response"),
        "{found}"
    );
}

#[test]
fn a_small_cap_is_reported_as_not_converged() {
    let density = Linear::new(30, 2, 1).bind();
    let mut fit = Fit::new(Method::MeanField);
    fit.start = Start::Laplace;
    fit.train.iterations = Iterations::Auto { cap: 100 };
    let posterior = run(&fit, &density);
    assert!(!posterior.trained.converged);
    assert_eq!(posterior.trained.iterations, 100);
    assert!(posterior.verdict().contains("training had not converged"));
    fit.train.iterations = Iterations::Auto { cap: 100_000 };
    let posterior = run(&fit, &density);
    assert!(
        posterior.trained.converged,
        "{}",
        posterior.trained.iterations
    );
    assert!(posterior.trained.iterations < 50_000);
}

#[test]
fn frozen_blocks_keep_their_values() {
    let density = Linear::new(30, 2, 1).bind();
    let mut fit = fixed(Method::SlDais, 100);
    fit.draws = 64;
    fit.train.frozen = vec!["refreshment".into(), "surrogate_log_weight".into()];
    let learned = run(&fit, &density).trained.learned;
    let blocks = learned.blocks();
    for block in blocks {
        let same = learned.get(&block.name).unwrap() == block.start;
        let frozen = fit.train.frozen.contains(&block.name);
        assert!(
            same == frozen || block.name.starts_with("base_"),
            "{}",
            block.name
        );
    }
}
