//! `cs-fix`: the rows of a coreset with its own weights.

use std::sync::Arc;

use lehr_density::{Density, Point};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::coreset_init::{coreset, coreset_rows};
use super::{FixedRows, SavedSurrogate, Surrogate, SurrogateError, SurrogateKind};
use crate::guide::{Block, Context};

/// Ψ̂(z) = Σ ωₙ log p(ỹₙ | z, x̃ₙ) over the rows of a coreset with ω = count/(size·p), an unbiased
/// estimate of the log likelihood; nothing is learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoresetFix {
    pub(crate) rows: FixedRows,
    pub(crate) weights: Arc<[f64]>,
}

impl CoresetFix {
    /// Draws the coreset. Refuses a model without one binary response.
    pub fn new(
        density: &dyn Density,
        rows: usize,
        seed: u64,
    ) -> Result<CoresetFix, SurrogateError> {
        let drawn = coreset(density, SurrogateKind::CoresetFix, rows, seed)?;
        Ok(CoresetFix {
            rows: coreset_rows(density, &drawn),
            weights: drawn.weights.into(),
        })
    }
}

impl CoresetFix {
    /// Whether there is one weight for each row.
    pub(crate) fn is_whole(&self) -> bool {
        self.weights.len() == self.rows.len()
    }
}

impl Surrogate for CoresetFix {
    fn name(&self) -> &'static str {
        "cs-fix"
    }

    fn blocks(&self) -> Vec<Block> {
        Vec::new()
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let weight = context.fixed("surrogate_weight", [self.rows.len()], &self.weights);
        let each = (context.density()).log_likelihood(at, &self.rows.rows(context));
        (each * weight).sum()
    }

    fn contents(&self) -> String {
        format!("{} rows of the table", self.rows.len())
    }

    fn save(&self) -> SavedSurrogate {
        SavedSurrogate::CoresetFix(self.clone())
    }
}
