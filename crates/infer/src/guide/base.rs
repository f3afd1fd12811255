//! The contract of a base: a map of standard normal numbers. It is a guide by itself, or the start
//! of a chain.

use std::fmt;
use std::sync::Arc;

use lehr_density::{Density, Point, Rows, StoredForm};
use lehr_graph::{Expr, Shape};
use serde::{Serialize, Serializer};

use super::{Block, Context, Gradient, Guide, GuideDraw, RowNumbers};

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

    /// The same with its learned quantities held fixed under differentiation.
    fn stopped(&self) -> Box<dyn Transport<'g> + 'g>;
}

/// ½D ln 2π
pub(crate) fn log_norm(shape: Shape) -> f64 {
    shape.size() as f64 * HALF_LN_TWO_PI
}

/// A draw of a base that is itself the guide. The score term can be left out if T can be inverted.
pub(super) fn draw<'g>(
    base: &dyn Base,
    context: &Context<'g, '_>,
    gradient: Gradient,
) -> GuideDraw<'g> {
    let transport = base.write(context);
    let drawn = transport.draw(context);
    if gradient == Gradient::Total {
        return drawn;
    }
    match transport.stopped().log_density(drawn.latents) {
        Some(log_density) => GuideDraw {
            log_weight: -log_density,
            ..drawn
        },
        None => drawn,
    }
}

/// The weight −ln q(z) of a given draw.
pub(super) fn reversed<'g>(
    base: &dyn Base,
    context: &Context<'g, '_>,
    latents: Expr<'g>,
) -> Option<Expr<'g>> {
    let log_density = base.write(context).log_density(latents)?;
    Some(-log_density)
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

impl<G: Guide + ?Sized> Guide for Arc<G> {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        (**self).blocks(density)
    }

    fn draw<'g>(&self, context: &Context<'g, '_>, gradient: Gradient) -> GuideDraw<'g> {
        (**self).draw(context, gradient)
    }

    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        (**self).reversed(context, latents)
    }

    fn log_likelihood<'g>(
        &self,
        context: &Context<'g, '_>,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        (**self).log_likelihood(context, at, rows)
    }

    fn row_numbers(&self) -> Option<RowNumbers> {
        (**self).row_numbers()
    }
}

/// The serialised form of a base that consists of a few settings.
pub(super) fn encoded(base: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(base).expect("settings are numbers")
}

/// Reads a base that consists of a few settings.
pub(super) fn decoded<B: Base + serde::de::DeserializeOwned + 'static>(
    bytes: &[u8],
) -> Option<Box<dyn Base>> {
    match postcard::take_from_bytes::<B>(bytes) {
        Ok((base, [])) => Some(Box::new(base)),
        _ => None,
    }
}
