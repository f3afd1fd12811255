//! A Gaussian with all correlations, by its Cholesky factor.

use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::{Expr, Shape};
use serde::{Deserialize, Serialize};

use super::base::{
    Base, BaseInfo, Covariance, Image, Transport, decoded, draw, encoded, log_norm, reversed,
};
use super::mean_field::mean_and_scale;
use super::{Block, Context, Gradient, Guide, GuideDraw};

/// The part of the factor below its diagonal; the part above is not read.
const BELOW: &str = "base_below";

/// The row of this base.
pub(super) static INFO: BaseInfo = BaseInfo {
    name: "full-rank",
    help: "all correlations",
    covariance: Covariance::Full,
    is_gaussian: true,
    new: || Arc::new(FullRank::default()),
    restore: decoded::<FullRank>,
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

    fn draw<'g>(&self, context: &Context<'g, '_>, gradient: Gradient) -> GuideDraw<'g> {
        draw(self, context, gradient)
    }

    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        reversed(self, context, latents)
    }
}

impl Base for FullRank {
    fn info(&self) -> &'static BaseInfo {
        &INFO
    }

    fn write<'g>(&self, context: &Context<'g, '_>) -> Box<dyn Transport<'g> + 'g> {
        let blocks = self.blocks(context.density());
        Box::new(FullRankTransport::new(
            context.learned(&blocks[0]),
            context.learned(&blocks[1]),
            context.learned(&blocks[2]),
        ))
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

/// T(x) = μ + L x
struct FullRankTransport<'g> {
    mean: Expr<'g>,
    log_scale: Expr<'g>,
    below: Expr<'g>,
    factor: Expr<'g>,
}

impl<'g> FullRankTransport<'g> {
    fn new(mean: Expr<'g>, log_scale: Expr<'g>, below: Expr<'g>) -> FullRankTransport<'g> {
        let factor = below.tril(-1) + log_scale.exp().diagonal_matrix();
        FullRankTransport {
            mean,
            log_scale,
            below,
            factor,
        }
    }
}

impl<'g> Transport<'g> for FullRankTransport<'g> {
    fn shape(&self) -> Shape {
        self.mean.shape()
    }

    fn map(&self, x: Expr<'g>) -> Option<Image<'g>> {
        Some(Image {
            latents: self.mean + self.factor.dot(x),
            log_volume: self.log_scale.sum(),
        })
    }

    fn inverse(&self, latents: Expr<'g>) -> Option<Expr<'g>> {
        Some(self.factor.solve_lower(latents - self.mean))
    }

    fn log_density(&self, latents: Expr<'g>) -> Option<Expr<'g>> {
        let x = self.inverse(latents)?;
        Some(-0.5 * x.square().sum() - self.log_scale.sum() - log_norm(self.shape()))
    }

    fn stopped(&self) -> Box<dyn Transport<'g> + 'g> {
        Box::new(FullRankTransport::new(
            self.mean.stop_gradient(),
            self.log_scale.stop_gradient(),
            self.below.stop_gradient(),
        ))
    }
}
