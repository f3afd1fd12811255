//! The gradient of the training objective against central differences with frozen noise.

use std::sync::Arc;

use lehr_density::Density;
use lehr_infer::annealed::{Drive, Momentum};
use lehr_infer::guide::{Base, Guide, Whitening};
use lehr_infer::objective::{ControlVariate, Score};
use lehr_infer::train::{Task, TrainSettings};

use crate::fixture::{bases, chain, difference, value};
use crate::model::small_models;
use crate::{all_rows, batch, starts, stir};

/// The largest allowed error relative to the largest entry of a block's gradient.
const TOLERANCE: f64 = 1e-7;

fn settings() -> TrainSettings {
    TrainSettings {
        lanes: 2,
        ..TrainSettings::default()
    }
}

/// Compares every entry of a task's gradient with differences of its objective.
fn assert_exact(task: &Task<'_>, what: &str) {
    let mut learned = starts(task.density, task.guide);
    stir(&mut learned);
    let mut program = task.program(&learned, &settings()).unwrap();
    program.fill(task.density.source(), 9);
    let bound = value(&mut program, &learned.values);
    assert!(bound.is_finite(), "{what}: the objective is {bound}");
    let count = learned.blocks().len();
    let gradients: Vec<Vec<f64>> = (1..=count).map(|k| program.output(k).to_vec()).collect();
    for (block, gradient) in gradients.iter().enumerate() {
        let name = learned.blocks()[block].name.clone();
        let largest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        assert!(largest > 1e-9, "{what}: {name} does not matter");
        for (place, exact) in learned.range(block).zip(gradient) {
            let found = difference(&mut program, &mut learned.values, place);
            let error = (found - exact).abs() / largest;
            assert!(
                error < TOLERANCE,
                "{what}: {name} {found} for {exact} ({error:e})"
            );
        }
    }
}

/// An arbitrary control variate: derivatives do not depend on its quality.
fn some_control(density: &dyn Density) -> ControlVariate {
    let size = density.latents().size();
    let wave = |scale: f64| move |k: usize| scale * (1.0 + 1.3 * k as f64).sin();
    let hessian = |k: usize| wave(0.4)((k / size) * (k % size));
    ControlVariate {
        mode: (0..size).map(wave(0.2)).collect(),
        value: -3.0,
        gradient: (0..size).map(wave(0.5)).collect(),
        hessian: Some((0..size * size).map(hessian).collect()),
        params: Arc::from(density.params().start()),
        summed: None,
    }
}

fn whitenings(size: usize) -> [Whitening; 3] {
    let shift: Arc<[f64]> = (0..size).map(|i| 0.1 * (i as f64).cos()).collect();
    let entry = |k: usize| match (k / size, k % size) {
        (i, j) if i == j => 0.7 + 0.1 * (i as f64).sin(),
        (i, j) if i > j => 0.2 * ((i + 2 * j) as f64).sin(),
        _ => 0.0,
    };
    [
        Whitening::Identity,
        Whitening::Diagonal {
            shift: shift.clone(),
            scale: (0..size).map(|i| 0.8 + 0.3 * (i as f64).sin()).collect(),
        },
        Whitening::Dense {
            shift,
            factor: (0..size * size).map(entry).collect(),
        },
    ]
}

/// Every model with the identity frame and the guides of `guides`, scored by `score`.
fn for_every_model(guides: impl Fn() -> Vec<(String, Arc<dyn Guide>)>, score: &Score) {
    for small in small_models() {
        for (name, guide) in guides() {
            let task = Task {
                density: &small.density,
                whitening: &Whitening::Identity,
                guide: guide.as_ref(),
                score,
                seed: 4,
            };
            let what = format!("{} by {name}", small.name);
            assert_exact(&task, &what);
        }
    }
}

fn chains(drive: &Drive) -> Vec<(String, Arc<dyn Guide>)> {
    let with = |base: Arc<dyn Base>| {
        [Momentum::Diagonal, Momentum::Whitened].map(|momentum| {
            let name = format!("{} {momentum:?}", base.name());
            let guide: Arc<dyn Guide> = Arc::new(chain(base.clone(), momentum, drive.clone()));
            (name, guide)
        })
    };
    bases().into_iter().flat_map(with).collect()
}

#[test]
fn gaussian_guides_have_exact_gradients_on_every_model() {
    let guides = || {
        let boxed =
            |base: Arc<dyn Base>| -> (String, Arc<dyn Guide>) { (base.name().into(), base) };
        bases().into_iter().map(boxed).collect()
    };
    for_every_model(guides, &all_rows());
    for_every_model(guides, &batch(4, "score"));
}

#[test]
fn chains_on_all_rows_have_exact_gradients_on_every_model() {
    for_every_model(|| chains(&Drive::FullData), &all_rows());
}

#[test]
fn chains_on_a_batch_have_exact_gradients_on_every_model() {
    for_every_model(|| chains(&Drive::Batch { size: 3 }), &batch(4, "score"));
}

#[test]
fn chains_on_fresh_batches_have_exact_gradients_on_every_model() {
    for_every_model(
        || chains(&Drive::FreshBatch { size: 3 }),
        &batch(4, "score"),
    );
}

#[test]
fn frames_weights_and_controls_have_exact_gradients_on_every_model() {
    let [mean_field, full_rank, low_rank] = bases();
    let guides: [Arc<dyn Guide>; 3] = [
        low_rank,
        Arc::new(chain(mean_field, Momentum::Whitened, Drive::FullData)),
        Arc::new(chain(
            full_rank,
            Momentum::Diagonal,
            Drive::Batch { size: 3 },
        )),
    ];
    for small in small_models() {
        let size = small.density.latents().size();
        let control = some_control(&small.density);
        let first_order = ControlVariate {
            hessian: None,
            ..control.clone()
        };
        for (k, guide) in guides.iter().enumerate() {
            let score = Score {
                control: Some([&control, &first_order][k % 2].clone()),
                ..batch(4, "score")
            };
            for whitening in whitenings(size) {
                let task = Task {
                    density: &small.density,
                    whitening: &whitening,
                    guide: guide.as_ref(),
                    score: &score,
                    seed: 4,
                };
                let what = format!("{} by guide {k} in {whitening:?}", small.name);
                assert_exact(&task, &what);
            }
        }
    }
}
