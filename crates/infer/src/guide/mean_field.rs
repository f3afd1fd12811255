//! Independent Gaussians.

use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::{Expr, Shape};
use serde::{Deserialize, Serialize};

use super::base::{
    Base, BaseInfo, Covariance, Image, Transport, decoded, draw, encoded, log_norm, reversed,
};
use super::block::{LOG_SCALE, MEAN};
use super::{Block, Context, Gradient, Guide, GuideDraw};

/// The row of this base.
pub(super) static INFO: BaseInfo = BaseInfo {
    name: "mean-field",
    help: "independent latents",
    covariance: Covariance::Diagonal,
    is_gaussian: true,
    new: || Arc::new(MeanField::default()),
    restore: decoded::<MeanField>,
};

/// q(z) = Π N(zᵢ | μᵢ, σᵢ²)
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanField {
    /// Standard deviation at the start.
    pub start_scale: f64,
}

impl Default for MeanField {
    fn default() -> Self {
        MeanField { start_scale: 0.1 }
    }
}

impl Guide for MeanField {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        mean_and_scale(density, self.start_scale)
    }

    fn draw<'g>(&self, context: &Context<'g, '_>, gradient: Gradient) -> GuideDraw<'g> {
        draw(self, context, gradient)
    }

    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        reversed(self, context, latents)
    }
}

impl Base for MeanField {
    fn info(&self) -> &'static BaseInfo {
        &INFO
    }

    fn write<'g>(&self, context: &Context<'g, '_>) -> Box<dyn Transport<'g> + 'g> {
        let blocks = self.blocks(context.density());
        Box::new(MeanFieldTransport {
            mean: context.learned(&blocks[0]),
            log_scale: context.learned(&blocks[1]),
        })
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

/// The blocks of location and scale; latents start at the model's default.
pub(crate) fn mean_and_scale(density: &dyn Density, scale: f64) -> Vec<Block> {
    let latents = density.latents();
    vec![
        Block::new(MEAN, &[latents.size()], latents.start().to_vec()),
        Block::filled(LOG_SCALE, &[latents.size()], scale.ln()),
    ]
}

/// T(x) = μ + σ∘x
struct MeanFieldTransport<'g> {
    mean: Expr<'g>,
    log_scale: Expr<'g>,
}

impl<'g> Transport<'g> for MeanFieldTransport<'g> {
    fn shape(&self) -> Shape {
        self.mean.shape()
    }

    fn map(&self, x: Expr<'g>) -> Option<Image<'g>> {
        Some(Image {
            latents: self.mean + self.log_scale.exp() * x,
            log_volume: self.log_scale.sum(),
        })
    }

    fn inverse(&self, latents: Expr<'g>) -> Option<Expr<'g>> {
        Some((latents - self.mean) * (-self.log_scale).exp())
    }

    fn log_density(&self, latents: Expr<'g>) -> Option<Expr<'g>> {
        let x = self.inverse(latents)?;
        Some(-0.5 * x.square().sum() - self.log_scale.sum() - log_norm(self.shape()))
    }

    fn stopped(&self) -> Box<dyn Transport<'g> + 'g> {
        Box::new(MeanFieldTransport {
            mean: self.mean.stop_gradient(),
            log_scale: self.log_scale.stop_gradient(),
        })
    }
}
