//! A Gaussian with all correlations, by its Cholesky factor.

use lehr_density::Density;
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::gaussian::{Gaussian, HALF_LN_TWO_PI};
use super::mean_field::mean_and_scale;
use super::{Block, Context, Drawn};

/// The part of the factor below its diagonal; what lies above is not read.
pub(crate) const BELOW: &str = "base_below";

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

impl FullRank {
    pub(crate) fn blocks(self, density: &dyn Density) -> Vec<Block> {
        let size = density.latents().size();
        let mut blocks = mean_and_scale(density, self.start_scale);
        blocks.push(Block::filled(BELOW, &[size, size], 0.0));
        blocks
    }

    pub(crate) fn gaussian<'g>(self, context: &Context<'g, '_>) -> Correlated<'g> {
        let blocks = self.blocks(context.density());
        Correlated::new(
            context.learned(&blocks[0]),
            context.learned(&blocks[1]),
            context.learned(&blocks[2]),
        )
    }
}

/// A Gaussian by its factor.
pub(crate) struct Correlated<'g> {
    mean: Expr<'g>,
    log_scale: Expr<'g>,
    below: Expr<'g>,
    factor: Expr<'g>,
}

impl<'g> Correlated<'g> {
    fn new(mean: Expr<'g>, log_scale: Expr<'g>, below: Expr<'g>) -> Correlated<'g> {
        let factor = below.tril(-1) + log_scale.exp().diagonal_matrix();
        Correlated {
            mean,
            log_scale,
            below,
            factor,
        }
    }
}

impl<'g> Gaussian<'g> for Correlated<'g> {
    fn mean(&self) -> Expr<'g> {
        self.mean
    }

    fn draw(&self, context: &Context<'g, '_>) -> Drawn<'g> {
        let noise = context.noise("base_noise", self.mean.shape());
        let size = self.mean.shape().size() as f64;
        Drawn {
            latents: self.mean + self.factor.dot(noise),
            log_weight: 0.5 * noise.square().sum() + self.log_scale.sum() + size * HALF_LN_TWO_PI,
        }
    }

    fn log_density(&self, latents: Expr<'g>) -> Expr<'g> {
        let whitened = self.factor.solve_lower(latents - self.mean);
        let size = self.mean.shape().size() as f64;
        -0.5 * whitened.square().sum() - self.log_scale.sum() - size * HALF_LN_TWO_PI
    }

    fn unwhiten(&self, whitened: Expr<'g>) -> Option<Expr<'g>> {
        Some(self.mean + self.factor.dot(whitened))
    }

    fn stopped(&self) -> Box<dyn Gaussian<'g> + 'g> {
        Box::new(Correlated::new(
            self.mean.stop_gradient(),
            self.log_scale.stop_gradient(),
            self.below.stop_gradient(),
        ))
    }
}
