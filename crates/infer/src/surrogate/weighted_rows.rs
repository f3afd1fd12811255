//! Rows with a learned weight each: Σ ωₙ log p(ỹₙ | z, x̃ₙ).

use lehr_density::{Density, Point};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::matching::matched_weights;
use super::{FixedRows, Mode, SurrogateError};
use crate::guide::{Block, Context};

/// The learned ln ω.
pub(crate) const LOG_WEIGHT: &str = "surrogate_log_weight";

/// Rows and where the logarithms of their weights start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WeightedRows {
    pub(crate) rows: FixedRows,
    pub(crate) start: Vec<f64>,
}

impl WeightedRows {
    /// Weights that start at `N/N_surr` each.
    pub(crate) fn uniform(rows: FixedRows) -> WeightedRows {
        let start = vec![uniform_log_weight(&rows); rows.len()];
        WeightedRows { rows, start }
    }

    /// Weights that start at one: rows that stand for themselves alone.
    pub(crate) fn own(rows: FixedRows) -> WeightedRows {
        let start = vec![0.0; rows.len()];
        WeightedRows { rows, start }
    }

    /// Rows that stand for so many each, themselves included.
    pub(crate) fn standing_for(rows: FixedRows, weights: &[f64]) -> WeightedRows {
        let start = weights.iter().map(|weight| weight.ln()).collect();
        WeightedRows { rows, start }
    }

    /// Weights that start at these numbers.
    ///
    /// A weight of zero could not be learned again by its logarithm, so that none starts below
    /// a thousandth of `N/N_surr`.
    pub(crate) fn weighted(rows: FixedRows, weights: &[f64]) -> WeightedRows {
        let least = uniform_log_weight(&rows) + 1e-3_f64.ln();
        let start = weights.iter().map(|w| w.ln().max(least)).collect();
        WeightedRows { rows, start }
    }

    /// Lets the weights start where slope and curvature at the mode are nearest to those of all
    /// rows.
    pub(crate) fn match_to(
        &mut self,
        density: &dyn Density,
        mode: &Mode,
    ) -> Result<(), SurrogateError> {
        let weights = matched_weights(density, &self.rows, mode)?;
        *self = WeightedRows::weighted(self.rows.clone(), &weights);
        Ok(())
    }

    /// Whether there is one start for each row.
    pub(crate) fn is_whole(&self) -> bool {
        self.start.len() == self.rows.len()
    }

    pub(crate) fn block(&self) -> Block {
        Block::new(LOG_WEIGHT, &[self.rows.len()], self.start.clone())
    }

    pub(crate) fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let weight = context.learned(&self.block()).exp();
        let each = (context.density()).log_likelihood(at, &self.rows.rows(context));
        (each * weight).sum()
    }
}

/// ln `N/N_surr`
pub(crate) fn uniform_log_weight(rows: &FixedRows) -> f64 {
    (rows.total() as f64 / rows.len() as f64).ln()
}
