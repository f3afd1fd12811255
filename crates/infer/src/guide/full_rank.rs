//! A Gaussian with all correlations, by its Cholesky factor.

use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::base::{AffineTransport, Base, BaseInfo, Covariance, Transport, restored};
use super::mean_field::mean_and_scale;
use super::{Block, Context, Guide, GuideDraw};
use crate::bytes::encoded;

/// The part of the factor below its diagonal; the part above is not read.
const BELOW: &str = "base_below";

/// The row of this base.
pub(super) static INFO: BaseInfo = BaseInfo {
    name: "full-rank",
    help: "all correlations",
    covariance: Covariance::Full,
    is_gaussian: true,
    new: || Arc::new(FullRank::default()),
    restore: restored::<FullRank>,
};

/// q(z) = N(z | μ, L Lᵀ), L lower triangular with eˢ on its diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullRank {
    /// The factor starts as this number times the identity.
    pub start_scale: f64,
}

impl Default for FullRank {
    fn default() -> Self {
        FullRank { start_scale: 0.1 }
    }
}

impl Guide for FullRank {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        let size = density.latents().size();
        let mut blocks = mean_and_scale(density, self.start_scale);
        blocks.push(Block::filled(BELOW, &[size, size], 0.0));
        blocks
    }

    fn draw<'g>(&self, context: &Context<'g, '_>) -> GuideDraw<'g> {
        self.write(context).draw(context)
    }

    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        Some(-self.write(context).log_density(latents)?)
    }
}

impl Base for FullRank {
    fn info(&self) -> &'static BaseInfo {
        &INFO
    }

    fn write<'g>(&self, context: &Context<'g, '_>) -> Box<dyn Transport<'g> + 'g> {
        let blocks = self.blocks(context.density());
        let [mean, log_scale, below] = [0, 1, 2].map(|k: usize| context.learned(&blocks[k]));
        Box::new(AffineTransport {
            mean,
            log_scale,
            factor: Some(below.tril(-1) + log_scale.exp().diagonal_matrix()),
        })
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}
