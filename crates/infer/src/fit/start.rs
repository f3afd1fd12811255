//! Where training starts, and what is known there.

use lehr_density::Density;
use lehr_graph::Graph;

use super::{Choices, Fit, FitError};
use crate::block::Learned;
use crate::context::{PARAMS, all_blocks};
use crate::control::{Control, Summed};
use crate::frame::Frame;
use crate::guide::{Base, Guide, MEAN};
use crate::method::Method;
use crate::mode::{Curvature, MAX_DENSE, Mode, find_mode, has_hierarchy};
use crate::quadrature::{self, Best, Covariance};
use crate::settle::settle;
use crate::surrogate::{Mode as SurrogateMode, SurrogateKind, worst_fitted};
use crate::train::{Iterations, Run, Task, TrainSettings, train};
use lehr_numeric::lbfgs::LbfgsSettings;

/// Where training starts.
#[derive(Clone, Debug, Default)]
pub enum Start {
    /// Where the rows enter through linear predictors and no latent is the spread of others,
    /// `Quadrature` if there is one predictor and `Laplace` if there are more; `Variational`
    /// otherwise.
    #[default]
    Auto,
    /// The best Gaussian by integrals over each row's predictor, in whose frame the guide then
    /// moves. A mean-field or full-rank fit is done there.
    Quadrature,
    /// The Laplace approximation at the mode, in whose frame the guide then moves.
    Laplace,
    /// The best independent Gaussian for a fixed set of draws, in whose frame the guide then
    /// moves: for models whose mode is far from the posterior, as with spreads of groups.
    Variational,
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
            Start::Auto => "auto",
            Start::Quadrature => "quadrature",
            Start::Laplace => "laplace",
            Start::Variational => "variational",
            Start::Map => "map",
            Start::Zero => "zero",
            Start::Fit(_) => "fit",
        }
    }
}

/// Above this many latents integrals take too many passes.
const MAX_INTEGRATED: usize = 512;

/// What the start of a fit found out.
pub(super) struct Started {
    pub(super) frame: Frame,
    /// See [`is_plain`].
    pub(super) plain: bool,
    centre: Option<(Mode, Option<Curvature>)>,
    /// Where the start is the best Gaussian of its kind, how it was found.
    best: Option<Best>,
}

impl Fit {
    pub(super) fn start(
        &self,
        density: &dyn Density,
        base: Base,
        choices: &mut Choices,
    ) -> Result<Started, FitError> {
        let plain = is_plain(density);
        let unframed = |frame: Frame| Started {
            frame,
            plain,
            centre: None,
            best: None,
        };
        let mode = || find_mode(density, LbfgsSettings::default());
        let laplace = |mode| self.framed((density, plain), base, mode, None);
        let (name, started) = match &self.start {
            Start::Auto if plain => {
                let mode = mode();
                match self.integrated(density, base, &mode) {
                    Some(started) => (Start::Quadrature.name(), started),
                    None => (Start::Laplace.name(), laplace(mode)),
                }
            }
            Start::Auto | Start::Variational => {
                let settled = settle(density, self.train.seed)?;
                let known = Some(settled.frame);
                let started = self.framed((density, plain), base, settled.centre, known);
                (Start::Variational.name(), started)
            }
            Start::Quadrature => {
                let started = plain
                    .then(|| self.integrated(density, base, &mode()))
                    .flatten();
                let started = started.ok_or_else(|| self.refuse_quadrature())?;
                (self.start.name(), started)
            }
            Start::Laplace => (self.start.name(), laplace(mode())),
            Start::Zero => (self.start.name(), unframed(Frame::Identity)),
            Start::Fit(other) => (self.start.name(), unframed(other.0.clone())),
            Start::Map => {
                let centre = Some((mode(), None));
                let started = unframed(Frame::Identity);
                (self.start.name(), Started { centre, ..started })
            }
        };
        choices.push(("start".into(), name.into()));
        Ok(started)
    }

    /// A start of a plain model at the best Gaussian by integrals; `None` where they cannot be
    /// taken.
    fn integrated(&self, density: &dyn Density, base: Base, mode: &Mode) -> Option<Started> {
        if density.latents().size() > MAX_INTEGRATED || !quadrature::applies(density) {
            return None;
        }
        let kind = match base {
            Base::FullRank(_) => Covariance::Full,
            _ => Covariance::Diagonal,
        };
        let best = quadrature::climb(density, mode, kind)?;
        let centre = best.centre.clone();
        let mut started = Started {
            frame: best.frame.clone(),
            plain: true,
            centre: None,
            best: Some(best),
        };
        let curvature = (!self.is_done(&started, base)).then(|| centre.curvature(density));
        started.centre = Some((centre, curvature));
        Some(started)
    }

    fn refuse_quadrature(&self) -> FitError {
        let problem = "a start by quadrature needs one linear predictor per row, a log likelihood \
                       that is concave in it, rows in memory and no parameters besides the latents";
        self.refuse(problem.into(), "start from laplace")
    }

    /// A start in the frame of the curvature at `centre`, or in a frame that is better known.
    fn framed(
        &self,
        (density, plain): (&dyn Density, bool),
        base: Base,
        centre: Mode,
        known: Option<Frame>,
    ) -> Started {
        let wanted = self.wants_curvature(density, base, plain);
        let curvature = wanted.then(|| centre.curvature(density));
        let dense = match (&curvature, base) {
            (Some(curvature), Base::FullRank(_)) => curvature.dense_frame(&centre),
            _ => None,
        };
        let diagonal = || match &curvature {
            Some(curvature) => curvature.diagonal_frame(&centre),
            None => centre.diagonal_frame(density, self.train.seed),
        };
        Started {
            frame: dense.or(known).unwrap_or_else(diagonal),
            plain,
            centre: Some((centre, curvature)),
            best: None,
        }
    }

    /// Whether anything reads the whole Hessian, which costs a pass per few latents.
    fn wants_curvature(&self, density: &dyn Density, base: Base, plain: bool) -> bool {
        let expands = self.method == Method::SlDais
            && matches!(self.surrogate, None | Some(SurrogateKind::Taylor));
        density.latents().size() <= MAX_DENSE
            && (expands || matches!(base, Base::FullRank(_)) || plain)
    }

    /// The learned quantities where training starts.
    pub(super) fn learned(
        &self,
        density: &dyn Density,
        guide: &dyn Guide,
        started: &Started,
    ) -> Learned {
        let mut learned = Learned::new(all_blocks(density, guide));
        started.frame.start(&mut learned);
        if let Some((centre, _)) = &started.centre {
            if let Some(range) = learned.range_of(PARAMS) {
                learned.values[range].copy_from_slice(&centre.params);
            }
            if let (Frame::Identity, Some(range)) = (&started.frame, learned.range_of(MEAN)) {
                learned.values[range].copy_from_slice(&centre.latents);
            }
        }
        if let Start::Fit(other) = &self.start {
            learned.take_from(&other.1);
        }
        learned
    }
}

impl Fit {
    /// Trains the Gaussian below a chain by itself, which costs little beside the chain, so that
    /// the chain starts from the best its base can do alone. The paper's recipe does not. Says
    /// whether the base now is that best.
    pub(super) fn train_base(
        &self,
        task: &Task<'_>,
        (base, started): (Base, &Started),
        learned: &mut Learned,
        run: &mut Run<'_>,
    ) -> Result<bool, FitError> {
        let warm = matches!(
            self.start,
            Start::Auto | Start::Quadrature | Start::Laplace | Start::Variational
        );
        let open = matches!(self.train.iterations, Iterations::Auto { .. });
        if started.is_best(base) || !(self.method.is_annealed() && warm && open) {
            return Ok(started.is_best(base));
        }
        let blocks = all_blocks(task.density, &base);
        let frozen = self.train.frozen.iter();
        let is_own = |name: &&String| blocks.iter().any(|block| block.name == **name);
        let settings = TrainSettings {
            frozen: frozen.filter(is_own).cloned().collect(),
            seed: self.train.seed,
            iterations: self.train.iterations,
            ..Fit::new(Method::FullRank).train
        };
        let mut alone = Learned::new(blocks);
        alone.take_from(learned);
        let task = Task {
            guide: &base,
            ..*task
        };
        run.observer.begin("base");
        let mut run = Run {
            observer: &mut *run.observer,
            checkpoint: None,
        };
        learned.take_from(&train(&task, alone, &settings, &mut run)?.learned);
        Ok(true)
    }
}

impl Started {
    /// Whether the start is the best that a Gaussian of this kind can be.
    pub(super) fn is_best(&self, base: Base) -> bool {
        let reached = self.best.as_ref().is_some_and(Best::is_reached);
        reached && !matches!(base, Base::LowRank(_))
    }

    /// The bound along the way to the best Gaussian, and the nats that are left to gain.
    pub(super) fn way(&self) -> Option<(&[f64], f64)> {
        let best = self.best.as_ref()?;
        Some((&best.bounds, best.left))
    }

    /// The expansion of the data term: to second order where that is close, to first order
    /// otherwise.
    pub(super) fn control(&self, density: &dyn Density) -> Option<Control> {
        let (centre, curvature) = self.centre.as_ref()?;
        match curvature {
            Some(curvature) if self.plain => Some(curvature.control(centre)),
            _ => Some(centre.control(density)),
        }
    }

    /// The rows that an expansion to second order fits worst, to be summed in every step.
    pub(super) fn summed(&self, density: &dyn Density, seed: u64) -> Option<Summed> {
        const USUAL: usize = 256;
        let mode = self.surrogate_mode().filter(|_| self.plain)?;
        let count = USUAL.min(density.n_rows());
        let numbers = worst_fitted(density, (&mode, &self.frame), count, seed);
        Some(Summed::new(density, &numbers))
    }

    pub(super) fn surrogate_mode(&self) -> Option<SurrogateMode> {
        let (centre, curvature) = self.centre.as_ref()?;
        let curvature = curvature.as_ref()?;
        Some(SurrogateMode {
            latents: centre.latents.clone(),
            params: centre.params.clone(),
            gradient: curvature.gradient.clone(),
            hessian: curvature.hessian.clone(),
        })
    }
}

/// Whether the rows enter through linear predictors and no site's spread is another site's value:
/// the mode is then near the posterior, and an expansion there close.
fn is_plain(density: &dyn Density) -> bool {
    enters_linearly(density) && !has_hierarchy(density)
}

/// Whether the model says that its rows enter through linear predictors.
fn enters_linearly(density: &dyn Density) -> bool {
    let graph = Graph::new();
    let (at, rows) = quadrature::probe(&graph, density);
    density.linear_predictors(&at, &rows).is_some()
}
