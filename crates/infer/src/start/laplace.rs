//! The start `laplace`: the Laplace approximation at the mode.

use super::curvature::MAX_DENSE;
use super::{Centre, Request, Start, StartError, StartingPoint};
use crate::guide::{Covariance, Frame};

/// The Laplace approximation at the mode, in whose frame the guide then moves.
#[derive(Clone, Copy, Debug)]
pub struct Laplace;

impl Start for Laplace {
    fn name(&self) -> &'static str {
        "laplace"
    }

    fn help(&self) -> &'static str {
        "the mode and the curvature there"
    }

    fn find(&self, request: &Request<'_>) -> Result<StartingPoint, StartError> {
        Ok(around(request, request.mode()?, None))
    }
}

/// A start in the frame of the curvature at `centre`, or in a frame that is better known.
pub(super) fn around(request: &Request<'_>, centre: Centre, known: Option<Frame>) -> StartingPoint {
    let curvature = needs_curvature(request).then(|| centre.curvature(request.density));
    let dense = curvature.as_ref().filter(|_| is_dense(request));
    let dense = dense.and_then(|curvature| curvature.dense_frame(&centre));
    let diagonal = || match &curvature {
        Some(curvature) => curvature.diagonal_frame(&centre),
        None => centre.diagonal_frame(request.density, request.seed),
    };
    StartingPoint {
        frame: dense.or(known).unwrap_or_else(diagonal),
        plain: request.plain,
        centre: Some(centre),
        curvature,
        best: None,
        learned: None,
    }
}

/// Whether anything reads the whole Hessian, which costs a pass per few latents.
fn needs_curvature(request: &Request<'_>) -> bool {
    let dense = is_dense(request);
    request.density.latents().size() <= MAX_DENSE && (request.expands || dense || request.plain)
}

/// Whether the base starts in the frame of a Gaussian with all correlations.
fn is_dense(request: &Request<'_>) -> bool {
    request.base.info().covariance == Covariance::Full
}
