//! Some rows of the table exactly and all others to second order at the mode: a log likelihood for
//! chains, without learned quantities.

use lehr_density::{Density, Point, StoredForm};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::expansion::{Extent, at_start, expand};
use super::quadratic::Quadratic;
use super::{FixedRows, Remainder, Surrogate};
use crate::bytes::stored;
use crate::error::SurrogateError;
use crate::guide::{Block, Context};

/// Ψ̂(z) = Σ_W log p(yₙ | z) + Σ_{n∉W} tₙ(z) up to a constant, where tₙ is a row's expansion at the
/// mode and W the rows that their expansion fits worst.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorstRows {
    rows: FixedRows,
    rest: Quadratic,
}

impl WorstRows {
    /// On these rows in the numbering of batches, with the number of directions of the rest that
    /// had to be truncated so that it does not grow.
    pub(crate) fn new(remainder: &Remainder<'_>, numbers: &[usize]) -> (WorstRows, usize) {
        let density = remainder.density;
        let rows = FixedRows::in_batch_order(density, numbers);
        let (learned, mode) = (at_start(density, Vec::new()), remainder.mode);
        let own = expand(density, &learned, mode, Extent::of(mode), |context, at| {
            density.log_likelihood(at, &rows.rows(context)).sum()
        });
        let (rest, cut) = Quadratic::left(mode, &own).clipped(remainder.whitening);
        (WorstRows { rows, rest }, cut)
    }

    /// Refuses any model other than its own.
    pub(crate) fn check(&self, density: &dyn Density) -> Result<(), SurrogateError> {
        self.rows.check(density)?;
        if self.rest.is_whole() && self.rest.size() == density.latents().size() {
            Ok(())
        } else {
            Err(SurrogateError::Damaged)
        }
    }
}

impl Surrogate for WorstRows {
    fn name(&self) -> &'static str {
        "worst-rows"
    }

    fn blocks(&self) -> Vec<Block> {
        Vec::new()
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let rows = self.rows.rows(context);
        let own = context.density().log_likelihood(at, &rows).sum();
        own + self.rest.term(context, at)
    }

    fn contents(&self) -> String {
        let count = self.rows.len();
        format!("{count} rows of the table, and slope and curvature of all rows at the mode")
    }

    fn store(&self) -> StoredForm {
        stored(self.name(), self)
    }
}
