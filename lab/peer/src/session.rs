//! The requests of a session, and its state between them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use lehr_density::Density;
use lehr_infer::draw::evaluate;
use lehr_infer::guide::{Block, Guide, LearnedBlocks, ROW_NUMBERS, WhitenedDensity, Whitening};
use lehr_infer::local::{IntegratedDensity, Marginal};
use lehr_infer::objective::Score;
use lehr_infer::run::Run;
use lehr_infer::train::{Iterations, Schedule, Task, TrainSettings, train};
use lehr_model::Bound;
use lehr_numeric::summary::{mean, sd};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::case::{Case, MethodName, Quantities};
use crate::local::{Extent, LocalCase};
use crate::process::{Process, ProcessCase};
use crate::{chains, cold, local, logistic};

/// The rate of a timed step; both sides take the same.
const RATE: f64 = 1e-3;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Take this table.
    Data {
        path: PathBuf,
        rows: usize,
        columns: usize,
    },
    /// Compile a training step.
    Build { case: Case },
    /// Take the robust regression of this table, with a latent of each row.
    Robust {
        path: PathBuf,
        rows: usize,
        columns: usize,
    },
    /// Compile a training step with a chain for each row.
    BuildLocal { case: LocalCase },
    /// A whole fit with a chain for each row, or with rows integrated if there is no case.
    FitLocal {
        case: Option<LocalCase>,
        extent: Extent,
    },
    /// Train this many further steps.
    Block { steps: u64 },
    /// The bound on all rows at given quantities.
    Bound {
        case: Case,
        at: Quantities,
        draws: usize,
        seed: u64,
    },
    /// A whole fit with the defaults.
    Fit { method: MethodName, seed: u64 },
    /// Load the response of the hierarchy.
    Hierarchy { path: PathBuf, groups: usize },
    /// Build a funnel.
    Funnel { size: usize },
    /// Markov chains with the defaults.
    Chains { method: String, seed: u64 },
    /// Take a Gaussian process by inducing points, with rows to test.
    Process { case: ProcessCase },
    /// Train it for further steps.
    ProcessBlock { steps: u64 },
    /// The log likelihood of its test rows.
    ProcessScore,
    /// The quality of draws that the other side has written.
    Worth {
        path: PathBuf,
        chains: usize,
        size: usize,
    },
}

/// The state between requests.
#[derive(Default)]
pub(crate) struct Session {
    density: Option<Bound>,
    built: Option<Built>,
    process: Option<Process>,
}

/// A method in training.
struct Built {
    guide: Arc<dyn Guide>,
    score: Score,
    learned: LearnedBlocks,
    lanes: usize,
}

impl Session {
    pub(crate) fn answer(&mut self, request: Request) -> Result<Value> {
        match request {
            Request::Data {
                path,
                rows,
                columns,
            } => Ok(self.take(logistic::read(&path, rows, columns)?)),
            Request::Build { case } => self.build(&case),
            Request::Robust {
                path,
                rows,
                columns,
            } => Ok(self.take(local::read(&path, rows, columns)?)),
            Request::BuildLocal { case } => self.build_local(case),
            Request::FitLocal { case, extent } => match case {
                Some(case) => case.fit(self.density()?, extent),
                None => extent.integrated(self.density()?),
            },
            Request::Block { steps } => self.block(steps),
            Request::Bound {
                case,
                at,
                draws,
                seed,
            } => self.bound(&case, &at, (draws, seed)),
            Request::Fit { method, seed } => cold::fit(self.density()?, method.name(), seed),
            Request::Hierarchy { path, groups } => Ok(self.take(chains::hierarchy(&path, groups)?)),
            Request::Funnel { size } => Ok(self.take(chains::funnel(size)?)),
            Request::Chains { method, seed } => chains::run(self.density()?, &method, seed),
            Request::Process { case } => {
                self.process = Some(Process::new(&case)?);
                Ok(json!({}))
            }
            Request::ProcessBlock { steps } => self.process()?.block(steps),
            Request::ProcessScore => Ok(self.process()?.score()),
            Request::Worth { path, chains, size } => chains::worth(&path, chains, size),
        }
    }

    fn take(&mut self, density: Bound) -> Value {
        self.density = Some(density);
        json!({})
    }

    fn density(&self) -> Result<&Bound> {
        self.density.as_ref().context("no table was given")
    }

    fn process(&mut self) -> Result<&mut Process> {
        self.process.as_mut().context("no process was given")
    }

    fn build(&mut self, case: &Case) -> Result<Value> {
        let density = self.density()?;
        let guide = case.guide(density);
        let built = Built {
            learned: LearnedBlocks::new(guide.blocks(density)),
            score: case.score(),
            lanes: case.lanes,
            guide,
        };
        self.compile(built)
    }

    fn build_local(&mut self, case: LocalCase) -> Result<Value> {
        let density = self.density()?;
        let integrated = IntegratedDensity::of(density).context("no latents of rows")?;
        let guide = case.guide(&integrated);
        let built = Built {
            learned: LearnedBlocks::new(guide.blocks(&integrated)),
            score: case.score(),
            lanes: 1,
            guide: Arc::new(guide),
        };
        self.compile(built)
    }

    fn compile(&mut self, built: Built) -> Result<Value> {
        let marginal = Marginal::of(self.density()?, None);
        let density = marginal.density();
        let clock = Instant::now();
        let program = built
            .task(density)
            .program(&built.learned, &built.settings(1))?;
        let compile_seconds = clock.elapsed().as_secs_f64();
        let report = program.plan().report();
        let answer = json!({
            "compile_seconds": compile_seconds,
            "passes_over_all_rows": report.row_loops,
            "flops": report.flops,
        });
        self.built = Some(built);
        Ok(answer)
    }

    /// Steps as every fit runs them: clipping, averaging and monitoring of the bound included.
    fn block(&mut self, steps: u64) -> Result<Value> {
        let marginal = Marginal::of(self.density.as_ref().context("no table was given")?, None);
        let density = marginal.density();
        let built = self.built.as_mut().context("nothing was built")?;
        let mut run = Run::default();
        let settings = built.settings(steps);
        let trained = train(&built.task(density), built.shared(), &settings, &mut run)?;
        let (compile, seconds) = (trained.compile, trained.seconds);
        built.learned = trained.learned;
        Ok(json!({ "seconds": seconds, "compile_seconds": compile }))
    }

    fn bound(&self, case: &Case, at: &Quantities, sample: (usize, u64)) -> Result<Value> {
        let density = self.density()?;
        let guide = case.guide(density);
        let learned = at.learned(guide.blocks(density))?;
        let place = WhitenedDensity::new(density, &Whitening::Identity);
        let weights = evaluate(place, guide.as_ref(), &learned, sample)?.log_weights;
        let error = sd(&weights) / (weights.len() as f64).sqrt();
        Ok(json!({ "mean": mean(&weights), "error": error }))
    }
}

impl Built {
    /// The learned quantities so far, except for the numbers of single rows, which restart.
    fn shared(&self) -> LearnedBlocks {
        let own = |block: &&Block| block.name != ROW_NUMBERS;
        let blocks = self.learned.blocks().iter().filter(own).cloned();
        let mut learned = LearnedBlocks::new(blocks.collect());
        learned.take_from(&self.learned);
        learned
    }

    fn task<'a>(&'a self, density: &'a dyn Density) -> Task<'a> {
        Task {
            density,
            whitening: &Whitening::Identity,
            guide: self.guide.as_ref(),
            score: &self.score,
            seed: 0,
        }
    }

    fn settings(&self, steps: u64) -> TrainSettings {
        TrainSettings {
            iterations: Iterations::Fixed(steps),
            lanes: self.lanes,
            schedule: Schedule::Constant(RATE),
            ..TrainSettings::default()
        }
    }
}
