//! The start `laplace`: the Laplace approximation at the mode.

use lehr_density::Support;
use lehr_rows::RowsError;

use super::{Start, StartRequest, StartingPoint};
use crate::error::StartError;
use crate::expansion::{ExpansionPoint, MAX_DENSE};
use crate::guide::{Covariance, Whitening};

/// The Laplace approximation at the mode, which then whitens the guide's coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Laplace;

impl Start for Laplace {
    fn name(&self) -> &'static str {
        "laplace"
    }

    fn help(&self) -> &'static str {
        "the mode and the curvature there"
    }

    fn find(&self, request: &StartRequest<'_>) -> Result<StartingPoint, StartError> {
        Ok(around(request, request.mode()?, None)?)
    }
}

/// A start whitened by the curvature at `centre`, or by a more accurate whitening.
pub(super) fn around(
    request: &StartRequest<'_>,
    centre: ExpansionPoint,
    known: Option<Whitening>,
) -> Result<StartingPoint, RowsError> {
    let curvature = needs_curvature(request)
        .then(|| centre.curvature(request.density))
        .transpose()?;
    let dense = curvature.as_ref().filter(|_| is_dense(request));
    let widths = known
        .as_ref()
        .map(|whitening| bounded_widths(request, whitening));
    let dense = dense.and_then(|curvature| curvature.dense_whitening(&centre, widths.as_deref()));
    let diagonal = || match &curvature {
        Some(curvature) => Ok(curvature.diagonal_whitening(&centre, request.density.latents())),
        None => centre.diagonal_whitening(request.density, request.seed),
    };
    Ok(StartingPoint {
        whitening: dense.or(known).map_or_else(diagonal, Ok)?,
        plain: request.plain,
        centre: Some(centre),
        curvature,
        best: None,
        learned: None,
    })
}

/// The widths of logarithms and logits in a whitening of independent latents; other latents, which
/// are not exponentiated, have no bound.
fn bounded_widths(request: &StartRequest<'_>, whitening: &Whitening) -> Vec<f64> {
    let latents = request.density.latents();
    let mut widths = match whitening {
        Whitening::Diagonal { scale, .. } => scale.to_vec(),
        _ => vec![f64::INFINITY; latents.size()],
    };
    for (position, site) in latents.sites().iter().enumerate() {
        if site.support == Support::Real {
            widths[latents.range(position)].fill(f64::INFINITY);
        }
    }
    widths
}

/// Whether anything needs the whole Hessian, which costs a pass per few latents.
fn needs_curvature(request: &StartRequest<'_>) -> bool {
    let dense = is_dense(request);
    request.density.latents().size() <= MAX_DENSE && (request.expands || dense || request.plain)
}

/// Whether the base starts at a Gaussian with all correlations.
fn is_dense(request: &StartRequest<'_>) -> bool {
    request.base.info().covariance == Covariance::Full
}
