//! `taylor`: some rows of the table exactly, and the others to second order at the mode.

use std::sync::Arc;

use lehr_density::{Density, Point, StoredForm};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::expansion::{Extent, at_start, expand};
use super::kind::{Maker, SurrogateRequest, check_latents, read};
use super::quadratic::Quadratic;
use super::recipe::Recipe;
use super::remainder::Remainder;
use super::weighted_rows::WeightedRows;
use super::{FixedRows, Surrogate, SurrogateInfo, SurrogateKind};
use crate::bytes::stored;
use crate::error::SurrogateError;
use crate::expansion::Mode;
use crate::guide::{Block, Context};

/// The row of this surrogate.
pub(super) static INFO: SurrogateInfo = SurrogateInfo {
    name: "taylor",
    help: "rows by how badly an expansion fits them, and the rest to second order at the mode; any likelihood",
    maker: &TaylorMaker,
};

/// Up to this many latents the full residual Hessian is stored, otherwise its diagonal.
pub const MOST_FULL_LATENTS: usize = 500;

/// Ψ̂(z) = Σ ωₙ log p(ỹₙ | z, x̃ₙ) + δg·(z − z*) + ½(z − z*)ᵀδH(z − z*), ω learned.  δg and δH are
/// the gradient and the Hessian of the log likelihood of all rows at the mode z*, less those of
/// these rows with their starting weights. So Ψ̂ starts exact to second order there, for any rows
/// (with a diagonal δH: exact to first order and in the diagonal).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Taylor {
    rows: WeightedRows,
    /// δg and δH at z*.
    rest: Quadratic,
}

impl Taylor {
    /// These rows of the table with weight one: Ψ̂ starts as their own log likelihood plus the
    /// expansion of all others.
    ///
    /// # Panics
    /// If the mode is not one of this density.
    pub fn on_rows(density: &dyn Density, rows: &[usize], mode: &Mode) -> Taylor {
        let ones = vec![1.0; rows.len()];
        let rows = WeightedRows::standing_for(FixedRows::of(density, rows), &ones);
        Taylor::around(density, rows, mode)
    }

    pub(crate) fn around(density: &dyn Density, rows: WeightedRows, mode: &Mode) -> Taylor {
        assert_eq!(
            mode.latents.len(),
            density.latents().size(),
            "the latents of the mode"
        );
        let learned = at_start(density, rows.blocks());
        let extent = if mode.latents.len() > MOST_FULL_LATENTS {
            Extent::Diagonal
        } else {
            Extent::of(mode)
        };
        let own = expand(density, &learned, mode, extent, |context, at| {
            rows.log_likelihood(context, at)
        });
        Taylor {
            rest: Quadratic::left(mode, &own),
            rows,
        }
    }
}

impl Surrogate for Taylor {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn blocks(&self) -> Vec<Block> {
        self.rows.blocks()
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        self.rows.log_likelihood(context, at) + self.rest.term(context, at)
    }

    fn contents(&self) -> String {
        let count = self.rows.rows().len();
        format!("{count} rows of the table, and slope and curvature of all rows at the mode")
    }

    fn store(&self) -> StoredForm {
        stored(self.name(), self)
    }
}

/// Makes `taylor` on a sample of rows that represents the remainders of all expansions.
struct TaylorMaker;

impl Maker for TaylorMaker {
    fn build(&self, order: &SurrogateRequest<'_>) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        let mode = order.setup.mode_for(order.settings.kind.name())?;
        let remainder = Remainder {
            density: order.density,
            mode,
            whitening: order.setup.whitening,
            seed: order.setup.seed,
        };
        let sample = remainder.sample(order.settings.rows);
        let rows = FixedRows::in_batch_order(order.density, &sample.rows);
        let rows = WeightedRows::standing_for(rows, &sample.weights);
        Ok(Arc::new(Taylor::around(order.density, rows, mode)))
    }

    fn restore(
        &self,
        _: SurrogateKind,
        bytes: &[u8],
        density: &dyn Density,
    ) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        let taylor: Taylor = read(bytes)?;
        if !taylor.rest.is_whole() {
            return Err(SurrogateError::Damaged);
        }
        taylor.rows.check(Recipe::RANDOM, density)?;
        check_latents(taylor.rest.size(), density)?;
        Ok(Arc::new(taylor))
    }
}
