//! `lehr-lab bench gp`: what one training step of a Gaussian process by inducing points costs.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lehr_graph::{Graph, Plan};
use lehr_infer::annealed::{AnnealedStart, Momentum};
use lehr_infer::guide::{FullRank, LearnedBlocks, RowInput, Whitening, all_blocks};
use lehr_infer::method::{GuideInputs, SlDais, VariationalMethod, VariationalSettings};
use lehr_infer::objective::Score;
use lehr_infer::program::Program;
use lehr_infer::start::natural::NaturalSteps;
use lehr_infer::start::{PlainMaximiser, StartRequest, StartingPoint, pace};
use lehr_infer::surrogate::SurrogateKind;
use lehr_infer::train::{Task, TrainSettings};
use lehr_lab::process::generate;
use lehr_model::Bound;
use lehr_numeric::adam::{Adam, AdamSettings};
use serde::Serialize;

use crate::session::Session;

use super::bench::advance;

/// Processor time of one training step of a Gaussian process by inducing points
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr-lab bench gp --points 128 --surrogate-rows 512 --batch 128 --chain-steps 4 --threads 1")]
pub(super) struct ProcessStep {
    /// Inducing points, M
    #[arg(long, default_value_t = 128)]
    points: usize,
    /// Columns
    #[arg(long, default_value_t = 2)]
    columns: usize,
    /// Rows of the table
    #[arg(long, default_value_t = 8000)]
    rows: usize,
    /// Rows that score a step
    #[arg(long, default_value_t = 128)]
    batch: usize,
    /// Rows of the surrogate
    #[arg(long, default_value_t = 512)]
    surrogate_rows: usize,
    /// Leapfrog steps of the chain
    #[arg(long, default_value_t = 4)]
    chain_steps: usize,
    /// Steps to time
    #[arg(long, default_value_t = 300)]
    steps: u64,
}

/// The answer.
#[derive(Serialize)]
struct Measured {
    /// Processor time of a step of SL-DAIS on a full-rank base.
    chain_milliseconds: f64,
    /// Processor time of a step of natural gradients with as many rows in a batch.
    natural_milliseconds: f64,
    /// Multiply–adds of a step of the chain as METHODS2 §3.3 counts them.
    counted: f64,
    /// The time of as many multiply–adds in one product of matrices on this machine.
    counted_milliseconds: f64,
    cholesky: usize,
    solves: usize,
    points: usize,
    columns: usize,
    rows: usize,
    batch: usize,
    surrogate_rows: usize,
    chain_steps: usize,
    threads: usize,
}

impl ProcessStep {
    pub(super) fn run(&self, session: &Session) -> Result<()> {
        ensure!(
            self.batch.max(self.surrogate_rows) <= self.rows && self.points <= self.rows,
            "--rows: expected at least the rows of a batch, of the surrogate and points, found {}",
            self.rows
        );
        let density = generate(self.rows, self.columns, self.points)?;
        let (chain, kernels) = self.chain(&density)?;
        let natural = self.natural(&density)?;
        let counted = self.counted();
        let measured = Measured {
            chain_milliseconds: 1e3 * chain,
            natural_milliseconds: 1e3 * natural,
            counted,
            counted_milliseconds: 1e3 * counted * seconds_of_multiply_add(self.points)?,
            cholesky: kernels[0],
            solves: kernels[1],
            points: self.points,
            columns: self.columns,
            rows: self.rows,
            batch: self.batch,
            surrogate_rows: self.surrogate_rows,
            chain_steps: self.chain_steps,
            threads: session.threads(),
        };
        session.answer(&measured, |_| words(&measured))
    }

    /// 3M²(B + N_surr) for the solve and its pullback, M³ for the factor and its pullback, 6KM·N_surr for the
    /// chain.
    fn counted(&self) -> f64 {
        let [points, batch, rows, steps] = [
            self.points,
            self.batch,
            self.surrogate_rows,
            self.chain_steps,
        ]
        .map(|count| count as f64);
        let solve = 3.0 * points.powi(2) * (batch + rows);
        solve + points.powi(3) + 6.0 * steps * points * rows
    }

    /// Processor seconds of a step of the chain, and how often its plan factorises and solves.
    fn chain(&self, density: &Bound) -> Result<(f64, [usize; 2])> {
        let base = Arc::new(FullRank::default());
        let mut method = SlDais {
            surrogate: Some(SurrogateKind::RANDOM),
            surrogate_rows: Some(self.surrogate_rows),
            variational: VariationalSettings::new(1, 1e-3),
            ..SlDais::default()
        };
        method.chain.base = Some(base.clone());
        method.chain.steps = Some(self.chain_steps);
        method.chain.momentum = Momentum::Diagonal;
        method.chain.start = AnnealedStart::default();
        let request = StartRequest {
            maximiser: &PlainMaximiser,
            density,
            base: base.clone(),
            seed: 0,
            plain: true,
            ends_at_best: false,
            expands: false,
        };
        let ground = GuideInputs {
            density,
            base,
            point: &StartingPoint::in_whitening(Whitening::Identity, &request),
            batch: self.batch,
            seed: 0,
        };
        let guide = method.guide(&ground, &mut Vec::new())?.guide;
        let score = Score {
            rows: RowInput::Batch {
                size: self.batch,
                purpose: "score".into(),
            },
            control: None,
        };
        let task = Task {
            density,
            whitening: &Whitening::Identity,
            guide: guide.as_ref(),
            score: &score,
            seed: 0,
        };
        let learned = LearnedBlocks::new(all_blocks(density, task.guide));
        let settings = TrainSettings {
            lanes: 1,
            ..TrainSettings::default()
        };
        let mut program = task.program(&learned, &settings)?;
        let report = program.plan().report();
        let count = |name: &str| report.kernels.get(name).copied().unwrap_or(0);
        let seconds = self.timed(&mut program, &task, learned)?;
        Ok((seconds, [count("cholesky"), count("solve")]))
    }

    fn timed(
        &self,
        program: &mut Program,
        task: &Task<'_>,
        mut learned: LearnedBlocks,
    ) -> Result<f64> {
        let mut adam = Adam::new(learned.values.len(), AdamSettings::default());
        let mut gradient = vec![0.0; learned.values.len()];
        per_step(self.steps, |step| {
            advance(program, task, step, &learned, &mut gradient);
            adam.ascend(1e-4, &mut learned.values, &gradient);
            Ok(())
        })
    }

    fn natural(&self, density: &Bound) -> Result<f64> {
        let mut steps = NaturalSteps::new(density, self.batch, 0)?;
        per_step(self.steps, |step| {
            let (share, rate) = pace(step);
            let bound = steps.step(step, share, rate);
            bound.context("a step that is not finite")?;
            Ok(())
        })
    }
}

fn words(measured: &Measured) -> String {
    let Measured {
        chain_milliseconds: chain,
        counted_milliseconds: known,
        ..
    } = measured;
    format!(
        "{chain:.2} ms of a processor per step of SL-DAIS-MVN {}; {:.1} million multiply-adds are \
         counted, which take {known:.2} ms in a product of matrices: {:.2} times as long\n\
         {} Cholesky factor(s) and {} solves in its plan\n\
         {:.2} ms per step of natural gradients\n\
         M = {}, {} columns, N_surr = {}, B = {}, {} rows, {} threads\n",
        measured.chain_steps,
        1e-6 * measured.counted,
        chain / known,
        measured.cholesky,
        measured.solves,
        measured.natural_milliseconds,
        measured.points,
        measured.columns,
        measured.surrogate_rows,
        measured.batch,
        measured.rows,
        measured.threads,
    )
}

/// Processor seconds of one step of many, without the first tenth; the minimum of five parts.
fn per_step(steps: u64, mut step: impl FnMut(u64) -> Result<()>) -> Result<f64> {
    const PARTS: u64 = 5;
    let warm = steps / 10 + 1;
    (0..warm).try_for_each(&mut step)?;
    let each = (steps / PARTS).max(1);
    let mut least = f64::INFINITY;
    for part in 0..PARTS {
        let before = processor_seconds()?;
        let first = warm + part * each;
        (first..first + each).try_for_each(&mut step)?;
        least = least.min((processor_seconds()? - before) / each as f64);
    }
    Ok(least)
}

/// The time of a multiply–add in a product of matrices of this size.
fn seconds_of_multiply_add(size: usize) -> Result<f64> {
    const ROWS: usize = 512;
    let graph = Graph::new();
    let [a, b] = [("a", ROWS), ("b", size)].map(|(name, rows)| graph.input(name, [rows, size]));
    let plan = Plan::new(&[a.dot(b)], 1);
    let mut workspace = plan.workspace();
    for (input, count) in [(a, ROWS * size), (b, size * size)] {
        let slot = plan.input(input).context("an input that is read")?;
        let values: Vec<f64> = (0..count).map(|k| (k as f64).sin()).collect();
        workspace.set(slot, &values);
    }
    let seconds = per_step(500, |_| {
        plan.run(&mut workspace);
        Ok(())
    })?;
    Ok(seconds / (ROWS * size * size) as f64)
}

/// Processor time of all threads of this process.
fn processor_seconds() -> Result<f64> {
    let mut sum = 0.0;
    for task in std::fs::read_dir("/proc/self/task").context("/proc/self/task")? {
        let path = task?.path().join("schedstat");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let first = text.split(' ').next().unwrap_or_default();
        sum += 1e-9 * first.parse::<f64>().context("schedstat")?;
    }
    Ok(sum)
}
