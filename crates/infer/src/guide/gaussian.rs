//! What the Gaussian guides share, alone and as the base of a chain.

use lehr_density::Density;
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::{Block, Context, Drawn, FullRank, Gradient, Guide, LowRank, MeanField};

/// ½ ln 2π
pub(crate) const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// A Gaussian over the latents, as expressions.
pub trait Gaussian<'g> {
    /// μ
    fn mean(&self) -> Expr<'g>;

    /// A draw and its log density, from fresh noise.
    fn draw(&self, context: &Context<'g, '_>) -> Drawn<'g>;

    /// ln q(z)
    fn log_density(&self, latents: Expr<'g>) -> Expr<'g>;

    /// μ + F u for whitened coordinates u of dimension D, where F Fᵀ is the covariance; `None`
    /// if no square factor is at hand.
    fn unwhiten(&self, whitened: Expr<'g>) -> Option<Expr<'g>>;

    /// The same Gaussian with its learned quantities held fixed under differentiation.
    fn stopped(&self) -> Box<dyn Gaussian<'g> + 'g>;
}

/// Which Gaussian: alone a guide, under a chain its base.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Base {
    /// Independent latents.
    MeanField(MeanField),
    /// All correlations, by a Cholesky factor.
    FullRank(FullRank),
    /// A few directions of correlation besides independent scales.
    LowRank(LowRank),
}

impl Base {
    /// The name in tables and settings.
    pub fn name(&self) -> &'static str {
        match self {
            Base::MeanField(_) => "mean-field",
            Base::FullRank(_) => "full-rank",
            Base::LowRank(_) => "low-rank",
        }
    }

    /// The Gaussian as expressions.
    pub fn gaussian<'g>(&self, context: &Context<'g, '_>) -> Box<dyn Gaussian<'g> + 'g> {
        match self {
            Base::MeanField(guide) => Box::new(guide.gaussian(context)),
            Base::FullRank(guide) => Box::new(guide.gaussian(context)),
            Base::LowRank(guide) => Box::new(guide.gaussian(context)),
        }
    }
}

impl Guide for Base {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        match self {
            Base::MeanField(guide) => guide.blocks(density),
            Base::FullRank(guide) => guide.blocks(density),
            Base::LowRank(guide) => guide.blocks(density),
        }
    }

    fn draw<'g>(&self, context: &Context<'g, '_>, gradient: Gradient) -> Drawn<'g> {
        let gaussian = self.gaussian(context);
        let drawn = gaussian.draw(context);
        match gradient {
            Gradient::Total => drawn,
            Gradient::StickingTheLanding => Drawn {
                log_weight: -gaussian.stopped().log_density(drawn.latents),
                ..drawn
            },
        }
    }
}
