//! A whole fit: from a density to a posterior, with every choice that was not made for us.

mod check;
mod gain;
mod spec;
mod start;

pub use spec::{DriveSpec, GuideSpec};
pub use start::Start;

use std::sync::Arc;
use std::time::Instant;

use lehr_density::Density;
use lehr_file::FileError;

use crate::annealed::{AnnealedStart, Momentum};
use crate::evaluate::evaluate;
use crate::guide::{Base, Feed, Frame, FullRank, Learned, LowRank, MeanField};
use crate::method::Method;
use crate::posterior::{Estimate, Posterior, Seconds};
use crate::start::StartingPoint;
use crate::surrogate::{
    Setup, StartWeights, Surrogate, SurrogateError, SurrogateKind, SurrogateSettings,
    predicted_quality,
};
use crate::train::{
    Iterations, Objective, Run, SCORE, Schedule, Score, Task, TrainError, TrainSettings, Trained,
    train, variance_ratio,
};
use lehr_numeric::batch::BatchError;
use lehr_numeric::pareto::WeightError;

/// A fit to be made. What is `None` is chosen by the rules of `docs/methods.md` and reported.
#[derive(Clone)]
pub struct Fit {
    /// Which method.
    pub method: Method,
    /// The Gaussian below a chain: `mean-field`, `full-rank` or `low-rank`.
    pub base: Option<Base>,
    /// K
    pub chain_steps: Option<usize>,
    /// The coordinates of the chain.
    pub momentum: Momentum,
    /// Where the chain's own quantities start.
    pub annealed_start: AnnealedStart,
    /// Which surrogate.
    pub surrogate: Option<SurrogateKind>,
    /// `N_surr`
    pub surrogate_rows: Option<usize>,
    /// B, the rows that score a step.
    pub batch: Option<usize>,
    /// Where training starts.
    pub start: Start,
    /// Whether the data term is estimated by way of its expansion at the mode.
    pub control: Option<bool>,
    /// How to train.
    pub train: TrainSettings,
    /// S, the fresh draws that the result is judged and summarised by.
    pub draws: usize,
}

impl Fit {
    /// A fit by this method with everything left to the rules.
    ///
    /// A step takes several draws: where the posterior is skewed a single one is so noisy that
    /// no rule could tell a level bound from a rising one. Draws of a chain cost more, and vary
    /// less; one of DAIS costs all rows.
    ///
    /// Whitened chains start with steps of 0.1 and learn at 2·10⁻³: from the paper's 10⁻² one step
    /// of Adam on κ at a rate of 10⁻² can push every η below zero, where its gradient is gone.
    pub fn new(method: Method) -> Fit {
        let (lanes, rate) = match method {
            Method::Dais => (1, 2e-3),
            method if method.is_annealed() => (4, 2e-3),
            _ => (8, 1e-2),
        };
        Fit {
            method,
            base: None,
            chain_steps: None,
            momentum: Momentum::default(),
            annealed_start: AnnealedStart {
                step_size: 0.1,
                ..AnnealedStart::default()
            },
            surrogate: None,
            surrogate_rows: None,
            batch: None,
            start: Start::default(),
            control: None,
            train: TrainSettings {
                lanes,
                schedule: Schedule::Staircase { start: rate },
                ..TrainSettings::default()
            },
            draws: 1024,
        }
    }

    /// The same fit from another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Fit {
        self.train.seed = seed;
        self
    }
}

/// A fit that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The surrogate cannot be built.
    #[error(transparent)]
    Surrogate(#[from] SurrogateError),
    /// A batch that cannot be drawn.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The weights of the draws cannot be judged.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A setting that cannot work.
    #[error("{method}: {problem}\n  hint: {hint}")]
    Setting {
        /// The method.
        method: Method,
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    },
}

/// Choices made along the way, as they are reported.
type Choices = Vec<(String, String)>;

impl Fit {
    /// Makes the fit.
    pub fn run(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        self.check(density)?;
        let mut choices: Choices = Vec::new();
        let clock = Instant::now();
        run.observer.begin("start");
        let base = self.base(density, &mut choices);
        let started = self.start(density, base, &mut choices)?;
        let spec = self.spec(density, base, &started, &mut choices)?;
        let guide = spec.guide(density)?;
        let score = self.score(density, (base, &started), &mut choices)?;
        let mut learned = started.learned(density, guide.as_ref());
        let task = Task {
            density,
            frame: &started.frame,
            guide: guide.as_ref(),
            score: &score,
        };
        let alone = self.train_base(&task, (base, &started), &mut learned, run)?;
        let alone = alone.then(|| learned.clone());
        let done = started
            .best
            .as_ref()
            .filter(|_| self.is_done(&started, base));
        let trained = if let Some(best) = done {
            let words = format!("none: less than {} nats are left to gain", short(best.left));
            choices.push(("training".into(), words));
            Trained::at_start(learned, &best.bounds)
        } else {
            choices.push(("control variate".into(), self.gain(&task, &learned)?));
            run.observer.begin("train");
            train(&task, learned, &self.train, run)?
        };
        let seconds_start = clock.elapsed().as_secs_f64() - trained.seconds.0 - trained.seconds.1;
        run.observer.begin("evaluate");
        let clock = Instant::now();
        let place = (density, &started.frame);
        let sample = (self.draws, self.train.seed);
        let evaluated = evaluate(place, guide.as_ref(), &trained.learned, sample)?;
        let gain = self.gain_over_base(place, base, (alone.as_ref(), &trained), &evaluated)?;
        choices.extend(gain.map(gain::in_words));
        let seconds = Seconds {
            start: seconds_start,
            compile: trained.seconds.0,
            train: trained.seconds.1,
            evaluate: clock.elapsed().as_secs_f64(),
        };
        let made = Made {
            spec,
            frame: started.frame.clone(),
            trained,
            choices,
            seconds,
            gain,
        };
        Ok(Posterior::new(self, density, made, evaluated)?)
    }

    /// Whether the start is what training would end at.
    fn is_done(&self, started: &StartingPoint, base: Base) -> bool {
        self.ends_at_best() && started.is_best(base)
    }

    /// Whether a Gaussian that is the best of its kind is all that is asked for.
    fn ends_at_best(&self) -> bool {
        let TrainSettings {
            iterations,
            objective,
            frozen,
            ..
        } = &self.train;
        !self.method.is_annealed()
            && matches!(iterations, Iterations::Auto { .. })
            && *objective == Objective::Elbo
            && frozen.is_empty()
    }

    fn refuse(&self, problem: String, hint: &str) -> FitError {
        FitError::Setting {
            method: self.method,
            problem,
            hint: hint.to_owned(),
        }
    }

    /// A full-rank base where its D² numbers are cheap beside the rows, else independent.
    fn base(&self, density: &dyn Density, choices: &mut Choices) -> Base {
        const MOST_FULL: usize = 256;
        let base = match (self.method, self.base) {
            (Method::MeanField, Some(base @ Base::MeanField(_)))
            | (Method::FullRank, Some(base @ Base::FullRank(_)))
            | (Method::LowRank, Some(base @ Base::LowRank(_))) => base,
            (Method::MeanField, _) => Base::MeanField(MeanField::default()),
            (Method::FullRank, _) => Base::FullRank(FullRank::default()),
            (Method::LowRank, _) => Base::LowRank(LowRank::default()),
            (_, Some(base)) => base,
            _ if density.latents().size() <= MOST_FULL => Base::FullRank(FullRank::default()),
            _ => Base::MeanField(MeanField::default()),
        };
        if self.method.is_annealed() {
            choices.push(("base".into(), base.name().into()));
        }
        base
    }

    /// B: every row of a small table; of others as many as make the noise of the batch small
    /// beside that of the draws, given the control variate.
    fn batch(&self, density: &dyn Density, started: &StartingPoint) -> usize {
        const USUAL: usize = 256;
        const MOST: usize = 1 << 14;
        const SMALL: usize = 1024;
        // What is left of a row's slope to first order is of the size of its predictor's
        // posterior spread, whose square is D/N on average: D rows weigh as much as one draw.
        let rows = density.n_rows();
        let usual = if started.plain {
            USUAL
        } else {
            (4 * density.latents().size()).clamp(USUAL, MOST)
        };
        let whole = rows <= SMALL || rows <= 2 * usual;
        self.batch.unwrap_or(if whole { rows } else { usual })
    }

    fn spec(
        &self,
        density: &dyn Density,
        base: Base,
        started: &StartingPoint,
        choices: &mut Choices,
    ) -> Result<GuideSpec, FitError> {
        if !self.method.is_annealed() {
            return Ok(GuideSpec::Gaussian(base));
        }
        // A step of DAIS costs all rows.
        let usual = if self.method == Method::Dais { 4 } else { 8 };
        let steps = self.chain_steps.unwrap_or(usual);
        choices.push(("chain steps".into(), steps.to_string()));
        let batch = self.batch(density, started);
        let drive = match self.method {
            Method::Dais => DriveSpec::FullData,
            Method::NsDais => DriveSpec::Batch(batch),
            Method::NsPrimeDais => DriveSpec::FreshBatch(batch),
            _ => DriveSpec::Surrogate(self.surrogate(density, started, choices)?.store()),
        };
        Ok(GuideSpec::Annealed {
            base,
            drive,
            steps,
            momentum: self.momentum,
            start: self.annealed_start,
        })
    }

    /// `taylor` where the curvature is at hand, `rand` otherwise; at most 256 rows.
    fn surrogate(
        &self,
        density: &dyn Density,
        started: &StartingPoint,
        choices: &mut Choices,
    ) -> Result<Arc<dyn Surrogate>, FitError> {
        const USUAL: usize = 256;
        let mode = started.surrogate_mode();
        let usual = if mode.is_some() {
            SurrogateKind::TAYLOR
        } else {
            SurrogateKind::RANDOM
        };
        let kind = self.surrogate.unwrap_or(usual);
        let rows = self.surrogate_rows.unwrap_or(USUAL.min(density.n_rows()));
        choices.push(("surrogate".into(), kind.to_string()));
        if kind.has_rows() {
            choices.push(("surrogate rows".into(), rows.to_string()));
        }
        let setup = Setup {
            seed: self.train.seed,
            mode: mode.as_ref(),
            frame: &started.frame,
        };
        let surrogate = build(density, SurrogateSettings::new(kind, rows), &setup)?;
        // Not every centre is a maximum, and only there does this say something.
        let quality = mode.and_then(|mode| {
            let start = Learned::new(Vec::new());
            predicted_quality(density, surrogate.as_ref(), &start, &mode).ok()
        });
        if let Some(quality) = quality {
            let nats = format!("{} nats to second order", short(quality.divergence()));
            choices.push(("surrogate divergence".into(), nats));
        }
        Ok(surrogate)
    }

    /// The rows that score a step, by way of their expansion where they are a batch.
    fn score(
        &self,
        density: &dyn Density,
        (base, started): (Base, &StartingPoint),
        choices: &mut Choices,
    ) -> Result<Score, FitError> {
        let size = self.batch(density, started);
        let rows = if size == density.n_rows() {
            Feed::All
        } else {
            Feed::Batch {
                size,
                purpose: SCORE.into(),
            }
        };
        choices.push(("batch".into(), size.to_string()));
        let whole = matches!(rows, Feed::All);
        // Where nothing is left to train, an expansion takes as long as all the rest.
        let trains = !self.is_done(started, base);
        let wanted = trains && self.control.unwrap_or(!whole);
        let mut control = wanted.then(|| started.control(density)).flatten();
        if let Some(control) = control.as_mut().filter(|_| !whole) {
            control.summed = started.summed(density, self.train.seed);
        }
        if trains && self.control == Some(true) && control.is_none() {
            let problem =
                "a control variate was asked for, but there is no mode to expand at".into();
            return Err(self.refuse(problem, "start from laplace"));
        }
        Ok(Score { rows, control })
    }

    /// What the control variate does, in words.
    fn gain(&self, task: &Task<'_>, learned: &Learned) -> Result<String, FitError> {
        let Some(control) = &task.score.control else {
            return Ok("off".into());
        };
        let order = match (&control.hessian, &control.summed) {
            (Some(_), Some(_)) => "second order, the worst fitted rows in every step",
            (Some(_), None) => "second order",
            (None, _) => "first order",
        };
        let ratio = variance_ratio(task, learned, &self.train)?;
        Ok(format!(
            "{order}, variance of a gradient × {}",
            short(ratio)
        ))
    }
}

/// A surrogate, its weights matched to the curvature where there is a maximum.
fn build(
    density: &dyn Density,
    settings: SurrogateSettings,
    setup: &Setup<'_>,
) -> Result<Arc<dyn Surrogate>, SurrogateError> {
    if !settings.kind.has_matched_weights() || setup.mode.is_none() {
        return settings.build(density, setup);
    }
    let matched = SurrogateSettings {
        start_weights: StartWeights::Matched,
        ..settings
    };
    match matched.build(density, setup) {
        Err(SurrogateError::NotAMaximum) => settings.build(density, setup),
        built => built,
    }
}

/// Two digits, however small; what is rounding is 0.
fn short(number: f64) -> String {
    match number {
        ..1e-12 => "0".into(),
        ..1e-2 => format!("{number:.1e}"),
        _ => format!("{number:.2}"),
    }
}

/// What a fit made, on its way into a posterior.
pub(crate) struct Made {
    pub(crate) spec: GuideSpec,
    pub(crate) frame: Frame,
    pub(crate) trained: Trained,
    pub(crate) choices: Choices,
    pub(crate) seconds: Seconds,
    /// Of a chain over its base.
    pub(crate) gain: Option<Estimate>,
}
