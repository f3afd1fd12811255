//! A whole fit: from a density to a posterior, with every choice that was not made for us.

mod check;

use std::sync::Arc;
use std::time::Instant;

use lehr_density::Density;
use serde::{Deserialize, Serialize};

use crate::annealed::{Annealed, AnnealedStart, Drive, Momentum};
use crate::batch::BatchError;
use crate::block::{Block, Learned};
use crate::context::{Feed, PARAMS, params_block};
use crate::control::Control;
use crate::evaluate::evaluate;
use crate::file::FileError;
use crate::frame::Frame;
use crate::guide::{Base, FullRank, Guide, LowRank, MeanField};
use crate::lbfgs::LbfgsSettings;
use crate::method::Method;
use crate::mode::{Curvature, MAX_DENSE, Mode, find_mode};
use crate::objective::Score;
use crate::pareto::WeightError;
use crate::posterior::{Posterior, Seconds};
use crate::schedule::Schedule;
use crate::surrogate::{
    Mode as SurrogateMode, SavedSurrogate, Setup, Surrogate, SurrogateError, SurrogateKind,
    SurrogateSettings,
};
use crate::train::{Run, Task, TrainError, TrainSettings, Trained, train};

/// Where training starts.
#[derive(Clone, Debug, Default)]
pub enum Start {
    /// The Laplace approximation at the mode, in whose frame the guide then moves.
    #[default]
    Laplace,
    /// The mode, with the guide's own scale.
    Map,
    /// The model's start and the guide's own scale: the paper's recipe.
    Zero,
    /// Another fit's learned quantities, wherever names and sizes agree, in its frame.
    Fit(Box<(Frame, Learned)>),
}

impl Start {
    /// The name in settings and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Start::Laplace => "laplace",
            Start::Map => "map",
            Start::Zero => "zero",
            Start::Fit(_) => "fit",
        }
    }
}

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
    /// no rule could tell a level bound from a rising one. Draws of a chain cost more, and vary less.
    ///
    /// Whitened chains start with steps of 0.1 and learn at 2·10⁻³: from the paper's 10⁻² one step
    /// of Adam on κ at a rate of 10⁻² can push every η below zero, where its gradient is gone.
    pub fn new(method: Method) -> Fit {
        let (lanes, rate) = if method.is_annealed() {
            (4, 2e-3)
        } else {
            (8, 1e-2)
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

/// A guide that can be saved and had again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum GuideSpec {
    /// A Gaussian.
    Gaussian(Base),
    /// A chain.
    Annealed {
        /// q₀
        base: Base,
        /// What drives it.
        drive: DriveSpec,
        /// K
        steps: usize,
        /// Its coordinates.
        momentum: Momentum,
        /// Where its quantities started, with `η_max`.
        start: AnnealedStart,
    },
}

/// A drive that can be saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum DriveSpec {
    /// All rows.
    FullData,
    /// One batch of this size per chain.
    Batch(usize),
    /// A fresh batch of this size per step.
    FreshBatch(usize),
    /// A surrogate with all it needs.
    Surrogate(SavedSurrogate),
}

impl GuideSpec {
    /// The guide itself.
    pub fn guide(&self, density: &dyn Density) -> Result<Box<dyn Guide>, SurrogateError> {
        let (base, drive, steps, momentum, start) = match self {
            GuideSpec::Gaussian(base) => return Ok(Box::new(*base)),
            GuideSpec::Annealed {
                base,
                drive,
                steps,
                momentum,
                start,
            } => (base, drive, steps, momentum, start),
        };
        let drive = match drive {
            DriveSpec::FullData => Drive::FullData,
            DriveSpec::Batch(size) => Drive::Batch { size: *size },
            DriveSpec::FreshBatch(size) => Drive::FreshBatch { size: *size },
            DriveSpec::Surrogate(saved) => Drive::Surrogate(saved.restore(density)?),
        };
        Ok(Box::new(Annealed {
            base: *base,
            drive,
            steps: *steps,
            momentum: *momentum,
            start: *start,
        }))
    }

    /// What of the user's data a saved fit carries.
    pub fn contents(&self, density: &dyn Density) -> Result<String, SurrogateError> {
        match self {
            GuideSpec::Annealed {
                drive: DriveSpec::Surrogate(saved),
                ..
            } => Ok(saved.restore(density)?.contents()),
            _ => Ok("no rows of the table".into()),
        }
    }
}

/// What the start of a fit found out.
struct Started {
    frame: Frame,
    mode: Option<(Mode, Option<Curvature>)>,
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
        let started = self.start(density, base, &mut choices);
        let spec = self.spec(density, base, &started, &mut choices)?;
        let guide = spec.guide(density)?;
        let score = self.score(density, &started, &mut choices)?;
        let seconds_start = clock.elapsed().as_secs_f64();
        let learned = self.learned(density, guide.as_ref(), &started);
        let task = Task {
            density,
            frame: &started.frame,
            guide: guide.as_ref(),
            score: &score,
        };
        run.observer.begin("train");
        let trained = train(&task, learned, &self.train, run)?;
        run.observer.begin("evaluate");
        let clock = Instant::now();
        let place = (density, &started.frame);
        let sample = (self.draws, self.train.seed);
        let evaluated = evaluate(place, guide.as_ref(), &trained.learned, sample)?;
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
        };
        Ok(Posterior::new(self, density, made, evaluated)?)
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

    fn start(&self, density: &dyn Density, base: Base, choices: &mut Choices) -> Started {
        choices.push(("start".into(), self.start.name().into()));
        let plain = |frame: Frame| Started { frame, mode: None };
        match &self.start {
            Start::Zero => plain(Frame::Identity),
            Start::Fit(other) => plain(other.0.clone()),
            Start::Map => {
                let mode = find_mode(density, LbfgsSettings::default());
                Started {
                    frame: Frame::Identity,
                    mode: Some((mode, None)),
                }
            }
            Start::Laplace => self.laplace(density, base),
        }
    }

    fn laplace(&self, density: &dyn Density, base: Base) -> Started {
        let mode = find_mode(density, LbfgsSettings::default());
        if density.latents().size() > MAX_DENSE {
            let frame = mode.diagonal_frame(density, self.train.seed);
            return Started {
                frame,
                mode: Some((mode, None)),
            };
        }
        let curvature = mode.curvature(density);
        let frame = match base {
            Base::FullRank(_) => curvature.dense_frame(&mode),
            _ => curvature.diagonal_frame(&mode),
        };
        Started {
            frame,
            mode: Some((mode, Some(curvature))),
        }
    }

    /// The learned quantities where training starts.
    fn learned(&self, density: &dyn Density, guide: &dyn Guide, started: &Started) -> Learned {
        let mut blocks: Vec<Block> = params_block(density).into_iter().collect();
        blocks.extend(guide.blocks(density));
        let mut learned = Learned::new(blocks);
        started.frame.start(&mut learned);
        if let Some((mode, _)) = &started.mode {
            if let Some(range) = learned.range_of(PARAMS) {
                learned.values[range].copy_from_slice(&mode.params);
            }
            if let (Frame::Identity, Some(range)) = (&started.frame, learned.range_of("base_mean"))
            {
                learned.values[range].copy_from_slice(&mode.latents);
            }
        }
        if let Start::Fit(other) = &self.start {
            learned.take_from(&other.1);
        }
        learned
    }

    fn batch(&self, density: &dyn Density) -> usize {
        const USUAL: usize = 256;
        const SMALL: usize = 1024;
        let rows = density.n_rows();
        let usual = if rows <= SMALL { rows } else { USUAL };
        self.batch.unwrap_or(usual)
    }

    fn spec(
        &self,
        density: &dyn Density,
        base: Base,
        started: &Started,
        choices: &mut Choices,
    ) -> Result<GuideSpec, FitError> {
        if !self.method.is_annealed() {
            return Ok(GuideSpec::Gaussian(base));
        }
        let steps = self.chain_steps.unwrap_or(8);
        choices.push(("chain steps".into(), steps.to_string()));
        let batch = self.batch(density);
        let drive = match self.method {
            Method::Dais => DriveSpec::FullData,
            Method::NsDais => DriveSpec::Batch(batch),
            Method::NsPrimeDais => DriveSpec::FreshBatch(batch),
            _ => DriveSpec::Surrogate(self.surrogate(density, started, choices)?.save()),
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
        started: &Started,
        choices: &mut Choices,
    ) -> Result<Arc<dyn Surrogate>, FitError> {
        const USUAL: usize = 256;
        let mode = started.surrogate_mode();
        let usual = if mode.is_some() {
            SurrogateKind::Taylor
        } else {
            SurrogateKind::Random
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
        };
        Ok(SurrogateSettings::new(kind, rows).build(density, &setup)?)
    }

    /// The rows that score a step, by way of the expansion at the mode where rows enter through
    /// linear predictors.
    fn score(
        &self,
        density: &dyn Density,
        started: &Started,
        choices: &mut Choices,
    ) -> Result<Score, FitError> {
        let size = self.batch(density);
        let rows = if size == density.n_rows() {
            Feed::All
        } else {
            Feed::Batch {
                size,
                purpose: "score".into(),
            }
        };
        choices.push(("batch".into(), size.to_string()));
        let whole = matches!(rows, Feed::All);
        let usual = !whole && enters_linearly(density);
        let control = if self.control.unwrap_or(usual) {
            started.control()
        } else {
            None
        };
        if self.control == Some(true) && control.is_none() {
            let problem =
                "a control variate was asked for, but there is no mode to expand at".into();
            return Err(self.refuse(problem, "start from laplace"));
        }
        let words = if control.is_some() { "on" } else { "off" };
        choices.push(("control variate".into(), words.into()));
        Ok(Score { rows, control })
    }
}

impl Started {
    fn control(&self) -> Option<Control> {
        let (mode, curvature) = self.mode.as_ref()?;
        Some(curvature.as_ref()?.control(mode))
    }

    fn surrogate_mode(&self) -> Option<SurrogateMode> {
        let (mode, curvature) = self.mode.as_ref()?;
        let curvature = curvature.as_ref()?;
        Some(SurrogateMode {
            latents: mode.latents.clone(),
            params: mode.params.clone(),
            gradient: curvature.gradient.clone(),
            hessian: curvature.hessian.clone(),
        })
    }
}

/// Whether the model says that its rows enter through linear predictors.
fn enters_linearly(density: &dyn Density) -> bool {
    let graph = lehr_graph::Graph::new();
    let at = lehr_density::Point::new(
        graph.input("latents", [density.latents().size()]),
        graph.input("params", [density.params().size()]),
    );
    let rows = lehr_density::Rows::inputs(&graph, density.columns(), 3.min(density.n_rows()), "");
    density.linear_predictors(&at, &rows).is_some()
}

/// What a fit made, on its way into a posterior.
pub(crate) struct Made {
    pub(crate) spec: GuideSpec,
    pub(crate) frame: Frame,
    pub(crate) trained: Trained,
    pub(crate) choices: Choices,
    pub(crate) seconds: Seconds,
}
