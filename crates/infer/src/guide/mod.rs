//! Trained distributions: each draws z and gives the weight of the draw.

mod autoregressive;
mod base;
mod block;
mod block_neural;
mod context;
mod flow;
mod full_rank;
mod low_rank;
mod mean_field;
mod whitening;

pub use autoregressive::Autoregressive;
pub use base::{Base, BaseInfo, Covariance, Image, Transport};
pub(crate) use base::{HALF_LN_TWO_PI, log_norm};
pub use block::{Block, LearnedBlocks};
pub(crate) use block::{LOG_SCALE, MEAN};
pub use block_neural::BlockNeural;
pub(crate) use context::ProgramInput;
pub use context::{Context, PARAMS, RowInput, all_blocks, params_block};
pub use flow::{Flow, FlowBase, FlowMap};
pub use full_rank::FullRank;
pub use low_rank::LowRank;
pub use mean_field::MeanField;
pub use whitening::{WhitenedDensity, Whitening};

use std::sync::Arc;

use lehr_density::{Density, Point, Rows, StoredForm};
use lehr_graph::Expr;
use serde::{Deserialize, Deserializer};

/// A draw of a guide, one per lane.
#[derive(Clone, Copy, Debug)]
pub struct GuideDraw<'g> {
    /// The flat unconstrained latents.
    pub latents: Expr<'g>,
    /// The term that the draw adds to log p(D, z) for the log weight, whose mean is the bound: −log
    /// q(z) for a known density, or the terms of a chain.
    pub log_weight: Expr<'g>,
}

/// A distribution over the latents that can be trained: one contract for all.
pub trait Guide: Send + Sync {
    /// The learned quantities and their starting values.
    fn blocks(&self, density: &dyn Density) -> Vec<Block>;

    /// Writes one draw, one per lane, into the program.
    fn draw<'g>(&self, context: &Context<'g, '_>) -> GuideDraw<'g>;

    /// The log weight of a draw that ends at these latents, as [`GuideDraw::log_weight`], with the rest
    /// of it drawn backwards from there; `None` if that is not available.
    fn reversed<'g>(&self, context: &Context<'g, '_>, latents: Expr<'g>) -> Option<Expr<'g>> {
        let _ = (context, latents);
        None
    }

    /// The score of each row at a draw, `[n]`: its log likelihood, or an estimate whose mean is not
    /// above it.
    fn log_likelihood<'g>(
        &self,
        context: &Context<'g, '_>,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        context.density().log_likelihood(at, rows)
    }

    /// The learned numbers of single rows, if the guide has any.
    fn row_numbers(&self) -> Option<RowNumbers> {
        None
    }
}

/// Learned numbers of every row, in the order in which batches number the rows.
#[derive(Clone, Debug)]
pub struct RowNumbers {
    /// How many numbers a row has.
    pub width: usize,
    /// Their starting values, row after row.
    pub start: Arc<[f64]>,
}

/// The name of the rows' numbers among the learned blocks.
pub const ROW_NUMBERS: &str = "row_numbers";

/// Every base.
pub static BASES: &[&BaseInfo] = &[
    &mean_field::INFO,
    &full_rank::INFO,
    &low_rank::INFO,
    &autoregressive::INFO,
    &block_neural::INFO,
];

impl<'de> Deserialize<'de> for Box<dyn Base> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Box<dyn Base>, D::Error> {
        let StoredForm { name, bytes } = StoredForm::deserialize(deserializer)?;
        let row = BASES.iter().find(|row| row.name == name);
        let base = row.and_then(|row| (row.restore)(&bytes));
        base.ok_or_else(|| serde::de::Error::custom(format!("no base {name:?} in these bytes")))
    }
}
