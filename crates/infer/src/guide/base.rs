//! The contract of a base: a map of standard normal numbers. It is a guide by itself, or the start
//! of a chain.

use std::fmt;
use std::sync::Arc;

use lehr_density::StoredForm;
use lehr_graph::{Expr, Shape};
use serde::{Serialize, Serializer};

use super::{Context, Guide, GuideDraw};
use crate::bytes::decoded;

/// ½ ln 2π
pub(crate) const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// A family of distributions over the latents from which a chain can start. The set is open: each
/// has one file and one row of [`BASES`](super::BASES).
///
/// A base is a map T with x ~ N(0, 1): it gives z = T(x) and J(x) = ln |det T′(x)|.
pub trait Base: Guide + fmt::Debug {
    /// Its row of the table.
    fn info(&self) -> &'static BaseInfo;

    /// Writes the distribution into a program.
    fn write<'g>(&self, context: &Context<'g, '_>) -> Box<dyn Transport<'g> + 'g>;

    /// Its serialised form, which [`BaseInfo::restore`] reads.
    fn bytes(&self) -> Vec<u8>;
}

/// A row of the table of bases.
pub struct BaseInfo {
    /// The name in tables and settings.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The covariances of the Gaussian whose whitening it uses at the start.
    pub covariance: Covariance,
    /// Whether the family consists exactly of the Gaussians with that covariance: the best of them
    /// is then the best of the family.
    pub is_gaussian: bool,
    /// A base with default settings.
    pub new: fn() -> Arc<dyn Base>,
    /// Reads a base; `None` if the bytes do not belong to it.
    pub restore: fn(&[u8]) -> Option<Box<dyn Base>>,
}

/// The covariances that a Gaussian may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covariance {
    /// Any.
    Full,
    /// Diagonal ones.
    Diagonal,
}

/// T at a point.
#[derive(Clone, Copy, Debug)]
pub struct Image<'g> {
    /// z = T(x)
    pub latents: Expr<'g>,
    /// J(x) = ln |det T′(x)|
    pub log_volume: Expr<'g>,
}

/// A base within one program.
pub trait Transport<'g> {
    /// The shape of the latents.
    fn shape(&self) -> Shape;

    /// T at x, of the shape of the latents; `None` if the base is not a map of as many numbers.
    fn map(&self, x: Expr<'g>) -> Option<Image<'g>>;

    /// x with T(x) = z; `None` if it is not available.
    fn inverse(&self, latents: Expr<'g>) -> Option<Expr<'g>> {
        let _ = latents;
        None
    }

    /// ln q(z); `None` if T cannot be inverted.
    fn log_density(&self, latents: Expr<'g>) -> Option<Expr<'g>>;

    /// A draw and its weight −ln q(z), from fresh noise.
    fn draw(&self, context: &Context<'g, '_>) -> GuideDraw<'g> {
        let x = context.noise("base_noise", self.shape());
        let image = self.map(x).expect("a base without a map draws by itself");
        GuideDraw {
            latents: image.latents,
            log_weight: 0.5 * x.square().sum() + image.log_volume + log_norm(self.shape()),
        }
    }
}

/// ½D ln 2π
pub(crate) fn log_norm(shape: Shape) -> f64 {
    shape.size() as f64 * HALF_LN_TWO_PI
}

/// T(x) = μ + L x with L lower triangular and eˢ on its diagonal, or T(x) = μ + eˢ∘x without L.
pub(super) struct AffineTransport<'g> {
    pub(super) mean: Expr<'g>,
    /// s
    pub(super) log_scale: Expr<'g>,
    /// L
    pub(super) factor: Option<Expr<'g>>,
}

impl<'g> Transport<'g> for AffineTransport<'g> {
    fn shape(&self) -> Shape {
        self.mean.shape()
    }

    fn map(&self, x: Expr<'g>) -> Option<Image<'g>> {
        let spread = match self.factor {
            Some(factor) => factor.dot(x),
            None => self.log_scale.exp() * x,
        };
        Some(Image {
            latents: self.mean + spread,
            log_volume: self.log_scale.sum(),
        })
    }

    fn inverse(&self, latents: Expr<'g>) -> Option<Expr<'g>> {
        let offset = latents - self.mean;
        Some(match self.factor {
            Some(factor) => factor.solve_lower(offset),
            None => offset * (-self.log_scale).exp(),
        })
    }

    fn log_density(&self, latents: Expr<'g>) -> Option<Expr<'g>> {
        let x = self.inverse(latents)?;
        Some(-0.5 * x.square().sum() - self.log_scale.sum() - log_norm(self.shape()))
    }
}

impl dyn Base {
    /// The name in tables and settings.
    pub fn name(&self) -> &'static str {
        self.info().name
    }
}

impl Serialize for dyn Base {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = StoredForm {
            name: self.name().to_owned(),
            bytes: self.bytes(),
        };
        stored.serialize(serializer)
    }
}

/// Reads a base that consists of a few settings.
pub(super) fn restored<B: Base + serde::de::DeserializeOwned + 'static>(
    bytes: &[u8],
) -> Option<Box<dyn Base>> {
    Some(Box::new(decoded::<B>(bytes).ok()?))
}
