//! Rows that every step sums are counted once, whichever batch they belong to.

use lehr_density::Density;
use lehr_infer::guide::{Guide, LearnedBlocks, MeanField, RowInput, all_blocks};
use lehr_infer::objective::{ControlVariate, ExactRows, Score, weigh};
use lehr_infer::program::{Program, compile};
use lehr_infer::start::find_mode;
use lehr_model::distribution::{Bernoulli, Distribution, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::lbfgs::LbfgsSettings;
use lehr_numeric::summary::{mean, sd};
use lehr_table::Table;

use crate::normals;

const STEPS: usize = 10;
/// Every row at a multiple of this number is an outlier.
const FAR: usize = 13;

/// A logistic regression in which every thirteenth row has a covariate thirty times as large.
fn bind(rows: usize) -> Bound {
    let mut x = normals(rows, 5);
    let label = x.iter().map(|x| f64::from(*x > 0.2)).collect();
    x.iter_mut().step_by(FAR).for_each(|x| *x *= 30.0);
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 0.1).expand([1]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight);
            row.observe("label", Bernoulli::with_logit(logit));
        });
    });
    let table = Table::new().with_number("label", label);
    let table = table.and_then(|table| table.with_matrix("x", rows, 1, x));
    model.bind(&table.unwrap()).unwrap()
}

fn program(
    density: &dyn Density,
    learned: &LearnedBlocks,
    base: MeanField,
    score: &Score,
) -> Program {
    let program = compile(density, learned, (1, 3), |context| {
        vec![weigh(context, &base, score).log_weight]
    });
    let mut program = program.unwrap();
    program.set_learned(&learned.values);
    program
}

/// The errors of the log weight of a draw in the steps of one epoch. A narrow guide far from the
/// mode draws nearly the same z in each step.
fn errors(density: &dyn Density, control: &ControlVariate) -> Vec<f64> {
    let base = MeanField { start_scale: 1e-9 };
    let mut learned = LearnedBlocks::new(all_blocks(density, &base as &dyn Guide));
    learned.values[0] = -0.3;
    let batch = RowInput::Batch {
        size: density.n_rows() / STEPS,
        purpose: "score".into(),
    };
    let [mut all, mut some] = [(RowInput::All, None), (batch, Some(control.clone()))]
        .map(|(rows, control)| program(density, &learned, base, &Score { rows, control }));
    let error = |step: usize| {
        let [exact, found] = [&mut all, &mut some].map(|program| {
            program.fill(density.source(), step as u64);
            program.run();
            program.output(0)[0]
        });
        found - exact
    };
    (0..STEPS).map(error).collect()
}

#[test]
fn an_epoch_counts_every_row_once_with_some_of_them_in_every_step() {
    // The longer table is large enough for its batches to be copied in random order.
    for (rows, copied) in [(260, false), (70_200, true)] {
        let density = bind(rows / STEPS * STEPS);
        assert_eq!(density.source().shuffled_source().is_some(), copied);
        let mode = find_mode(&density, LbfgsSettings::default()).unwrap();
        let mut control = ControlVariate::second_order(&mode, &mode.curvature(&density).unwrap());
        let plain = errors(&density, &control);
        let numbers: Vec<usize> = (0..density.n_rows()).step_by(7).collect();
        control.summed = Some(ExactRows::new(&density, &numbers));
        let summed = errors(&density, &control);
        let size = plain
            .iter()
            .fold(1.0_f64, |most, error| most.max(error.abs()));
        for errors in [&plain, &summed] {
            assert!(mean(errors).abs() < 1e-7 * size, "{rows}: {errors:?}");
        }
        assert!(plain != summed);
    }
}

#[test]
fn with_the_far_rows_in_every_step_batches_hardly_differ() {
    let density = bind(260);
    let mode = find_mode(&density, LbfgsSettings::default()).unwrap();
    let mut control = ControlVariate::second_order(&mode, &mode.curvature(&density).unwrap());
    let plain = sd(&errors(&density, &control));
    let far: Vec<usize> = (0..260).step_by(FAR).collect();
    control.summed = Some(ExactRows::new(&density, &far));
    let summed = sd(&errors(&density, &control));
    assert!(summed < 0.1 * plain, "{summed} of {plain}");
}
