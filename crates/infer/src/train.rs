//! The one training loop: Adam on the bound, until it is level.

mod average;
mod bad_step;
mod control;
mod culprit;
mod fingerprint;
mod objective;
mod program;
mod schedule;
mod stationary;

pub use control::{Control, Summed, variance_ratio};
pub(crate) use control::{Order, SCORE, row_expansion};
pub(crate) use objective::weigh_prior;
pub use objective::{Objective, Score, Weighed, weigh};
pub use program::{Program, compile, compile_within};
pub(crate) use program::{batch_source, copy_rows, lend_all, read_columns};
pub use schedule::{Schedule, ScheduleError};
pub use stationary::{Stationary, StationarySettings, Trend, Verdict};

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lehr_density::Density;
use lehr_file::{FileError, load, save};
use lehr_graph::kernel::with_threads_awake;
use serde::{Deserialize, Serialize};

use crate::guide::{Frame, Gradient, Guide, Learned};
use average::Average;

use crate::file::CHECKPOINT;
use crate::observer::{Observer, Progress, Wish};
use lehr_numeric::adam::{Adam, AdamSettings, clip_norm};
use lehr_numeric::batch::BatchError;

/// How long to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Iterations {
    /// Until the bound is level at each of the schedule's rates in turn, or at a cap, which is
    /// reported as not converged.
    Auto {
        /// Steps at the most.
        cap: u64,
    },
    /// Exactly this many steps.
    Fixed(u64),
}

/// How to train.
#[derive(Clone, Serialize, Deserialize)]
pub struct TrainSettings {
    /// How long.
    pub iterations: Iterations,
    /// Draws per step.
    pub lanes: usize,
    /// The learning rate.
    pub schedule: Schedule,
    /// The largest norm of a gradient, in units of its typical norm so far; `None` never clips.
    pub clip: Option<f64>,
    /// What is maximised.
    pub objective: Objective,
    /// How the gradient treats log q.
    pub gradient: Gradient,
    /// Learned blocks that stay as they are.
    pub frozen: Vec<String>,
    /// Where all randomness comes from.
    pub seed: u64,
    /// A run with a larger share of steps that are not finite is stopped.
    pub max_bad_share: f64,
}

impl Default for TrainSettings {
    fn default() -> Self {
        TrainSettings {
            iterations: Iterations::Auto { cap: 200_000 },
            lanes: 1,
            schedule: Schedule::Staircase { start: 1e-2 },
            clip: Some(10.0),
            objective: Objective::Elbo,
            gradient: Gradient::Total,
            frozen: Vec::new(),
            seed: 0,
            max_bad_share: 0.1,
        }
    }
}

/// Where and how often a fit is saved while it runs.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The file.
    pub path: PathBuf,
    /// Time between writes.
    pub every: Duration,
}

/// What goes on around a training: who watches, and where checkpoints go.
pub struct Run<'a> {
    /// Who watches.
    pub observer: &'a mut dyn Observer,
    /// Where checkpoints go; an existing one of the same fit is gone on with.
    pub checkpoint: Option<Checkpoint>,
}

/// A training that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A batch that cannot be drawn.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A schedule that cannot be used.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// A checkpoint that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Too many steps were not finite.
    #[error(
        "train: {bad} of the first {steps} steps were not finite, most often in {block:?}{met}\n  hint: standardise the columns, start from the mode, or lower the learning rate"
    )]
    NotFinite {
        /// Steps skipped.
        bad: u64,
        /// Steps tried.
        steps: u64,
        /// The learned block whose gradient was not finite.
        block: String,
        /// Which site and rows were met, in words that follow a comma.
        met: String,
    },
    /// A name that is not among the learned blocks.
    #[error("train: no learned block {name:?}\n  hint: the blocks are {known}")]
    Block {
        /// The name.
        name: String,
        /// The blocks there are.
        known: String,
    },
    /// The watcher asked to stop.
    #[error("train: stopped after {step} steps{saved}")]
    Stopped {
        /// Steps done.
        step: u64,
        /// Where the checkpoint is, in words.
        saved: String,
    },
}

/// A finished training.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trained {
    /// The learned quantities, averaged over the last phase.
    pub learned: Learned,
    /// Steps done.
    pub iterations: u64,
    /// Whether the bound was level at the end; fixed lengths are taken at their word.
    pub converged: bool,
    /// Steps skipped because something was not finite.
    pub bad_steps: u64,
    /// The bound along the way: (step, mean of the estimates since the last entry).
    pub history: Vec<(u64, f64)>,
    /// Seconds of compiling and of training.
    pub seconds: (f64, f64),
    /// The steps that those seconds went to: fewer than all where a checkpoint was gone on with.
    pub steps_now: u64,
}

impl Trained {
    /// What needed no training, with the bound on the way to it.
    pub(crate) fn at_start(learned: Learned, bounds: &[f64]) -> Trained {
        Trained {
            learned,
            iterations: 0,
            converged: true,
            bad_steps: 0,
            history: (0..).zip(bounds.iter().copied()).collect(),
            seconds: (0.0, 0.0),
            steps_now: 0,
        }
    }
}

/// Everything that changes while training: a checkpoint is this and nothing else.
#[derive(Clone, Serialize, Deserialize)]
struct State {
    fingerprint: u64,
    step: u64,
    phase: u64,
    phase_start: u64,
    learned: Learned,
    adam: Adam,
    average: Average,
    stationary: Stationary,
    typical_norm: f64,
    bad_steps: u64,
    /// By learned block, and last those whose bound alone was not finite.
    bad_places: Vec<u64>,
    history: Vec<(u64, f64)>,
    recent: (f64, u64),
    finished: Option<bool>,
}

/// Entries of the history at the most; older ones are thinned.
const HISTORY: usize = 512;
/// Steps between looks at the clock and the watcher.
const LOOK: u64 = 64;
/// Rates of an automatic run.
const PHASES: u64 = Schedule::LEVELS;

/// A guide to train on a density.
pub struct Task<'a> {
    /// The model and its data.
    pub density: &'a dyn Density,
    /// The coordinates the guide moves in.
    pub frame: &'a Frame,
    /// What is trained.
    pub guide: &'a dyn Guide,
    /// Which rows score a draw.
    pub score: &'a Score,
}

/// Trains a guide from `learned` on.
pub fn train(
    task: &Task<'_>,
    learned: Learned,
    settings: &TrainSettings,
    run: &mut Run<'_>,
) -> Result<Trained, TrainError> {
    settings.schedule.check()?;
    let clock = Instant::now();
    let mut program = task.program(&learned, settings)?;
    let compile = clock.elapsed().as_secs_f64();
    let mut state = State::new(learned, settings)?;
    state.fingerprint = task.fingerprint(&mut program, &state.learned, settings);
    state.resume(run)?;
    let before = state.step;
    let clock = Instant::now();
    let parts = program.plan().has_parts();
    let mut steps = Loop {
        task,
        settings,
        program: &mut program,
        gradient: vec![0.0; state.learned.values.len()],
    };
    with_threads_awake(parts, || steps.run(&mut state, run))?;
    let mut learned = state.learned.clone();
    state.average.write(&mut learned.values);
    Ok(Trained {
        learned,
        iterations: state.step,
        converged: state.finished == Some(true),
        bad_steps: state.bad_steps,
        history: state.history,
        seconds: (compile, clock.elapsed().as_secs_f64()),
        steps_now: state.step - before,
    })
}

impl Task<'_> {
    /// The objective and its gradient in every learned block.
    pub fn program(
        &self,
        learned: &Learned,
        settings: &TrainSettings,
    ) -> Result<Program, BatchError> {
        let run = (settings.lanes, settings.seed);
        compile_within((self.density, self.frame), learned, run, |context| {
            let weighed = weigh(context, self.guide, settings.gradient, self.score);
            let objective = settings.objective.of(weighed.log_weight);
            let blocks: Vec<_> = learned
                .blocks()
                .iter()
                .map(|b| context.learned(b))
                .collect();
            let mut outputs = vec![objective];
            outputs.extend(context.graph().grad(objective, &blocks));
            outputs
        })
    }
}

impl State {
    fn new(learned: Learned, settings: &TrainSettings) -> Result<State, TrainError> {
        let count = learned.values.len();
        let mut adam = Adam::new(count, AdamSettings::default());
        for name in &settings.frozen {
            let range = learned.range_of(name).ok_or_else(|| TrainError::Block {
                name: name.clone(),
                known: known_blocks(&learned),
            })?;
            adam.freeze(range);
        }
        Ok(State {
            fingerprint: 0,
            step: 0,
            phase: 0,
            phase_start: 0,
            average: Average::new(count),
            bad_places: vec![0; learned.blocks().len() + 1],
            learned,
            adam,
            stationary: Stationary::new(StationarySettings::default()),
            typical_norm: 0.0,
            bad_steps: 0,
            history: Vec::with_capacity(HISTORY),
            recent: (0.0, 0),
            finished: None,
        })
    }

    /// Takes over a checkpoint of the same fit, if there is one.
    fn resume(&mut self, run: &Run<'_>) -> Result<(), TrainError> {
        let Some(checkpoint) = &run.checkpoint else {
            return Ok(());
        };
        if !checkpoint.path.exists() {
            return Ok(());
        }
        let saved: State = load(&checkpoint.path, CHECKPOINT)?;
        if saved.fingerprint != self.fingerprint {
            return Err(TrainError::File(FileError::Content {
                path: checkpoint.path.display().to_string(),
                expected: "a checkpoint of this fit".into(),
                found: "one of another model, method or setting".into(),
                hint: "remove the file to start anew".into(),
            }));
        }
        *self = saved;
        Ok(())
    }

    fn save(&self, run: &Run<'_>) -> Result<(), TrainError> {
        match &run.checkpoint {
            Some(checkpoint) => Ok(save(&checkpoint.path, CHECKPOINT, self)?),
            None => Ok(()),
        }
    }

    /// Adds an estimate to the history, thinning it where it is long.
    fn remember(&mut self, bound: f64, stride: u64) {
        self.recent.0 += bound;
        self.recent.1 += 1;
        if self.recent.1 >= stride {
            self.history
                .push((self.step, self.recent.0 / self.recent.1 as f64));
            self.recent = (0.0, 0);
        }
        if self.history.len() >= HISTORY {
            let mut keep = false;
            self.history.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }
}

fn known_blocks(learned: &Learned) -> String {
    let names: Vec<&str> = learned.blocks().iter().map(|b| b.name.as_str()).collect();
    names.join(", ")
}

struct Loop<'a, 'b> {
    task: &'a Task<'b>,
    settings: &'a TrainSettings,
    program: &'a mut Program,
    gradient: Vec<f64>,
}

impl Loop<'_, '_> {
    fn run(&mut self, state: &mut State, run: &mut Run<'_>) -> Result<(), TrainError> {
        let mut saved = Instant::now();
        while state.finished.is_none() {
            self.step(state)?;
            if !state.step.is_multiple_of(LOOK) {
                continue;
            }
            let wish = run.observer.progress(&self.progress(state));
            let due = run
                .checkpoint
                .as_ref()
                .is_some_and(|c| saved.elapsed() >= c.every);
            if due || wish == Wish::Stop {
                state.save(run)?;
                saved = Instant::now();
            }
            if wish == Wish::Stop {
                let saved = match &run.checkpoint {
                    Some(c) => format!("; go on with {}", c.path.display()),
                    None => String::new(),
                };
                return Err(TrainError::Stopped {
                    step: state.step,
                    saved,
                });
            }
        }
        state.save(run)
    }

    fn cap(&self) -> u64 {
        match self.settings.iterations {
            Iterations::Auto { cap } => cap,
            Iterations::Fixed(count) => count,
        }
    }

    fn rate(&self, state: &State) -> f64 {
        match self.settings.iterations {
            Iterations::Auto { .. } => self.settings.schedule.rate_of_phase(state.phase),
            Iterations::Fixed(count) => self.settings.schedule.rate(state.step, count),
        }
    }

    /// Runs the program at the current values; the bound, with the gradient in place.
    fn evaluate(&mut self, state: &State) -> f64 {
        self.program.set_learned(&state.learned.values);
        self.program.fill(self.task.density.source(), state.step);
        self.program.run();
        let blocks = state.learned.blocks().len();
        self.program.gather(1..=blocks, &mut self.gradient);
        self.program.output(0)[0]
    }

    fn step(&mut self, state: &mut State) -> Result<(), TrainError> {
        if state.step >= self.cap() {
            self.judge_bad_steps(state, state.step)?;
            state.finished = Some(matches!(self.settings.iterations, Iterations::Fixed(_)));
            return Ok(());
        }
        if self.begins_last_phase(state.step) {
            state.average.restart();
        }
        let bound = self.evaluate(state);
        state.adam.zero_frozen(&mut self.gradient);
        if bound.is_finite() && self.gradient.iter().all(|g| g.is_finite()) {
            self.update(state, bound);
        } else {
            self.skip(state)?;
        }
        state.step += 1;
        Ok(())
    }

    fn update(&mut self, state: &mut State, bound: f64) {
        if let Some(limit) = self.settings.clip {
            self.clip(state, limit);
        }
        let rate = self.rate(state);
        state
            .adam
            .ascend(rate, &mut state.learned.values, &self.gradient);
        state.average.push(&state.learned.values);
        state.remember(bound, (self.cap() / HISTORY as u64).clamp(1, 64));
        let verdict = state.stationary.push(bound);
        let level = matches!(verdict.trend, Trend::Stationary);
        if level && matches!(self.settings.iterations, Iterations::Auto { .. }) {
            next_phase(state);
        }
    }

    /// Whether a run of fixed length enters its last phase: iterates at the rates before are no
    /// part of the average.
    fn begins_last_phase(&self, step: u64) -> bool {
        match self.settings.iterations {
            Iterations::Auto { .. } => false,
            Iterations::Fixed(count) => step == count - count / PHASES,
        }
    }

    /// Clips to a multiple of the typical norm, so that no scale has to be known beforehand.
    fn clip(&mut self, state: &mut State, limit: f64) {
        const MEMORY: f64 = 0.99;
        let allowed = match state.typical_norm {
            0.0 => f64::INFINITY,
            typical => limit * typical,
        };
        let norm = clip_norm(&mut self.gradient, allowed).min(allowed);
        state.typical_norm = match state.typical_norm {
            0.0 => norm,
            typical => MEMORY * typical + (1.0 - MEMORY) * norm,
        };
    }

    fn progress(&self, state: &State) -> Progress {
        let verdict = state.stationary.verdict();
        Progress {
            step: state.step,
            cap: self.cap(),
            bound: verdict.level,
            bound_error: verdict.level_error,
            rate: self.rate(state),
        }
    }
}

/// The bound is level at this rate: on to the next, or done.
fn next_phase(state: &mut State) {
    state.phase += 1;
    state.phase_start = state.step;
    if state.phase == PHASES {
        state.finished = Some(true);
        return;
    }
    state.stationary.restart();
    state.average.restart();
}
