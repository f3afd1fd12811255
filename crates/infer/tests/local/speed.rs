//! The cost of a step of chains over local latents does not depend on the number of rows.

use std::sync::Arc;
use std::time::Instant;

use lehr_density::Density;
use lehr_infer::annealed::AnnealedStart;
use lehr_infer::guide::{LearnedBlocks, MeanField, RowInput, Whitening, all_blocks};
use lehr_infer::local::{IntegratedDensity, RowBase, RowChains, Semi};
use lehr_infer::objective::Score;
use lehr_infer::train::{Task, TrainSettings};
use lehr_model::Model;
use lehr_model::distribution::{Gamma, HalfNormal, Normal};

use crate::{bind, normals};

/// The fastest of several runs of steps on a table of `rows` rows, in seconds per step.
fn seconds_per_step(rows: usize) -> f64 {
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let scale = m.sample("scale", HalfNormal::new(1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(2.0, 2.0));
            let mean = row.number("x") * slope;
            row.observe("y", Normal::new(mean, scale / precision.sqrt()));
        });
    });
    let bound = bind(
        &model,
        &[("x", &normals(rows, 71)), ("y", &normals(rows, 72))],
    );
    let integrated = IntegratedDensity::of(&bound).unwrap();
    let guide = Semi {
        latents: Arc::new(MeanField::default()),
        rows: RowChains {
            base: RowBase::Newton,
            steps: 8,
            start: AnnealedStart::default(),
        },
        own: None,
    };
    let rows = RowInput::Batch {
        size: 256,
        purpose: "score".into(),
    };
    let score = Score {
        rows,
        control: None,
    };
    let task = Task {
        density: &integrated,
        whitening: &Whitening::Identity,
        guide: &guide,
        score: &score,
        seed: 4,
    };
    let learned = LearnedBlocks::new(all_blocks(&integrated, &guide));
    let mut program = task.program(&learned, &TrainSettings::default()).unwrap();
    program.set_learned(&learned.values);
    let mut fastest = f64::INFINITY;
    for run in 0..8 {
        let clock = Instant::now();
        for step in 0..100 {
            program.fill(integrated.source(), run * 100 + step);
            program.run();
        }
        fastest = fastest.min(clock.elapsed().as_secs_f64() / 100.0);
    }
    fastest
}

#[test]
#[ignore = "ten million rows"]
fn a_step_takes_as_long_on_ten_million_rows_as_on_ten_thousand() {
    let few = seconds_per_step(10_000);
    let many = seconds_per_step(10_000_000);
    println!("{:.3} ms, {:.3} ms", 1e3 * few, 1e3 * many);
    assert!(many < 1.5 * few, "{many} {few}");
}
