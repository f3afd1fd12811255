//! The start of training, and the information there: one file per strategy.

use crate::error::StartError;
use crate::expansion::{Centre, Curvature, has_hierarchy};
pub mod another;
mod climber;
mod laplace;
pub mod mode;
pub mod natural;
pub mod quadrature;
pub mod variational;
mod zero;

pub use another::Another;
pub use climber::{Alone, Climber, RunClimber, Walk};
pub use laplace::Laplace;
pub use mode::{Map, find_mode};
pub use natural::{Natural, pace};
pub use quadrature::Quadrature;
pub use variational::{Variational, best_independent};
pub use zero::Zero;

pub(crate) use mode::climb_to_mode;

use std::fmt;
use std::sync::Arc;

use lehr_density::Density;
use lehr_numeric::lbfgs::{LbfgsSettings, StopReason};

use crate::expansion::Mode;
use crate::guide::{Base, Frame, Guide, Learned, MEAN, PARAMS, all_blocks};
use crate::objective::{Control, Summed};
use crate::setting::Setting;
use crate::surrogate::Remainder;
use quadrature::Best;

/// The arguments of a start.
pub struct Request<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// The Gaussian that starts there, alone or below a chain.
    pub base: Arc<dyn Base>,
    /// The seed.
    pub seed: u64,
    /// The climber to maxima.
    pub climber: &'a dyn Climber,
    /// See [`is_plain`].
    pub plain: bool,
    /// Whether the fit ends if the start is the best Gaussian of the base's kind.
    pub ends_at_best: bool,
    /// Whether a surrogate may expand the log likelihood there.
    pub expands: bool,
}

impl Request<'_> {
    /// The mode of the posterior.
    pub(crate) fn mode(&self) -> Result<Centre, StartError> {
        climb_to_mode(self.density, LbfgsSettings::default(), self.climber)
    }
}

/// A strategy for the start of training.
pub trait Start: fmt::Debug + Send + Sync {
    /// The name in settings and tables.
    fn name(&self) -> &'static str;

    /// One line of help.
    fn help(&self) -> &'static str;

    /// Finds the start.
    ///
    /// # Errors
    /// If this model cannot start in this way.
    fn find(&self, request: &Request<'_>) -> Result<StartingPoint, StartError>;

    /// Whether the start is near the posterior, so that the base of a chain is first trained alone
    /// from there.
    fn is_warm(&self) -> bool {
        true
    }
}

impl<S: Start + ?Sized> Start for &S {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn help(&self) -> &'static str {
        (**self).help()
    }

    fn find(&self, request: &Request<'_>) -> Result<StartingPoint, StartError> {
        (**self).find(request)
    }

    fn is_warm(&self) -> bool {
        (**self).is_warm()
    }
}

/// The starts that can be chosen by name.
pub static STARTS: &[&dyn Start] = &[&Zero, &Map, &Laplace, &Quadrature, &Variational, &Natural];

/// The setting that selects one of [`STARTS`].
pub fn setting(start: &mut Option<Arc<dyn Start>>) -> Setting<'_> {
    let starts = STARTS.iter().map(|start| {
        let shared: Arc<dyn Start> = Arc::new(*start);
        (start.name(), start.help(), Some(shared))
    });
    Setting::one_of("start", "where the fit starts", starts.collect(), start)
}

/// The default start for a model, and its name: the table of `docs/methods.md`.
///
/// | model | start |
/// |---|---|
/// | plain, with one predictor per row whose slopes are learned, as for a Gaussian process | `natural` |
/// | plain, with one predictor per row over which quadrature is possible | `quadrature` |
/// | plain | `laplace` |
/// | any other | `variational`, or `laplace` if that fails |
///
/// # Errors If the table has too many rows to number, or every start fails.
pub fn choose(request: &Request<'_>) -> Result<(&'static str, StartingPoint), StartError> {
    if !request.plain {
        return match Variational.find(request) {
            Err(refusal @ StartError::Refusal { .. }) => {
                let mode = request.mode()?;
                if mode.reason == StopReason::BadStart {
                    return Err(refusal);
                }
                Ok((Laplace.name(), laplace::around(request, mode, None)))
            }
            found => Ok((Variational.name(), found?)),
        };
    }
    if natural::applies(request.density) {
        return Ok((Natural.name(), Natural.find(request)?));
    }
    let mode = request.mode()?;
    Ok(match quadrature::from_mode(request, &mode) {
        Some(found) => (Quadrature.name(), found),
        None => (Laplace.name(), laplace::around(request, mode, None)),
    })
}

/// The start of training, with all information there.
pub struct StartingPoint {
    /// The coordinates in which the guide moves.
    pub frame: Frame,
    /// See [`is_plain`].
    pub plain: bool,
    /// The point around which it starts.
    pub centre: Option<Centre>,
    /// The curvature there.
    pub curvature: Option<Curvature>,
    /// The search for the best Gaussian, if the start is one.
    pub best: Option<Best>,
    /// The learned quantities of another fit.
    pub learned: Option<Learned>,
}

impl StartingPoint {
    /// A start with nothing but a whitening.
    pub fn in_frame(frame: Frame, request: &Request<'_>) -> StartingPoint {
        StartingPoint {
            frame,
            plain: request.plain,
            centre: None,
            curvature: None,
            best: None,
            learned: None,
        }
    }

    /// The learned quantities of a guide at the start of training.
    pub fn learned(&self, density: &dyn Density, guide: &dyn Guide) -> Learned {
        let mut learned = Learned::new(all_blocks(density, guide));
        self.frame.start(&mut learned);
        if let Some(centre) = &self.centre {
            if let Some(range) = learned.range_of(PARAMS) {
                learned.values[range].copy_from_slice(&centre.params);
            }
            if let (Frame::Identity, Some(range)) = (&self.frame, learned.range_of(MEAN)) {
                learned.values[range].copy_from_slice(&centre.latents);
            }
        }
        if let Some(other) = &self.learned {
            learned.take_from(other);
        }
        learned
    }

    /// Whether the start is the best Gaussian of this kind.
    pub fn is_best(&self, base: &dyn Base) -> bool {
        let reached = self.best.as_ref().is_some_and(Best::is_reached);
        reached && base.info().is_gaussian
    }

    /// The expansion of the data term: to second order if that is accurate, to first order
    /// otherwise.
    pub(crate) fn control(&self, density: &dyn Density) -> Option<Control> {
        let centre = self.centre.as_ref()?;
        // Slopes that depend on learned parameters soon move away from their expansion.
        if natural::applies(density) {
            return None;
        }
        match &self.curvature {
            Some(curvature) if self.plain => Some(Control::second_order(centre, curvature)),
            _ => Some(Control::first_order(centre, density)),
        }
    }

    /// The rows that an expansion to second order fits worst, to be summed in every step.
    pub(crate) fn summed(&self, density: &dyn Density, seed: u64) -> Option<Summed> {
        const USUAL: usize = 256;
        let mode = self.surrogate_mode().filter(|_| self.plain)?;
        let count = USUAL.min(density.n_rows());
        let remainder = Remainder {
            density,
            mode: &mode,
            frame: &self.frame,
            seed,
        };
        Some(Summed::new(density, &remainder.worst(count)))
    }

    /// The expansion point of a surrogate.
    pub(crate) fn surrogate_mode(&self) -> Option<Mode> {
        let (centre, curvature) = (self.centre.as_ref()?, self.curvature.as_ref()?);
        Some(Mode {
            latents: centre.latents.clone(),
            params: centre.params.clone(),
            gradient: curvature.gradient.clone(),
            hessian: curvature.hessian.clone(),
        })
    }
}

/// Whether the rows depend on z through linear predictors and no site's standard deviation is
/// another site's value: the mode is then near the posterior, and an expansion there is accurate.
pub fn is_plain(density: &dyn Density) -> bool {
    density.linear().is_some() && !has_hierarchy(density)
}
