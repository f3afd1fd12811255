//! Identities that hold up to rounding.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lehr_density::Density;
use lehr_infer::annealed::{AnnealedGuide, AnnealedStart, Drive, Momentum};
use lehr_infer::fit::Fit;
use lehr_infer::guide::{Base, Guide, LearnedBlocks, MeanField, RowInput, Whitening};
use lehr_infer::method::VariationalSettings;
use lehr_infer::objective::{ControlVariate, Score, weigh};
use lehr_infer::observer::{Observer, Phase, Progress, Wish};
use lehr_infer::posterior::Posterior;
use lehr_infer::program::{Program, compile};
use lehr_infer::run::{Checkpoint, ExistingCheckpoint};
use lehr_infer::start::{Laplace, find_mode};
use lehr_infer::train::{Iterations, Task, TrainSettings};
use lehr_model::distribution::{Bernoulli, Distribution, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::lbfgs::LbfgsSettings;
use lehr_numeric::stream::Stream;
use lehr_numeric::summary::sd;
use lehr_table::Table;

use crate::fixture::{bases, chain as chain_of_three};
use crate::model::small_models;
use crate::{
    all_rows, batch, common, estimate, fixed, learned, named, normals, run, set, starts, stir, with,
};

const LANES: usize = 4;

fn chain(base: Arc<dyn Base>, momentum: Momentum, drive: Drive, steps: usize) -> AnnealedGuide {
    AnnealedGuide {
        steps,
        ..chain_of_three(base, momentum, drive)
    }
}

/// z and log weights, with noise that depends only on the names of its inputs.
fn weighed(density: &dyn Density, guide: &dyn Guide, learned: &LearnedBlocks) -> [Vec<f64>; 2] {
    let mut program = compile(density, learned, (LANES, 1), |context| {
        let weighed = weigh(context, guide, &all_rows());
        vec![weighed.latents, weighed.log_weight]
    })
    .unwrap();
    program.set_learned(&learned.values);
    program.fill(density.source(), 3);
    set_noise(&mut program, density.latents().size());
    program.run();
    [0, 1].map(|k| program.output(k).to_vec())
}

fn set_noise(program: &mut Program, size: usize) {
    let momenta = (0..8).map(|k| format!("momentum {k}"));
    for name in momenta.chain(["base_noise".into(), "base_noise_along".into()]) {
        if let Some(slot) = program.plan().input_named(&name) {
            let width = if name.ends_with("along") { 2 } else { size };
            let mut noise = vec![0.0; LANES * width];
            Stream::new(2, &name, 0).fill_normal(&mut noise);
            program.workspace_mut().set(slot, &noise);
        }
    }
}

fn assert_near(found: &[Vec<f64>; 2], expected: &[Vec<f64>; 2], what: &str) {
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-11, "{what}: {found} for {expected}");
    }
}

fn stirred(density: &dyn Density, guide: &dyn Guide) -> LearnedBlocks {
    let mut learned = starts(density, guide);
    stir(&mut learned);
    learned
}

#[test]
fn no_steps_are_the_base() {
    for small in small_models() {
        for base in bases() {
            let learned = stirred(&small.density, base.as_ref());
            let expected = weighed(&small.density, base.as_ref(), &learned);
            for drive in [Drive::FullData, Drive::Batch { size: 3 }] {
                let guide = chain(base.clone(), Momentum::Whitened, drive, 0);
                assert_eq!(weighed(&small.density, &guide, &learned), expected);
            }
        }
    }
}

#[test]
fn steps_of_no_length_leave_z_and_its_weight_where_they_were() {
    for small in small_models() {
        for base in bases() {
            let of_base = stirred(&small.density, base.as_ref());
            let expected = weighed(&small.density, base.as_ref(), &of_base);
            for momentum in [Momentum::Diagonal, Momentum::Whitened] {
                let guide = chain(base.clone(), momentum, Drive::FullData, 3);
                let mut learned = stirred(&small.density, &guide);
                learned.take_from(&of_base);
                set(&mut learned, "step_size", &[-800.0]);
                set(&mut learned, "step_growth", &[0.0]);
                let found = weighed(&small.density, &guide, &learned);
                assert_near(&found, &expected, small.name);
            }
        }
    }
}

#[test]
fn batches_of_all_rows_are_all_rows() {
    for small in small_models() {
        let size = small.density.n_rows();
        for base in bases() {
            for momentum in [Momentum::Diagonal, Momentum::Whitened] {
                let dais = chain(base.clone(), momentum, Drive::FullData, 3);
                let learned = stirred(&small.density, &dais);
                let expected = weighed(&small.density, &dais, &learned);
                for drive in [Drive::Batch { size }, Drive::FreshBatch { size }] {
                    let guide = chain(base.clone(), momentum, drive, 3);
                    let found = weighed(&small.density, &guide, &learned);
                    assert_near(&found, &expected, small.name);
                }
            }
        }
    }
}

/// z after one leapfrog step of unit momentum variance from z₀ with momentum p.
fn step(density: &dyn Density, from: &[f64], momentum: &[f64], step_size: f64) -> Vec<f64> {
    let base = Arc::new(MeanField::default());
    let mut guide = chain(base, Momentum::Diagonal, Drive::FullData, 1);
    guide.start = AnnealedStart {
        step_size,
        step_growth: 0.0,
        momentum_variance: 1.0,
        ..guide.start
    };
    let mut learned = starts(density, &guide);
    set(&mut learned, "base_mean", from);
    let mut program = compile(density, &learned, (1, 1), |context| {
        vec![weigh(context, &guide, &all_rows()).latents]
    })
    .unwrap();
    program.set_learned(&learned.values);
    for (name, values) in [
        ("base_noise", &vec![0.0; from.len()]),
        ("momentum 0", &momentum.to_vec()),
    ] {
        let slot = program.plan().input_named(name).unwrap();
        program.workspace_mut().set(slot, values);
    }
    program.run();
    program.output(0).to_vec()
}

#[test]
fn the_leapfrog_run_backwards_returns() {
    let step_size = 0.13;
    for small in small_models() {
        let size = small.density.latents().size();
        let from: Vec<f64> = normals(size, 3).iter().map(|z| 0.3 * z).collect();
        let momentum = normals(size, 4);
        let to = step(&small.density, &from, &momentum, step_size);
        // z₁ = z₀ + ½η(p + p̂) gives the momentum after the kick, which is then reversed.
        let turned: Vec<f64> = (0..size)
            .map(|i| momentum[i] - 2.0 * (to[i] - from[i]) / step_size)
            .collect();
        let back = step(&small.density, &to, &turned, step_size);
        for (found, expected) in back.iter().zip(&from) {
            assert!(
                (found - expected).abs() < 1e-12,
                "{}: {found} {expected}",
                small.name
            );
        }
        assert!(to.iter().zip(&from).any(|(a, b)| (a - b).abs() > 1e-3));
    }
}

/// A logistic regression with row weights.
pub(crate) fn logistic(rows: &[usize], weights: &[f64], total: usize) -> Bound {
    let x = normals(3 * total, 5);
    let noise = normals(total, 6);
    let label = |n: usize| f64::from(x[3 * n] - 0.5 * x[3 * n + 1] + noise[n] > 0.3);
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([3]));
        m.rows(|row| {
            row.weight("w");
            row.observe("y", Bernoulli::with_logit(row.matrix("x").dot(weight)));
        });
    });
    let table = Table::new()
        .with_number("y", rows.iter().map(|&n| label(n)).collect())
        .and_then(|t| {
            let x = rows.iter().flat_map(|&n| x[3 * n..3 * n + 3].to_vec());
            t.with_matrix("x", rows.len(), 3, x.collect())
        })
        .and_then(|t| t.with_number("w", weights.to_vec()))
        .unwrap();
    model.bind(&table).unwrap()
}

#[test]
fn the_order_of_rows_does_not_matter_and_a_row_twice_is_weight_two() {
    let plain = logistic(&[0, 1, 2, 3, 4], &[1.0, 1.0, 2.0, 1.0, 0.5], 5);
    let moved = logistic(&[3, 2, 4, 0, 1], &[1.0, 2.0, 0.5, 1.0, 1.0], 5);
    let twice = logistic(&[0, 2, 1, 2, 3, 4], &[1.0, 1.0, 1.0, 1.0, 1.0, 0.5], 5);
    for base in bases() {
        for momentum in [Momentum::Diagonal, Momentum::Whitened] {
            let guide = chain(base.clone(), momentum, Drive::FullData, 3);
            let learned = stirred(&plain, &guide);
            let expected = weighed(&plain, &guide, &learned);
            assert_near(&weighed(&moved, &guide, &learned), &expected, "moved");
            assert_near(&weighed(&twice, &guide, &learned), &expected, "twice");
        }
    }
}

/// Stops at a given step.
struct StopAt(u64);

impl Observer for StopAt {
    fn progress(&mut self, progress: &Progress) -> Wish {
        if progress.step >= self.0 {
            Wish::Stop
        } else {
            Wish::Continue
        }
    }
}

fn checkpoint(path: &Path) -> Checkpoint {
    Checkpoint {
        path: path.to_owned(),
        every: Duration::from_secs(3600),
        older: ExistingCheckpoint::Resume,
    }
}

/// The fit, stopped at these steps and resumed each time.
fn interrupted(
    fit: impl Fn() -> Fit<'static>,
    density: &dyn Density,
    stops: &[u64],
    path: &Path,
) -> Posterior {
    let fit = || fit().checkpoint(checkpoint(path));
    for &stop in stops {
        let stopped = fit().observer(&mut StopAt(stop)).run(density);
        let stopped = stopped.unwrap_err().to_string();
        assert!(stopped.contains(": stopped after"), "{stopped}");
        assert!(stopped.contains("; resume from "), "{stopped}");
    }
    run(fit(), density)
}

fn assert_same_bits(found: &Posterior, expected: &Posterior) {
    assert_eq!(learned(found), learned(expected));
    let (one, other) = (found.training().unwrap(), expected.training().unwrap());
    assert_eq!(one.history, other.history);
    assert_eq!(one.iterations, other.iterations);
    assert_eq!(found.draws, expected.draws);
    assert_eq!(found.bound().unwrap(), expected.bound().unwrap());
}

fn some_rows(rows: usize) -> Bound {
    let all: Vec<usize> = (0..rows).collect();
    logistic(&all, &vec![1.0; rows], rows)
}

#[test]
fn a_fit_that_was_stopped_and_resumed_is_the_fit() {
    let density = some_rows(300);
    let folder = tempfile::tempdir().unwrap();
    for method in ["mean-field", "ns2-dais", "sl-dais"] {
        let fit = || {
            let fit = with(fixed(method, 700), "batch", 32);
            with(fit, "chain-steps", 3).draws(64)
        };
        let whole = run(fit(), &density);
        let path = folder.path().join(method);
        let pieces = interrupted(fit, &density, &[1, 65, 500, 620], &path);
        assert_same_bits(&pieces, &whole);
    }
}

#[test]
fn an_automatic_fit_that_was_stopped_and_resumed_is_the_fit() {
    let density = some_rows(200);
    let folder = tempfile::tempdir().unwrap();
    let fit = || {
        let mut fit = named("full-rank").draws(64);
        common(&mut fit).start = Some(Arc::new(Laplace));
        common(&mut fit).train.iterations = Iterations::Auto { cap: 30_000 };
        fit
    };
    let whole = run(fit(), &density);
    let training = whole.training().unwrap();
    assert!(training.converged, "{} steps", training.iterations);
    let stops = [640, 641, training.iterations / 2];
    let pieces = interrupted(fit, &density, &stops, &folder.path().join("fit"));
    assert_same_bits(&pieces, &whole);
}

/// Stops a phase at a step, and counts the progress reports of the phase.
struct StopIn {
    phase: Phase,
    step: u64,
    now: Phase,
    looks: usize,
}

impl StopIn {
    fn new(phase: Phase, step: u64) -> StopIn {
        StopIn {
            phase,
            step,
            now: Phase::START,
            looks: 0,
        }
    }
}

impl Observer for StopIn {
    fn begin(&mut self, phase: Phase) {
        self.now = phase;
    }

    fn progress(&mut self, progress: &Progress) -> Wish {
        if self.now != self.phase {
            return Wish::Continue;
        }
        self.looks += 1;
        if progress.step >= self.step {
            Wish::Stop
        } else {
            Wish::Continue
        }
    }
}

#[test]
fn a_fit_that_was_stopped_in_any_phase_is_the_fit() {
    let density = some_rows(300);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit");
    let fit = || {
        let fit = with(named("sl-dais"), "batch", 32);
        let fit = with(with(fit, "chain-steps", 2), "surrogate-rows", 32);
        let mut fit = fit.draws(64);
        common(&mut fit).start = Some(Arc::new(Laplace));
        common(&mut fit).train.iterations = Iterations::Auto { cap: 1500 };
        fit
    };
    let whole = run(fit(), &density);
    for (phase, step) in [
        (Phase::CLIMB, 1),
        (Phase::CLIMB, 3),
        (Phase::BASE, 64),
        (Phase::BASE, 641),
        (Phase::TRAIN, 64),
        (Phase::TRAIN, 700),
        (Phase::EVALUATE, 16),
        (Phase::EVALUATE, 48),
    ] {
        let mut stop = StopIn::new(phase, step);
        let stopping = fit().checkpoint(checkpoint(&path)).observer(&mut stop);
        let stopped = stopping.run(&density).unwrap_err().to_string();
        assert!(stopped.contains(": stopped after"), "{stopped}");
    }
    // Work in the checkpoint is not repeated: the draws of the chain and those of the base alone
    // have been weighed. The remaining draws are the base's own, which are reported because the
    // chain adds nothing to it.
    let copy = folder.path().join("copy");
    for (phase, looks) in [
        (Phase::CLIMB, 0),
        (Phase::BASE, 0),
        (Phase::TRAIN, 0),
        (Phase::EVALUATE, 1),
    ] {
        std::fs::copy(&path, &copy).unwrap();
        let mut watcher = StopIn::new(phase, u64::MAX);
        let rest = fit().checkpoint(checkpoint(&copy)).observer(&mut watcher);
        let pieces = run(rest, &density);
        assert_eq!(watcher.looks, looks, "{phase:?}");
        assert_same_bits(&pieces, &whole);
    }
}

/// Records the phases in which there was a checkpoint.
struct Saves<'a> {
    path: &'a Path,
    now: Phase,
    seen: Vec<Phase>,
}

impl Observer for Saves<'_> {
    fn begin(&mut self, phase: Phase) {
        self.now = phase;
    }

    fn progress(&mut self, _: &Progress) -> Wish {
        // The checkpoint is removed each time, so that every phase has to write its own.
        if std::fs::remove_file(self.path).is_ok() && !self.seen.contains(&self.now) {
            self.seen.push(self.now);
        }
        Wish::Continue
    }
}

#[test]
fn every_phase_writes_checkpoints() {
    let density = some_rows(300);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit");
    let mut saves = Saves {
        path: &path,
        now: Phase::START,
        seen: Vec::new(),
    };
    let mut fit = with(
        with(named("sl-dais"), "chain-steps", 2),
        "surrogate-rows",
        32,
    );
    common(&mut fit).start = Some(Arc::new(Laplace));
    common(&mut fit).train.iterations = Iterations::Auto { cap: 300 };
    let checkpoint = Checkpoint {
        every: Duration::ZERO,
        ..checkpoint(&path)
    };
    run(fit.checkpoint(checkpoint).observer(&mut saves), &density);
    let all = [
        Phase::CLIMB,
        Phase::BASE,
        Phase::TRAIN,
        Phase::EVALUATE,
        Phase::EXAMINE,
    ];
    assert_eq!(saves.seen, all);
}

#[test]
fn a_checkpoint_of_another_fit_is_refused() {
    let density = some_rows(300);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit");
    let fit = || with(fixed("mean-field", 200), "batch", 32).draws(64);
    interrupted(fit, &density, &[64], &path);
    let refused = |fit: Fit<'static>, density: &dyn Density| {
        let refused = fit.checkpoint(checkpoint(&path)).run(density);
        refused.unwrap_err().to_string()
    };
    let change = |f: fn(&mut VariationalSettings)| {
        let mut other = fit();
        f(common(&mut other));
        other
    };
    let others = [
        fit().seed(9),
        change(|f| f.train.schedule = lehr_infer::train::Schedule::Constant(1e-3)),
        change(|f| f.train.clip = None),
        change(|f| f.batch = Some(16)),
        change(|f| f.control = Some(false)),
        change(|f| f.train.lanes = 2),
    ];
    let expected = "expected a checkpoint of this fit, found one of another model, method or \
                    setting\n  hint: remove the file, or use --restart, to start anew";
    for other in others {
        assert!(refused(other, &density).ends_with(expected));
    }
    assert!(refused(fit(), &some_rows(299)).ends_with(expected));
    let weights: Vec<f64> = (0..300).map(|n| if n == 7 { 1.5 } else { 1.0 }).collect();
    let all: Vec<usize> = (0..300).collect();
    assert!(refused(fit(), &logistic(&all, &weights, 300)).ends_with(expected));
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let density = some_rows(8_000);
    for method in ["full-rank", "dais", "sl-dais"] {
        let within = |threads: usize| {
            let fit = with(fixed(method, 20), "batch", 8_000);
            let fit = with(with(fit, "lanes", 4), "chain-steps", 2);
            run(fit.draws(32).threads(threads), &density)
        };
        assert_same_bits(&within(2), &within(1));
    }
}

/// The objectives of many steps with the given score.
fn objectives(
    density: &dyn Density,
    whitening: &Whitening,
    score: &Score,
    learned: &LearnedBlocks,
) -> Vec<f64> {
    let base = bases()[1].clone();
    let task = Task {
        density,
        whitening,
        guide: base.as_ref(),
        score,
        seed: 8,
    };
    let mut program = task.program(learned, &TrainSettings::default()).unwrap();
    program.set_learned(&learned.values);
    let objective = |step: u64| {
        program.fill(density.source(), step);
        program.run();
        program.output(0)[0]
    };
    (0..6000).map(objective).collect()
}

#[test]
fn the_control_variate_keeps_the_mean_and_takes_the_variance() {
    let all: Vec<usize> = (0..2000).collect();
    let weights: Vec<f64> = (0..2000).map(|n| 0.5 + f64::from(n % 3)).collect();
    let density = logistic(&all, &weights, 2000);
    let mode = find_mode(&density, LbfgsSettings::default()).unwrap();
    let curvature = mode.curvature(&density).unwrap();
    let whitening = curvature.dense_whitening(&mode, None).expect("a maximum");
    let mut learned = starts(&density, bases()[1].as_ref());
    whitening.start(&mut learned);
    let exact = objectives(&density, &whitening, &all_rows(), &learned);
    let apart = |score: &Score| -> Vec<f64> {
        let found = objectives(&density, &whitening, score, &learned);
        found.iter().zip(&exact).map(|(a, b)| a - b).collect()
    };
    let plain = apart(&batch(50, "score"));
    let controlled = apart(&Score {
        control: Some(ControlVariate::second_order(&mode, &curvature)),
        ..batch(50, "score")
    });
    for differences in [&plain, &controlled] {
        let (mean, error) = estimate(differences);
        assert!(mean.abs() < 4.0 * error, "{mean} ± {error}");
    }
    let ratio = (sd(&controlled) / sd(&plain)).powi(2);
    println!("variance of the data term with the control over without: {ratio:.2e}");
    assert!(ratio < 1e-3, "{ratio}");
}

#[test]
fn the_control_variate_is_unbiased_away_from_the_mode_and_where_params_moved() {
    for small in small_models() {
        let density = &small.density;
        let mut mode = find_mode(
            density,
            LbfgsSettings {
                iterations: 3,
                ..LbfgsSettings::default()
            },
        )
        .unwrap();
        mode.latents
            .iter_mut()
            .for_each(|z| *z = z.clamp(-1.0, 1.0) + 0.2);
        mode.params = density.params().start().to_vec();
        let control = ControlVariate::second_order(&mode, &mode.curvature(density).unwrap());
        let mut learned = starts(density, bases()[1].as_ref());
        stir(&mut learned);
        let scored = |rows: RowInput| {
            let score = Score {
                rows,
                control: Some(control.clone()),
            };
            objectives(density, &Whitening::Identity, &score, &learned)
        };
        let exact = objectives(density, &Whitening::Identity, &all_rows(), &learned);
        let whole = scored(RowInput::All);
        for (found, expected) in whole.iter().zip(&exact) {
            let error = (found - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-9, "{}: {found} {expected}", small.name);
        }
        let part = scored(batch(3, "score").rows);
        let apart: Vec<f64> = part.iter().zip(&exact).map(|(a, b)| a - b).collect();
        let (mean, error) = estimate(&apart);
        assert!(mean.abs() < 4.0 * error, "{}: {mean} ± {error}", small.name);
    }
}
