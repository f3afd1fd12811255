//! `rand±`: random covariates of the table with both labels.

use lehr_density::{Density, Point};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::label_pair::{LabelPair, binary_response};
use super::random::random_rows;
use super::{FixedRows, SavedSurrogate, Surrogate, SurrogateError, SurrogateKind};
use crate::guide::{Block, Context};

/// Ψ̂(z) = Σ ωₙ⁺ log p(1 | z, x̃ₙ) + ωₙ⁻ log p(0 | z, x̃ₙ) over covariates of the table, ω⁺ and
/// ω⁻ learned.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RandomPair(pub(super) LabelPair);

impl RandomPair {
    /// Covariates of rows drawn without replacement. Refuses a model whose response is not
    /// binary.
    ///
    /// # Panics
    /// If there are fewer rows than asked for.
    pub fn new(
        density: &dyn Density,
        rows: usize,
        seed: u64,
    ) -> Result<RandomPair, SurrogateError> {
        RandomPair::on_rows(density, &random_rows(density, rows, seed))
    }

    /// The covariates of these rows.
    pub fn on_rows(density: &dyn Density, rows: &[usize]) -> Result<RandomPair, SurrogateError> {
        let (_, response) = binary_response(density, SurrogateKind::RandomPair)?;
        let rows = FixedRows::of(density, rows);
        Ok(RandomPair(LabelPair::new(&rows, &response)))
    }

    pub(crate) fn pair(&self) -> &LabelPair {
        &self.0
    }
}

impl Surrogate for RandomPair {
    fn name(&self) -> &'static str {
        "rand±"
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
        SavedSurrogate::RandomPair(self.clone())
    }
}
