//! Gaussians transformed by a flow: one contract for every flow. The result is a guide by itself or
//! the base of a chain.

use std::fmt;
use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::{Expr, Shape};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::base::{Base, BaseInfo, Image, Transport};
use super::{Block, Context, FullRank, Guide, GuideDraw};
use crate::bytes::encoded;

/// A learned map T between vectors of the size of the latents, with J(x) = ln |det T′(x)|: one file
/// and one row of [`super::BASES`] each. Its inverse is never needed.
pub trait Flow:
    Copy + Default + PartialEq + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Its row of the table of bases.
    fn info() -> &'static BaseInfo;

    /// The learned weights of a flow in `size` dimensions.
    fn blocks(&self, size: usize) -> Vec<Block>;

    /// Writes the flow with these weights, in the order of its blocks, into a program.
    fn write<'g>(
        &self,
        context: &Context<'g, '_>,
        weights: &[Expr<'g>],
    ) -> Box<dyn FlowMap<'g> + 'g>;
}

/// A flow within one program.
pub trait FlowMap<'g> {
    /// T(x) and J(x).
    fn apply(&self, x: Expr<'g>) -> Image<'g>;
}

/// z = B(T(x)) with x ~ N(0, 1), T a flow and B the map of a Gaussian.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct FlowBase<F: Flow> {
    /// B
    pub base: Arc<dyn Base>,
    /// T
    pub flow: F,
}

impl<F: Flow> FlowBase<F> {
    /// A Gaussian transformed by a flow with default settings.
    pub fn on(base: Arc<dyn Base>) -> FlowBase<F> {
        FlowBase {
            base,
            flow: F::default(),
        }
    }
}

impl<F: Flow> Default for FlowBase<F> {
    fn default() -> Self {
        FlowBase::on(Arc::new(FullRank::default()))
    }
}

impl<F: Flow> Guide for FlowBase<F> {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        let mut blocks = self.base.blocks(density);
        blocks.extend(self.flow.blocks(density.latents().size()));
        blocks
    }

    /// The weight is ½|x|² + ½D ln 2π + J(x) + ln |det B|.
    fn draw<'g>(&self, context: &Context<'g, '_>) -> GuideDraw<'g> {
        self.write(context).draw(context)
    }
}

impl<F: Flow> Base for FlowBase<F> {
    fn info(&self) -> &'static BaseInfo {
        F::info()
    }

    fn write<'g>(&self, context: &Context<'g, '_>) -> Box<dyn Transport<'g> + 'g> {
        let blocks = self.flow.blocks(context.density().latents().size());
        let learned: Vec<Expr<'g>> = blocks.iter().map(|b| context.learned(b)).collect();
        Box::new(FlowTransport {
            base: self.base.write(context),
            map: self.flow.write(context, &learned),
        })
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

/// B(T(x))
struct FlowTransport<'g> {
    base: Box<dyn Transport<'g> + 'g>,
    map: Box<dyn FlowMap<'g> + 'g>,
}

impl<'g> Transport<'g> for FlowTransport<'g> {
    fn shape(&self) -> Shape {
        self.base.shape()
    }

    fn map(&self, x: Expr<'g>) -> Option<Image<'g>> {
        let flowed = self.map.apply(x);
        let image = self.base.map(flowed.latents)?;
        Some(Image {
            log_volume: image.log_volume + flowed.log_volume,
            ..image
        })
    }

    fn log_density(&self, _: Expr<'g>) -> Option<Expr<'g>> {
        None
    }
}
