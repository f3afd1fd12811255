//! The batches of an epoch compared with the whole table, whether they are copied or borrowed.

use std::sync::Arc;

use lehr_density::{Density, Point};
use lehr_infer::guide::{LearnedBlocks, RowInput};
use lehr_infer::program::{Program, compile};

use crate::linear::Linear;

const SIZE: usize = 256;

/// The log likelihood of a step's batch at fixed weights.
fn program(density: &dyn Density, weight: &Arc<[f64]>) -> Program {
    let feed = RowInput::Batch {
        size: SIZE,
        purpose: "score".into(),
    };
    let run = (1, 7);
    let compiled = compile(density, &LearnedBlocks::new(Vec::new()), run, |context| {
        let z = context.fixed("weight", [weight.len()], weight);
        let params = context.graph().full([0], 0.0);
        let rows = context.rows("score", &feed);
        vec![density.log_likelihood(&Point::new(z, params), &rows).sum()]
    });
    compiled.unwrap()
}

/// The sums over the batches of one epoch equal those over all rows, and two epochs have different
/// batches.
fn assert_epochs_add_up(rows: usize, width: usize) {
    let linear = Linear::new(rows, width, 3);
    let density = linear.bind();
    let weight: Vec<f64> = (0..width).map(|i| 0.3 - 0.1 * i as f64).collect();
    let exact = linear.log_likelihood(&weight);
    let mut program = program(&density, &weight.into());
    let steps = rows / SIZE;
    let mut batch = |step: usize| {
        program.fill(density.source(), step as u64);
        program.run();
        program.output(0)[0]
    };
    let first: Vec<f64> = (0..steps).map(&mut batch).collect();
    let second: Vec<f64> = (steps..2 * steps).map(&mut batch).collect();
    for epoch in [&first, &second] {
        let sum: f64 = epoch.iter().sum();
        assert!((sum - exact).abs() < 1e-9 * exact.abs(), "{sum} {exact}");
    }
    assert!(first.iter().all(|one| !second.contains(one)));
}

#[test]
fn batches_of_an_epoch_add_up_to_all_rows() {
    assert_epochs_add_up(4 * SIZE, 3);
}

#[test]
fn batches_that_are_lent_from_a_shuffled_copy_add_up_to_all_rows() {
    let rows = 64 * SIZE;
    assert!(
        Linear::new(rows, 9, 3)
            .bind()
            .source()
            .shuffled_source()
            .is_some()
    );
    assert_epochs_add_up(rows, 9);
}
