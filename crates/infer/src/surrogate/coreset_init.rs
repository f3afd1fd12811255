//! `cs-init`: the rows of a coreset with learned weights.

use lehr_density::{Density, Point, RowSet};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::covariate::Covariates;
use super::label_pair::binary_response;
use super::weighted_rows::WeightedRows;
use super::{
    Coreset, CoresetSettings, FixedRows, SavedSurrogate, Surrogate, SurrogateError, SurrogateKind,
};
use crate::guide::{Block, Context};

/// Ψ̂(z) = Σ ωₙ log p(ỹₙ | z, x̃ₙ) over the rows of a coreset, ω learned from `N/N_surr` on, where
/// `N_surr` counts the different rows that were drawn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CoresetInit(pub(super) WeightedRows);

impl CoresetInit {
    /// Draws the coreset. Refuses a model without one binary response.
    pub fn new(
        density: &dyn Density,
        rows: usize,
        seed: u64,
    ) -> Result<CoresetInit, SurrogateError> {
        let drawn = coreset(density, SurrogateKind::CoresetInit, rows, seed)?;
        let rows = coreset_rows(density, &drawn);
        Ok(CoresetInit(WeightedRows::uniform(rows)))
    }

    pub(crate) fn weighted(&self) -> &WeightedRows {
        &self.0
    }
}

/// The coreset of the table by its numeric covariates and labels (Huggins et al. 2016).
pub(crate) fn coreset(
    density: &dyn Density,
    kind: SurrogateKind,
    rows: usize,
    seed: u64,
) -> Result<Coreset, SurrogateError> {
    let (place, _) = binary_response(density, kind)?;
    let covariates = Covariates::of(density.columns());
    if covariates.width() == 0 {
        return Err(SurrogateError::NoCovariates { kind });
    }
    let (source, all) = (density.source(), RowSet::Range(0..density.n_rows()));
    let matrix = covariates.read(source, &all);
    let mut labels = vec![0.0; density.n_rows()];
    source.copy_numbers(place, &all, &mut labels);
    let labels: Vec<bool> = labels.into_iter().map(|label| label == 1.0).collect();
    let settings = CoresetSettings::new(rows, seed);
    Ok(Coreset::logistic(
        &matrix,
        covariates.width(),
        &labels,
        settings,
    )?)
}

/// The rows of a coreset.
pub(crate) fn coreset_rows(density: &dyn Density, coreset: &Coreset) -> FixedRows {
    let rows: Vec<usize> = coreset.rows.iter().map(|&row| row as usize).collect();
    FixedRows::of(density, &rows)
}

impl Surrogate for CoresetInit {
    fn name(&self) -> &'static str {
        "cs-init"
    }

    fn blocks(&self) -> Vec<Block> {
        vec![self.0.block()]
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        self.0.log_likelihood(context, at)
    }

    fn contents(&self) -> String {
        format!("{} rows of the table", self.0.rows.len())
    }

    fn save(&self) -> SavedSurrogate {
        SavedSurrogate::CoresetInit(self.clone())
    }
}
