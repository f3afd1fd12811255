//! A Gaussian process by inducing points, as on the other sides: steps, and a score of test rows.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use lehr_infer::pointwise::pointwise;
use lehr_infer::start::natural::NaturalSteps;
use lehr_infer::start::pace;
use lehr_lab::process::{Response, model};
use lehr_model::Bound;
use lehr_numeric::stream::Stream;
use lehr_table::Table;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::logistic::doubles;

/// The number of draws that score test rows.
const DRAWS: usize = 200;

/// A table whose last rows are test rows, inducing points to start from, and a batch size.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ProcessCase {
    path: PathBuf,
    rows: usize,
    columns: usize,
    test: usize,
    points: PathBuf,
    count: usize,
    batch: usize,
    noise: Noise,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Noise {
    Normal,
    Student,
}

/// A process in training. Its rows live as long as the program.
pub(crate) struct Process {
    steps: NaturalSteps<'static>,
    test: Bound,
    done: u64,
}

impl Process {
    pub(crate) fn new(case: &ProcessCase) -> Result<Process> {
        let values = numbers(&case.path, case.rows * (case.columns + 1))?;
        let places = numbers(&case.points, case.count * case.columns)?;
        let response = match case.noise {
            Noise::Normal => Response::Normal,
            Noise::Student => Response::Robust,
        };
        let model = model(response, places, case.columns);
        let train = case.rows - case.test;
        let (x, y) = values.split_at(case.rows * case.columns);
        let part = |rows: std::ops::Range<usize>| -> Result<Bound> {
            let own = rows.start * case.columns..rows.end * case.columns;
            let table = Table::new()
                .with_matrix("x", rows.len(), case.columns, x[own].to_vec())?
                .with_number("y", y[rows].to_vec())?;
            Ok(model.bind(&table)?)
        };
        let density: &'static Bound = Box::leak(Box::new(part(0..train)?));
        Ok(Process {
            steps: NaturalSteps::new(density, case.batch, 1)?,
            test: part(train..case.rows)?,
            done: 0,
        })
    }

    /// Runs further steps as a fit does.
    pub(crate) fn block(&mut self, steps: u64) -> Result<Value> {
        for step in self.done..self.done + steps {
            let (share, rate) = pace(step);
            let bound = self.steps.step(step, share, rate);
            bound.with_context(|| format!("the bound is not finite after {step} steps"))?;
        }
        self.done += steps;
        Ok(json!({}))
    }

    /// The log likelihood of a test row.
    pub(crate) fn score(&self) -> Value {
        let state = &self.steps.state;
        let size = state.mean.len();
        let mut stream = Stream::new(3, "score", 0);
        let mut draws = Vec::with_capacity(DRAWS * size);
        for _ in 0..DRAWS {
            let mut z = state.mean.clone();
            for direction in state.directions.chunks_exact(size) {
                let noise = stream.normal();
                z.iter_mut()
                    .zip(direction)
                    .for_each(|(z, one)| *z += noise * one);
            }
            draws.extend(z);
        }
        let (mut sum, mut count) = (0.0, 0.0);
        pointwise(&self.test, &draws, self.steps.params(), |rows, values| {
            for row in 0..rows.len() {
                let logs = || values.iter().skip(row).step_by(rows.len());
                let largest = logs().copied().fold(f64::NEG_INFINITY, f64::max);
                let mean = logs().map(|log| (log - largest).exp()).sum::<f64>() / DRAWS as f64;
                sum += largest + mean.ln();
                count += 1.0;
            }
        });
        json!({ "log_likelihood": sum / count })
    }
}

fn numbers(path: &Path, count: usize) -> Result<Vec<f64>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    ensure!(bytes.len() == 8 * count, "{}", path.display());
    Ok(doubles(&bytes))
}
