//! `cs-init±`: the covariates of a coreset with both labels.

use lehr_density::{Density, Point};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::coreset_init::{coreset, coreset_rows};
use super::label_pair::{LabelPair, binary_response};
use super::{SavedSurrogate, Surrogate, SurrogateError, SurrogateKind};
use crate::guide::{Block, Context};

/// Ψ̂(z) = Σ ωₙ⁺ log p(1 | z, x̃ₙ) + ωₙ⁻ log p(0 | z, x̃ₙ) over the covariates of a coreset, ω⁺
/// and ω⁻ learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoresetPair(pub(super) LabelPair);

impl CoresetPair {
    /// Draws the coreset. Refuses a model without one binary response.
    pub fn new(
        density: &dyn Density,
        rows: usize,
        seed: u64,
    ) -> Result<CoresetPair, SurrogateError> {
        let kind = SurrogateKind::CoresetPair;
        let (_, response) = binary_response(density, kind)?;
        let drawn = coreset(density, kind, rows, seed)?;
        let rows = coreset_rows(density, &drawn);
        Ok(CoresetPair(LabelPair::new(&rows, &response)))
    }

    pub(crate) fn pair(&self) -> &LabelPair {
        &self.0
    }
}

impl Surrogate for CoresetPair {
    fn name(&self) -> &'static str {
        "cs-init±"
    }

    fn blocks(&self) -> Vec<Block> {
        self.0.blocks()
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        self.0.log_likelihood(context, at)
    }

    fn contents(&self) -> String {
        let count = self.0.rows.len();
        format!("the covariates of {count} rows of the table, without their responses")
    }

    fn save(&self) -> SavedSurrogate {
        SavedSurrogate::CoresetPair(self.clone())
    }
}
