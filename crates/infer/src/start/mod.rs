//! Where training starts, and what is known there: one file per strategy.

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
use lehr_numeric::lbfgs::{LbfgsSettings, Reason};

use crate::expansion::Mode;
use crate::guide::{Base, Frame, Guide, Learned, MEAN, PARAMS, all_blocks};
use crate::objective::{Control, Summed};
use crate::setting::Setting;
use crate::surrogate::Remainder;
use quadrature::Best;

/// What a start is asked for.
pub struct Request<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// The Gaussian that starts there, alone or below a chain.
    pub base: Arc<dyn Base>,
    /// Where randomness comes from.
    pub seed: u64,
    /// Who climbs to maxima.
    pub climber: &'a dyn Climber,
    /// See [`is_plain`].
    pub plain: bool,
    /// Whether the fit ends where the start is the best Gaussian of the base's kind.
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

/// A way to find out where training starts.
pub trait Start: fmt::Debug + Send + Sync {
    /// The name in settings and tables.
    fn name(&self) -> &'static str;

    /// One line of help.
    fn help(&self) -> &'static str;

    /// Finds the place.
    ///
    /// # Errors
    /// If this model cannot start in this way.
    fn find(&self, request: &Request<'_>) -> Result<StartingPoint, StartError>;

    /// Whether the place is near the posterior, so that the base of a chain is trained alone from
    /// there first.
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

/// The starts that have a name in settings.
pub static STARTS: &[&dyn Start] = &[&Zero, &Map, &Laplace, &Quadrature, &Variational, &Natural];

/// Which of [`STARTS`] a method is asked for, as a setting.
pub fn setting(start: &mut Option<Arc<dyn Start>>) -> Setting<'_> {
    let starts = STARTS.iter().map(|start| {
        let shared: Arc<dyn Start> = Arc::new(*start);
        (start.name(), start.help(), Some(shared))
    });
    Setting::one_of("start", "where the fit starts", starts.collect(), start)
}

/// The start for a model if none was asked for, and its name: the table of `docs/methods.md`.
///
/// | model | start |
/// |---|---|
/// | plain, with one predictor per row whose slopes are learned, as of a Gaussian process | `natural` |
/// | plain, with one predictor per row whose integrals can be taken | `quadrature` |
/// | plain | `laplace` |
/// | any other | `variational`, or `laplace` where that leads nowhere |
///
/// # Errors
/// If the table has more rows than can be numbered, or no start leads anywhere.
pub fn choose(request: &Request<'_>) -> Result<(&'static str, StartingPoint), StartError> {
    if !request.plain {
        return match Variational.find(request) {
            Err(refusal @ StartError::Refusal { .. }) => {
                let mode = request.mode()?;
                if mode.reason == Reason::BadStart {
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

/// Where training starts, and all that is known there.
pub struct StartingPoint {
    /// The coordinates in which the guide moves.
    pub frame: Frame,
    /// See [`is_plain`].
    pub plain: bool,
    /// The point around which it starts.
    pub centre: Option<Centre>,
    /// The curvature there.
    pub curvature: Option<Curvature>,
    /// How the best Gaussian was found, where the start is one.
    pub best: Option<Best>,
    /// What another fit learned.
    pub learned: Option<Learned>,
}

impl StartingPoint {
    /// A start of which nothing but the frame is known.
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

    /// The learned quantities of a guide where training starts.
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

    /// Whether the start is the best that a Gaussian of this kind can be.
    pub fn is_best(&self, base: &dyn Base) -> bool {
        let reached = self.best.as_ref().is_some_and(Best::is_reached);
        reached && base.info().is_gaussian
    }

    /// The expansion of the data term: to second order where that is close, to first order
    /// otherwise.
    pub(crate) fn control(&self, density: &dyn Density) -> Option<Control> {
        let centre = self.centre.as_ref()?;
        // Slopes that move with what is learned are far from their expansion soon.
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

    /// What a surrogate is expanded around.
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

/// Whether the rows enter through linear predictors and no site's spread is another site's value:
/// the mode is then near the posterior, and an expansion there close.
pub fn is_plain(density: &dyn Density) -> bool {
    density.linear().is_some() && !has_hierarchy(density)
}
