//! A Gaussian with a few directions of correlation in addition to independent scales.

use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::{Expr, Shape};
use serde::{Deserialize, Serialize};

use super::base::{Base, BaseInfo, Covariance, Image, Transport, log_norm, restored};
use super::mean_field::mean_and_scale;
use super::{Block, Context, Guide, GuideDraw};
use crate::bytes::encoded;

/// The columns of the low-rank part.
const DIRECTIONS: &str = "base_directions";

/// The row of this base.
pub(super) static INFO: BaseInfo = BaseInfo {
    name: "low-rank",
    help: "a few directions of correlation",
    covariance: Covariance::Diagonal,
    is_gaussian: false,
    new: || Arc::new(LowRank::default()),
    restore: restored::<LowRank>,
};

/// q(z) = N(z | μ, W Wᵀ + diag σ²), W with `rank` columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LowRank {
    /// How many columns W has.
    pub rank: usize,
    /// The independent standard deviation at the start.
    pub start_scale: f64,
}

impl Default for LowRank {
    fn default() -> Self {
        LowRank {
            rank: 8,
            start_scale: 0.1,
        }
    }
}

impl Guide for LowRank {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        let size = density.latents().size();
        let mut blocks = mean_and_scale(density, self.start_scale);
        // W = 0 is a saddle: no column would learn. Small fixed waves break the tie.
        let amplitude = 0.1 * self.start_scale;
        let start = |i: usize| {
            let (row, column) = (i / self.rank, i % self.rank);
            amplitude * ((row + 1) as f64 * (column + 1) as f64 * 1.7).sin()
        };
        let start = (0..size * self.rank).map(start).collect();
        blocks.push(Block::new(DIRECTIONS, &[size, self.rank], start));
        blocks
    }

    fn draw<'g>(&self, context: &Context<'g, '_>) -> GuideDraw<'g> {
        self.write(context).draw(context)
    }

    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        Some(-self.write(context).log_density(latents)?)
    }
}

impl Base for LowRank {
    fn info(&self) -> &'static BaseInfo {
        &INFO
    }

    fn write<'g>(&self, context: &Context<'g, '_>) -> Box<dyn Transport<'g> + 'g> {
        let blocks = self.blocks(context.density());
        let [mean, log_scale, directions] = [0, 1, 2].map(|k: usize| context.learned(&blocks[k]));
        let (size, rank) = (directions.shape().dims()[0], directions.shape().dims()[1]);
        let scaled = directions * (-log_scale).exp().reshape([size, 1]);
        let ones = context.graph().full([rank], 1.0).diagonal_matrix();
        Box::new(LowRankTransport {
            mean,
            log_scale,
            directions,
            scaled,
            inner: (ones + scaled.transpose().dot(scaled)).cholesky(),
        })
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

/// A Gaussian by directions and scales, which needs more noise than there are latents; densities by
/// the Woodbury identity.
struct LowRankTransport<'g> {
    mean: Expr<'g>,
    log_scale: Expr<'g>,
    directions: Expr<'g>,
    /// diag(σ)⁻¹ W
    scaled: Expr<'g>,
    /// Factor of I + Wᵀ diag(σ)⁻² W.
    inner: Expr<'g>,
}

impl<'g> LowRankTransport<'g> {
    /// ln q(z)
    fn density(&self, latents: Expr<'g>) -> Expr<'g> {
        let whitened = (latents - self.mean) * (-self.log_scale).exp();
        let seen = self
            .inner
            .solve_lower(self.scaled.transpose().dot(whitened));
        let distance = whitened.square().sum() - seen.square().sum();
        let half_log_determinant = self.log_scale.sum() + self.inner.diagonal().ln().sum();
        -0.5 * distance - half_log_determinant - log_norm(self.shape())
    }
}

impl<'g> Transport<'g> for LowRankTransport<'g> {
    fn shape(&self) -> Shape {
        self.mean.shape()
    }

    fn map(&self, _: Expr<'g>) -> Option<Image<'g>> {
        None
    }

    fn draw(&self, context: &Context<'g, '_>) -> GuideDraw<'g> {
        let noise = context.noise("base_noise", self.mean.shape());
        let along = context.noise("base_noise_along", [self.directions.shape().dims()[1]]);
        let latents = self.mean + self.log_scale.exp() * noise + self.directions.dot(along);
        GuideDraw {
            latents,
            log_weight: -self.density(latents),
        }
    }

    fn log_density(&self, latents: Expr<'g>) -> Option<Expr<'g>> {
        Some(self.density(latents))
    }
}
