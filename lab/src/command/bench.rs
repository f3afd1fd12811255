//! `lehr-lab bench step`: what one training step costs on generated data.

use std::sync::Arc;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use lehr_density::Density;
use lehr_graph::kernel::with_threads_awake;
use lehr_infer::annealed::{AnnealedStart, Momentum};
use lehr_infer::guide::{Base, Block, LearnedBlocks, RowInput, Whitening, params_block};
use lehr_infer::method::{GuideInputs, Method, find};
use lehr_infer::objective::Score;
use lehr_infer::program::Program;
use lehr_infer::start::{PlainMaximiser, StartRequest, StartingPoint, find_mode};
use lehr_infer::train::{Task, TrainSettings};
use lehr_lab::logistic;
use lehr_numeric::adam::{Adam, AdamSettings};
use lehr_numeric::lbfgs::LbfgsSettings;
use serde::Serialize;

use super::bench_process::ProcessStep;
use crate::session::Session;

/// Measure speed on generated data
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr-lab bench step --method sl-dais --chain-steps 8 --dim 28 --rows 50000 --batch 256
  lehr-lab bench step --method full-rank --lanes 4 --threads 1 --json")]
pub(crate) struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Step(Step),
    Gp(ProcessStep),
}

/// Median time of one training step of a logistic regression
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr-lab bench step --method sl-dais --base mean-field --surrogate rand --chain-steps 8 \\
    --dim 28 --rows 50000 --batch 256 --surrogate-rows 256 --lanes 1 --threads 1")]
struct Step {
    /// The method (see lehr methods)
    #[arg(long, default_value = "sl-dais")]
    method: String,
    /// The Gaussian below a chain
    #[arg(long, default_value = "mean-field")]
    base: String,
    /// What drives the chain of sl-dais
    #[arg(long, default_value = "rand")]
    surrogate: String,
    /// Leapfrog steps of the chain
    #[arg(long, default_value_t = 8)]
    chain_steps: usize,
    /// Columns of the table, one coefficient each
    #[arg(long, default_value_t = 28)]
    dim: usize,
    /// Rows of the table
    #[arg(long, default_value_t = 50_000)]
    rows: usize,
    /// Rows that score a step
    #[arg(long, default_value_t = 256)]
    batch: usize,
    /// Rows of the surrogate
    #[arg(long, default_value_t = 256)]
    surrogate_rows: usize,
    /// Draws per step
    #[arg(long, default_value_t = 1)]
    lanes: usize,
    /// Steps to time
    #[arg(long, default_value_t = 2000)]
    steps: usize,
}

/// The answer.
#[derive(Serialize)]
struct Measured {
    microseconds_per_step: f64,
    compile_milliseconds: f64,
    method: &'static str,
    base: &'static str,
    surrogate: Option<String>,
    chain_steps: usize,
    dim: usize,
    rows: usize,
    batch: usize,
    surrogate_rows: usize,
    lanes: usize,
    threads: usize,
    version: &'static str,
}

impl Bench {
    pub(crate) fn run(&self, session: &Session) -> Result<()> {
        let step = match &self.what {
            What::Step(step) => step,
            What::Gp(step) => return step.run(session),
        };
        let measured = step.measure(session)?;
        session.answer(&measured, |_| {
            format!(
                "{:.2} µs per step (median), compiled in {:.2} ms\n\
                 {}, base {}, {} chain steps, {} rows of {} columns, batch {}, {} lanes, {} \
                 threads\n",
                measured.microseconds_per_step,
                measured.compile_milliseconds,
                measured.method,
                measured.base,
                measured.chain_steps,
                measured.rows,
                measured.dim,
                measured.batch,
                measured.lanes,
                measured.threads,
            )
        })
    }
}

impl Step {
    fn check(&self) -> Result<()> {
        let counts = [
            ("dim", self.dim),
            ("rows", self.rows),
            ("batch", self.batch),
            ("lanes", self.lanes),
            ("steps", self.steps),
            ("surrogate-rows", self.surrogate_rows),
        ];
        for (name, count) in counts {
            ensure!(count > 0, "--{name}: expected at least 1, found 0");
        }
        ensure!(
            self.batch <= self.rows,
            "--batch: {} rows were asked for, but the table has {}",
            self.batch,
            self.rows
        );
        Ok(())
    }

    fn measure(&self, session: &Session) -> Result<Measured> {
        self.check()?;
        let method = self.method()?;
        let info = method.info();
        let trains = method.variational();
        let trains = trains.with_context(|| format!("{}: it trains no guide", info.name))?;
        let density = logistic::generate(self.rows, self.dim)?;
        let base = trains.base(&density);
        let point = self.point(&density, base.clone());
        let ground = GuideInputs {
            density: &density,
            base: base.clone(),
            point: &point,
            batch: self.batch,
            seed: 0,
        };
        let guide = trains.guide(&ground, &mut Vec::new())?.guide;
        let mut blocks: Vec<Block> = params_block(&density).into_iter().collect();
        blocks.extend(guide.blocks(&density));
        let task = Task {
            density: &density,
            whitening: &Whitening::Identity,
            guide: guide.as_ref(),
            score: &self.score(),
            seed: 0,
        };
        let (compile, step) = self.time(&task, LearnedBlocks::new(blocks))?;
        let has = |name: &str| info.settings().iter().any(|one| one.name == name);
        Ok(Measured {
            microseconds_per_step: 1e6 * step,
            compile_milliseconds: 1e3 * compile,
            method: info.name,
            base: base.name(),
            surrogate: has("surrogate").then(|| self.surrogate.clone()),
            chain_steps: if has("chain-steps") {
                self.chain_steps
            } else {
                0
            },
            dim: self.dim,
            rows: self.rows,
            batch: self.batch,
            surrogate_rows: self.surrogate_rows,
            lanes: self.lanes,
            threads: session.threads(),
            version: env!("CARGO_PKG_VERSION"),
        })
    }

    /// The method with its settings and a chain as in the paper.
    fn method(&self) -> Result<Box<dyn Method>> {
        let row = find(&self.method)?;
        let known = row.settings();
        let mut method = (row.new)();
        let given = [
            ("base", self.base.clone()),
            ("chain-steps", self.chain_steps.to_string()),
            ("surrogate", self.surrogate.clone()),
            ("surrogate-rows", self.surrogate_rows.to_string()),
        ];
        for (name, value) in given {
            if known.iter().any(|one| one.name == name) {
                method.set(name, &value)?;
            }
        }
        if let Some(chain) = method.variational_mut().and_then(|one| one.chain_mut()) {
            chain.momentum = Momentum::Diagonal;
            chain.start = AnnealedStart::default();
        }
        Ok(method)
    }

    /// The model's default start, with the expansion point of `taylor`.
    fn point(&self, density: &dyn Density, base: Arc<dyn Base>) -> StartingPoint {
        let request = StartRequest {
            maximiser: &PlainMaximiser,
            density,
            base,
            seed: 0,
            plain: true,
            ends_at_best: false,
            expands: true,
        };
        let point = StartingPoint::in_whitening(Whitening::Identity, &request);
        if self.surrogate != "taylor" {
            return point;
        }
        let mode = find_mode(density, LbfgsSettings::default()).unwrap();
        StartingPoint {
            curvature: Some(mode.curvature(density).unwrap()),
            centre: Some(mode),
            ..point
        }
    }

    fn score(&self) -> Score {
        let rows = if self.batch == self.rows {
            RowInput::All
        } else {
            RowInput::Batch {
                size: self.batch,
                purpose: "score".into(),
            }
        };
        Score {
            rows,
            control: None,
        }
    }

    /// Seconds of compiling and of the median step.
    fn time(&self, task: &Task<'_>, mut learned: LearnedBlocks) -> Result<(f64, f64)> {
        let settings = TrainSettings {
            lanes: self.lanes,
            ..TrainSettings::default()
        };
        let clock = Instant::now();
        let mut program = task.program(&learned, &settings)?;
        let compile = clock.elapsed().as_secs_f64();
        let mut adam = Adam::new(learned.values.len(), AdamSettings::default());
        let mut gradient = vec![0.0; learned.values.len()];
        let warm = self.steps / 10 + 1;
        let mut times = Vec::with_capacity(self.steps);
        let parts = program.plan().has_parts();
        // As in training.
        with_threads_awake(parts, || {
            for step in 0..warm + self.steps {
                let clock = Instant::now();
                advance(&mut program, task, step as u64, &learned, &mut gradient);
                adam.ascend(1e-4, &mut learned.values, &gradient);
                if step >= warm {
                    times.push(clock.elapsed().as_secs_f64());
                }
            }
        });
        times.sort_unstable_by(f64::total_cmp);
        Ok((compile, times[times.len() / 2]))
    }
}

/// The bound's gradient at one step, as training computes it.
pub(super) fn advance(
    program: &mut Program,
    task: &Task<'_>,
    step: u64,
    learned: &LearnedBlocks,
    gradient: &mut [f64],
) {
    program.set_learned(&learned.values);
    program.fill(task.density.source(), step);
    program.run();
    let mut at = 0;
    for place in 0..learned.blocks().len() {
        let part = program.output(1 + place);
        gradient[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
}
