//! Independent Gaussians.

use lehr_density::Density;
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::gaussian::{Gaussian, HALF_LN_TWO_PI};
use super::{Block, Context, Drawn};

/// The names of the blocks that all Gaussians share.
pub(crate) const MEAN: &str = "base_mean";
pub(crate) const LOG_SCALE: &str = "base_log_scale";

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

impl MeanField {
    pub(crate) fn blocks(self, density: &dyn Density) -> Vec<Block> {
        mean_and_scale(density, self.start_scale)
    }

    pub(crate) fn gaussian<'g>(self, context: &Context<'g, '_>) -> Independent<'g> {
        let blocks = self.blocks(context.density());
        Independent {
            mean: context.learned(&blocks[0]),
            log_scale: context.learned(&blocks[1]),
        }
    }
}

/// The blocks of location and scale; latents start where the model says.
pub(crate) fn mean_and_scale(density: &dyn Density, scale: f64) -> Vec<Block> {
    let latents = density.latents();
    vec![
        Block::new(MEAN, &[latents.size()], latents.start().to_vec()),
        Block::filled(LOG_SCALE, &[latents.size()], scale.ln()),
    ]
}

/// A Gaussian with independent coordinates.
pub(crate) struct Independent<'g> {
    mean: Expr<'g>,
    log_scale: Expr<'g>,
}

impl<'g> Gaussian<'g> for Independent<'g> {
    fn mean(&self) -> Expr<'g> {
        self.mean
    }

    fn draw(&self, context: &Context<'g, '_>) -> Drawn<'g> {
        let noise = context.noise("base_noise", self.mean.shape());
        let size = self.mean.shape().size() as f64;
        Drawn {
            latents: self.mean + self.log_scale.exp() * noise,
            log_weight: 0.5 * noise.square().sum() + self.log_scale.sum() + size * HALF_LN_TWO_PI,
        }
    }

    fn log_density(&self, latents: Expr<'g>) -> Expr<'g> {
        let whitened = (latents - self.mean) * (-self.log_scale).exp();
        let size = self.mean.shape().size() as f64;
        -0.5 * whitened.square().sum() - self.log_scale.sum() - size * HALF_LN_TWO_PI
    }

    fn unwhiten(&self, whitened: Expr<'g>) -> Option<Expr<'g>> {
        Some(self.mean + self.log_scale.exp() * whitened)
    }

    fn stopped(&self) -> Box<dyn Gaussian<'g> + 'g> {
        Box::new(Independent {
            mean: self.mean.stop_gradient(),
            log_scale: self.log_scale.stop_gradient(),
        })
    }
}
