//! The start of training, and the information there: one file per strategy.

use crate::error::StartError;
use crate::expansion::{Curvature, ExpansionPoint, has_hierarchy};
pub mod from_fit;
mod laplace;
mod maximiser;
pub mod mode;
pub mod natural;
pub mod quadrature;
pub mod variational;
mod zero;

pub use from_fit::FromFit;
pub use laplace::Laplace;
pub use maximiser::{Maximiser, PlainMaximiser, RowFunction, RunMaximiser, Walk};
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
use lehr_rows::RowsError;

use crate::expansion::Mode;
use crate::guide::{Base, Guide, LearnedBlocks, MEAN, PARAMS, Whitening, all_blocks};
use crate::objective::{ControlVariate, ExactRows};
use crate::setting::Setting;
use crate::surrogate::Remainder;
use quadrature::BestGaussian;

/// The arguments of a start.
pub struct StartRequest<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// The Gaussian that starts there, alone or below a chain.
    pub base: Arc<dyn Base>,
    /// The seed.
    pub seed: u64,
    /// The maximiser.
    pub maximiser: &'a dyn Maximiser,
    /// See [`is_linear_without_hierarchy`].
    pub plain: bool,
    /// Whether the fit ends if the start is the best Gaussian of the base's kind.
    pub ends_at_best: bool,
    /// Whether a surrogate may expand the log likelihood there.
    pub expands: bool,
}

impl StartRequest<'_> {
    /// The mode of the posterior.
    pub(crate) fn mode(&self) -> Result<ExpansionPoint, StartError> {
        Ok(climb_to_mode(
            self.density,
            LbfgsSettings::default(),
            self.maximiser,
        )?)
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
    fn find(&self, request: &StartRequest<'_>) -> Result<StartingPoint, StartError>;

    /// Whether the start is near the posterior, so that the base of a chain is first trained alone
    /// from there.
    fn is_warm(&self) -> bool {
        true
    }
}

/// The starts that can be chosen by name.
pub static STARTS: &[fn() -> Arc<dyn Start>] = &[
    || Arc::new(Zero),
    || Arc::new(Map),
    || Arc::new(Laplace),
    || Arc::new(Quadrature),
    || Arc::new(Variational),
    || Arc::new(Natural),
];

/// The setting that selects one of [`STARTS`].
pub fn setting(start: &mut Option<Arc<dyn Start>>) -> Setting<'_> {
    let starts = STARTS.iter().map(|new| {
        let start = new();
        (start.name(), start.help(), Some(start))
    });
    Setting::one_of("start", "where the fit starts", starts.collect(), start)
}

/// The start that was asked for, else the default one, with its name.
pub(crate) fn find_start(
    asked: Option<&Arc<dyn Start>>,
    request: &StartRequest<'_>,
) -> Result<(&'static str, StartingPoint), StartError> {
    match asked {
        None => choose(request),
        Some(start) => Ok((start.name(), start.find(request)?)),
    }
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
pub fn choose(request: &StartRequest<'_>) -> Result<(&'static str, StartingPoint), StartError> {
    if !request.plain {
        return match Variational.find(request) {
            Err(refusal @ StartError::Refusal { .. }) => {
                let mode = request.mode()?;
                if mode.reason == StopReason::BadStart {
                    return Err(refusal);
                }
                Ok((Laplace.name(), laplace::around(request, mode, None)?))
            }
            found => Ok((Variational.name(), found?)),
        };
    }
    if natural::applies(request.density) {
        return Ok((Natural.name(), Natural.find(request)?));
    }
    let mode = request.mode()?;
    Ok(match quadrature::from_mode(request, &mode)? {
        Some(found) => (Quadrature.name(), found),
        None => (Laplace.name(), laplace::around(request, mode, None)?),
    })
}

/// The start of training, with all information there.
pub struct StartingPoint {
    /// The coordinates in which the guide moves.
    pub whitening: Whitening,
    /// See [`is_linear_without_hierarchy`].
    pub plain: bool,
    /// The point around which it starts.
    pub centre: Option<ExpansionPoint>,
    /// The curvature there.
    pub curvature: Option<Curvature>,
    /// The search for the best Gaussian, if the start is one.
    pub best: Option<BestGaussian>,
    /// The learned quantities of another fit.
    pub learned: Option<LearnedBlocks>,
}

impl StartingPoint {
    /// A start with nothing but a whitening.
    pub fn in_whitening(whitening: Whitening, request: &StartRequest<'_>) -> StartingPoint {
        StartingPoint {
            whitening,
            plain: request.plain,
            centre: None,
            curvature: None,
            best: None,
            learned: None,
        }
    }

    /// A start at the best Gaussian, with the curvature there unless the fit ends with it.
    fn at_best(best: BestGaussian, request: &StartRequest<'_>) -> Result<StartingPoint, RowsError> {
        let centre = best.centre.clone();
        let mut found = StartingPoint::in_whitening(best.whitening.clone(), request);
        found.best = Some(best);
        let ends = request.ends_at_best && found.is_best(request.base.as_ref());
        found.curvature = (!ends)
            .then(|| centre.curvature(request.density))
            .transpose()?;
        found.centre = Some(centre);
        Ok(found)
    }

    /// The learned quantities of a guide at the start of training.
    pub fn learned(&self, density: &dyn Density, guide: &dyn Guide) -> LearnedBlocks {
        let mut learned = LearnedBlocks::new(all_blocks(density, guide));
        self.whitening.start(&mut learned);
        if let Some(centre) = &self.centre {
            if let Some(range) = learned.range_of(PARAMS) {
                learned.values[range].copy_from_slice(&centre.params);
            }
            if let (Whitening::Identity, Some(range)) = (&self.whitening, learned.range_of(MEAN)) {
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
        let reached = self.best.as_ref().is_some_and(BestGaussian::is_reached);
        reached && base.info().is_gaussian
    }

    /// The expansion of the data term: to second order if that is accurate, to first order
    /// otherwise.
    pub(crate) fn control(
        &self,
        density: &dyn Density,
    ) -> Result<Option<ControlVariate>, RowsError> {
        let Some(centre) = &self.centre else {
            return Ok(None);
        };
        // Slopes that depend on learned parameters soon move away from their expansion.
        if natural::applies(density) {
            return Ok(None);
        }
        Ok(Some(match &self.curvature {
            Some(curvature) if self.plain => ControlVariate::second_order(centre, curvature),
            _ => ControlVariate::first_order(centre, density)?,
        }))
    }

    /// The rows that an expansion to second order fits worst, to be summed in every step.
    pub(crate) fn summed(&self, density: &dyn Density, seed: u64) -> Option<ExactRows> {
        const USUAL: usize = 256;
        let mode = self.surrogate_mode().filter(|_| self.plain)?;
        let count = USUAL.min(density.n_rows());
        let remainder = Remainder {
            density,
            mode: &mode,
            whitening: &self.whitening,
            seed,
        };
        Some(ExactRows::new(density, &remainder.worst(count)))
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
pub fn is_linear_without_hierarchy(density: &dyn Density) -> bool {
    density.linear().is_some() && !has_hierarchy(density)
}
