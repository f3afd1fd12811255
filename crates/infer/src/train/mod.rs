//! The one training loop: Adam on the bound, until it is level.

mod bad_step;
mod fault;
mod fingerprint;
mod gradient_variance;
mod polyak_average;
mod schedule;
mod setting;
mod stationary;

pub use gradient_variance::variance_ratio;
pub use schedule::Schedule;
pub use setting::{Iterations, TrainSettings};
pub use stationary::{Stationary, StationarySettings, Trend, TrendVerdict};

use std::time::Instant;

use lehr_density::Density;
use lehr_graph::kernel::with_threads_awake;
use lehr_numeric::adam::{Adam, AdamSettings, clip_norm};
use lehr_numeric::batch::BatchError;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::guide::{Guide, LearnedBlocks, WhitenedDensity, Whitening};
use crate::objective::{Score, weigh};
use crate::program::{OwnRows, Program, compile_within};
use crate::run::{Run, StageFingerprint};
use lehr_rows::watch::{End, Progress};
use polyak_average::PolyakAverage;

/// The record of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// Steps done.
    pub iterations: u64,
    /// Whether the bound was level at the end; always true for a fixed number of steps.
    pub converged: bool,
    /// Steps skipped because something was not finite.
    pub bad_steps: u64,
    /// The bound along the way: (step, mean of the estimates since the last entry).
    pub history: Vec<(u64, f64)>,
    /// The steps done in this process: fewer than all if a checkpoint was resumed.
    pub steps_now: u64,
}

/// The result of training.
#[derive(Clone, Debug)]
pub struct TrainOutcome {
    /// The learned quantities, averaged over the last phase.
    pub learned: LearnedBlocks,
    /// The record of training.
    pub training: TrainingRecord,
    /// Seconds of compiling.
    pub compile: f64,
    /// Seconds of the steps done in this process.
    pub seconds: f64,
}

impl TrainOutcome {
    /// A result that needed no training, with the bounds of the iteration that led to it.
    pub(crate) fn at_start(learned: LearnedBlocks, bounds: &[f64]) -> TrainOutcome {
        let history = (0..).zip(bounds.iter().copied()).collect();
        TrainOutcome {
            learned,
            training: TrainingRecord::untrained(history),
            compile: 0.0,
            seconds: 0.0,
        }
    }
}

impl TrainingRecord {
    /// The record of a result that needed no training.
    pub(crate) fn untrained(history: Vec<(u64, f64)>) -> TrainingRecord {
        TrainingRecord {
            iterations: 0,
            converged: true,
            bad_steps: 0,
            history,
            steps_now: 0,
        }
    }
}

/// The complete state of training, which a checkpoint stores.
#[derive(Clone, Serialize, Deserialize)]
struct TrainState {
    step: u64,
    phase: u64,
    phase_start: u64,
    learned: LearnedBlocks,
    adam: Adam,
    average: PolyakAverage,
    stationary: Stationary,
    typical_norm: f64,
    bad_steps: u64,
    /// By learned block, and last the steps in which only the bound was not finite.
    bad_places: Vec<u64>,
    history: Vec<(u64, f64)>,
    recent: (f64, u64),
    finished: Option<bool>,
    /// The learned numbers of single rows.
    own: Option<OwnRows>,
}

/// The most entries of the history; older ones are thinned.
const HISTORY: usize = 512;
/// Steps between checks of the clock and the observer.
const LOOK: u64 = 64;
/// Rates of an automatic run.
const PHASES: u64 = Schedule::LEVELS;

/// A guide to train on a density.
pub struct Task<'a> {
    /// The model and its data.
    pub density: &'a dyn Density,
    /// The coordinates the guide moves in.
    pub whitening: &'a Whitening,
    /// The guide.
    pub guide: &'a dyn Guide,
    /// The rows that score a draw.
    pub score: &'a Score,
    /// The seed.
    pub seed: u64,
}

/// Trains a guide, starting from `learned`.
pub fn train(
    task: &Task<'_>,
    learned: LearnedBlocks,
    settings: &TrainSettings,
    run: &mut Run<'_>,
) -> Result<TrainOutcome, TrainError> {
    settings.schedule.check()?;
    let clock = Instant::now();
    let mut program = task.program(&learned, settings)?;
    let compile = clock.elapsed().as_secs_f64();
    let mut fresh = TrainState::new(learned);
    fresh.own = task.guide.row_numbers().map(|one| OwnRows::new(&one));
    let fingerprint = task.fingerprint(&mut program, &fresh.learned, settings);
    let mut stamp = StageFingerprint::new(fingerprint);
    let mut state = run.resume(&stamp)?.unwrap_or(fresh);
    let before = state.step;
    let clock = Instant::now();
    let parts = program.plan().has_parts();
    let own_rows = program.own_rows().len();
    let own_size = (state.own.as_ref()).map_or(0, |own| own.size_of(own_rows));
    let mut steps = Loop {
        task,
        settings,
        program: &mut program,
        gradient: vec![0.0; state.learned.values.len()],
        own_gradient: vec![0.0; own_size],
    };
    with_threads_awake(parts, || steps.run(&mut state, &mut stamp, run))?;
    let mut learned = state.learned.clone();
    state.average.write(&mut learned.values);
    if let Some(own) = &state.own {
        learned = learned.with(own.block());
    }
    Ok(TrainOutcome {
        learned,
        training: TrainingRecord {
            iterations: state.step,
            converged: state.finished == Some(true),
            bad_steps: state.bad_steps,
            history: state.history,
            steps_now: state.step - before,
        },
        compile,
        seconds: clock.elapsed().as_secs_f64(),
    })
}

impl<'a> Task<'a> {
    /// Its model and coordinates.
    pub fn place(&self) -> WhitenedDensity<'a> {
        WhitenedDensity::new(self.density, self.whitening)
    }

    /// The objective and its gradient in every learned block.
    pub fn program(
        &self,
        learned: &LearnedBlocks,
        settings: &TrainSettings,
    ) -> Result<Program, BatchError> {
        let run = (settings.lanes, self.seed);
        compile_within(self.place(), learned, run, |context| {
            let weighed = weigh(context, self.guide, self.score);
            let objective = weighed.log_weight.mean_lanes();
            let blocks: Vec<_> = learned
                .blocks()
                .iter()
                .map(|b| context.learned(b))
                .collect();
            let mut outputs = vec![objective];
            let own = context.known_own();
            let all: Vec<_> = blocks.into_iter().chain(own).collect();
            outputs.extend(context.graph().grad(objective, &all));
            outputs
        })
    }
}

impl TrainState {
    fn new(learned: LearnedBlocks) -> TrainState {
        let count = learned.values.len();
        let adam = Adam::new(count, AdamSettings::default());
        TrainState {
            step: 0,
            phase: 0,
            phase_start: 0,
            average: PolyakAverage::new(count),
            bad_places: vec![0; learned.blocks().len() + 1],
            learned,
            adam,
            stationary: Stationary::new(StationarySettings::default()),
            typical_norm: 0.0,
            bad_steps: 0,
            history: Vec::with_capacity(HISTORY),
            recent: (0.0, 0),
            finished: None,
            own: None,
        }
    }

    /// Adds an estimate to the history, and thins it if it is long.
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

struct Loop<'a, 'b> {
    task: &'a Task<'b>,
    settings: &'a TrainSettings,
    program: &'a mut Program,
    gradient: Vec<f64>,
    /// The gradient in the numbers of the batch's rows.
    own_gradient: Vec<f64>,
}

impl Loop<'_, '_> {
    fn run(
        &mut self,
        state: &mut TrainState,
        stamp: &mut StageFingerprint,
        run: &mut Run<'_>,
    ) -> Result<(), TrainError> {
        while state.finished.is_none() {
            self.step(state)?;
            if state.step.is_multiple_of(LOOK) {
                run.look(stamp, &self.progress(state), state)?;
                let open = matches!(self.settings.iterations, Iterations::Auto { .. });
                if open && state.finished.is_none() && run.is_late() {
                    state.finished = Some(false);
                }
            }
        }
        Ok(run.finish(stamp, state)?)
    }

    fn cap(&self) -> u64 {
        match self.settings.iterations {
            Iterations::Auto { cap } => cap,
            Iterations::Fixed(count) => count,
        }
    }

    fn rate(&self, state: &TrainState) -> f64 {
        match self.settings.iterations {
            Iterations::Auto { .. } => self.settings.schedule.rate_of_phase(state.phase),
            Iterations::Fixed(count) => self.settings.schedule.rate(state.step, count),
        }
    }

    /// Runs the program at the current values; returns the bound and stores the gradient.
    fn evaluate(&mut self, state: &TrainState) -> f64 {
        self.program.set_learned(&state.learned.values);
        self.program.fill(self.task.density.source(), state.step);
        if let Some(own) = &state.own {
            self.program.fill_own(own);
        }
        self.program.run();
        let blocks = state.learned.blocks().len();
        self.program.gather(1..=blocks, &mut self.gradient);
        if state.own.is_some() {
            let last = blocks + 1;
            self.program.gather(last..=last, &mut self.own_gradient);
        }
        self.program.output(0)[0]
    }

    fn step(&mut self, state: &mut TrainState) -> Result<(), TrainError> {
        if state.step >= self.cap() {
            self.judge_bad_steps(state, state.step)?;
            state.finished = Some(matches!(self.settings.iterations, Iterations::Fixed(_)));
            return Ok(());
        }
        if self.begins_last_phase(state.step) {
            state.average.restart();
        }
        let bound = self.evaluate(state);
        let mut slopes = self.gradient.iter().chain(&self.own_gradient);
        if bound.is_finite() && slopes.all(|g| g.is_finite()) {
            self.update(state, bound);
        } else {
            let lost = self.task.density.source().failure();
            lost.map_or(Ok(()), Err)?;
            self.skip(state)?;
        }
        state.step += 1;
        Ok(())
    }

    fn update(&mut self, state: &mut TrainState, bound: f64) {
        if let Some(limit) = self.settings.clip {
            self.clip(state, limit);
        }
        let rate = self.rate(state);
        state
            .adam
            .ascend(rate, &mut state.learned.values, &self.gradient);
        if let Some(own) = &mut state.own {
            own.ascend(rate, self.program.own_rows(), &self.own_gradient);
        }
        state.average.push(&state.learned.values);
        state.remember(bound, (self.cap() / HISTORY as u64).clamp(1, 64));
        let verdict = state.stationary.push(bound);
        let level = matches!(verdict.trend, Trend::Stationary);
        if level && matches!(self.settings.iterations, Iterations::Auto { .. }) {
            next_phase(state);
        }
    }

    /// Whether a run of fixed length enters its last phase: iterates at earlier rates are not part
    /// of the average.
    fn begins_last_phase(&self, step: u64) -> bool {
        match self.settings.iterations {
            Iterations::Auto { .. } => false,
            Iterations::Fixed(count) => step == count - count / PHASES,
        }
    }

    /// Clips to a multiple of the typical norm, so that no scale has to be known in advance.
    fn clip(&mut self, state: &mut TrainState, limit: f64) {
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

    fn progress(&self, state: &TrainState) -> Progress {
        let verdict = state.stationary.verdict();
        let end = match self.settings.iterations {
            Iterations::Auto { cap } => End::AtMost(cap),
            Iterations::Fixed(count) => End::At(count),
        };
        Progress {
            bound: verdict.level,
            bound_error: verdict.level_error,
            rate: self.rate(state),
            ..Progress::counted(state.step, "iterations", end)
        }
    }
}

/// The bound is level at this rate: starts the next phase, or ends.
fn next_phase(state: &mut TrainState) {
    state.phase += 1;
    state.phase_start = state.step;
    if state.phase == PHASES {
        state.finished = Some(true);
        return;
    }
    state.stationary.restart();
    state.average.restart();
}
