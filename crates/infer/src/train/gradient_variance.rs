//! The gain of a control variate in the variance of a step's gradient.

use lehr_numeric::batch::BatchError;

use super::{Task, TrainSettings};
use crate::guide::LearnedBlocks;
use crate::objective::Score;

/// The gain of a task's control variate: the variance of a step's gradient, summed over the learned
/// quantities, relative to that without it. Both draws and rows vary, as in training.
///
/// # Errors
/// If a batch is larger than the table.
pub fn variance_ratio(
    task: &Task<'_>,
    learned: &LearnedBlocks,
    settings: &TrainSettings,
) -> Result<f64, BatchError> {
    let plain = Score {
        control: None,
        ..task.score.clone()
    };
    let without = Task {
        score: &plain,
        ..*task
    };
    Ok(gradient_variance(task, learned, settings)?
        / gradient_variance(&without, learned, settings)?)
}

fn gradient_variance(
    task: &Task<'_>,
    learned: &LearnedBlocks,
    settings: &TrainSettings,
) -> Result<f64, BatchError> {
    const STEPS: u32 = 32;
    let mut program = task.program(learned, settings)?;
    program.set_learned(&learned.values);
    let size = learned.values.len();
    let (mut slope, mut mean, mut squares) = (vec![0.0; size], vec![0.0; size], 0.0);
    for step in 0..STEPS {
        program.fill(task.density.source(), step.into());
        program.run();
        program.gather(1..=learned.blocks().len(), &mut slope);
        // Welford's update, all quantities at once.
        for (mean, slope) in mean.iter_mut().zip(&slope) {
            let before = slope - *mean;
            *mean += before / f64::from(step + 1);
            squares += before * (slope - *mean);
        }
    }
    Ok(squares / f64::from(STEPS - 1))
}
