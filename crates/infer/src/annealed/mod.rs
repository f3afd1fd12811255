//! Pushes a draw of the base distribution toward the posterior by annealed leapfrog steps.  DAIS,
//! NS-DAIS, NS′-DAIS and SL-DAIS (Jankowiak & Phan 2022, Algorithms 1–3) are this one guide: they
//! differ in the [`Drive`], the expression that replaces the log likelihood while the chain runs.
//! The notation is the paper's.

mod chain;
mod drive;
mod path;
mod quantity;

pub(crate) use chain::{Chain, Path, State, each};
pub use drive::Drive;
pub(crate) use quantity::Quantities;
pub use quantity::{AnnealedStart, MAX_STEP_SIZE, Momentum};

use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::Expr;

use crate::guide::{Base, Block, Context, Guide, GuideDraw};
use path::LatentPath;

/// A chain of leapfrog steps on top of a base.
pub struct AnnealedGuide {
    /// q₀, the distribution from which the chain starts.
    pub base: Arc<dyn Base>,
    /// The expression that replaces the log likelihood within the chain.
    pub drive: Drive,
    /// K, how many leapfrog steps there are. Zero steps are the base itself.
    pub steps: usize,
    /// The coordinates in which the chain moves.
    pub momentum: Momentum,
    /// The starting values of the chain's own quantities.
    pub start: AnnealedStart,
}

impl Guide for AnnealedGuide {
    fn blocks(&self, density: &dyn Density) -> Vec<Block> {
        let mut blocks = self.base.blocks(density);
        if self.steps > 0 {
            blocks.extend(self.start.blocks(density.latents().size(), self.steps));
            blocks.extend(self.drive.blocks());
        }
        blocks
    }

    fn draw<'g>(&self, context: &Context<'g, '_>) -> GuideDraw<'g> {
        if self.steps == 0 {
            return self.base.draw(context);
        }
        LatentPath::new(self, context).run(self)
    }

    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        if self.steps == 0 {
            return self.base.reversed(context, latents);
        }
        LatentPath::new(self, context).reversed(self, latents)
    }
}
