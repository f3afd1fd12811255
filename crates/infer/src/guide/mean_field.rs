//! Independent Gaussians.

use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::base::{AffineTransport, Base, BaseInfo, Covariance, Transport, restored};
use super::block::{LOG_SCALE, MEAN};
use super::{Block, Context, Guide, GuideDraw};
use crate::bytes::encoded;

/// The row of this base.
pub(super) static INFO: BaseInfo = BaseInfo {
    name: "mean-field",
    help: "independent latents",
    covariance: Covariance::Diagonal,
    is_gaussian: true,
    new: || Arc::new(MeanField::default()),
    restore: restored::<MeanField>,
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

    fn draw<'g>(&self, context: &Context<'g, '_>) -> GuideDraw<'g> {
        self.write(context).draw(context)
    }

    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        Some(-self.write(context).log_density(latents)?)
    }
}

impl Base for MeanField {
    fn info(&self) -> &'static BaseInfo {
        &INFO
    }

    fn write<'g>(&self, context: &Context<'g, '_>) -> Box<dyn Transport<'g> + 'g> {
        let blocks = self.blocks(context.density());
        Box::new(AffineTransport {
            mean: context.learned(&blocks[0]),
            log_scale: context.learned(&blocks[1]),
            factor: None,
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
