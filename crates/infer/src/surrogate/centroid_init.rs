//! `km-init±`: k-means centroids with both labels, the centroids themselves learned.

use lehr_density::{Density, Point};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::centroid::centroids;
use super::covariate::Covariates;
use super::label_pair::LabelPair;
use super::{SavedSurrogate, Surrogate, SurrogateError, SurrogateSettings};
use crate::guide::{Block, Context};

/// The learned centroids, `[n, numbers per row]`.
pub(crate) const COVARIATES: &str = "surrogate_covariates";

/// Ψ̂(z) = Σ ωₙ⁺ log p(1 | z, cₙ) + ωₙ⁻ log p(0 | z, cₙ) over centroids, ω⁺, ω⁻ and every cₙ
/// learned. It carries no row of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CentroidInit(pub(super) LabelPair);

impl CentroidInit {
    /// Clusters the covariates. Refuses models with index columns or without one binary
    /// response.
    pub fn new(
        density: &dyn Density,
        settings: &SurrogateSettings,
        seed: u64,
    ) -> Result<CentroidInit, SurrogateError> {
        centroids(density, settings, seed).map(CentroidInit)
    }

    pub(crate) fn pair(&self) -> &LabelPair {
        &self.0
    }

    fn covariates(&self) -> Covariates {
        Covariates::of(self.0.rows.columns())
    }

    fn covariate_block(&self) -> Block {
        let covariates = self.covariates();
        let dims = [self.0.rows.len(), covariates.width()];
        Block::new(COVARIATES, &dims, self.0.rows.read(&covariates))
    }
}

impl Surrogate for CentroidInit {
    fn name(&self) -> &'static str {
        "km-init±"
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = self.0.blocks();
        blocks.push(self.covariate_block());
        blocks
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let matrix = context.learned(&self.covariate_block());
        let rows = self.covariates().replace(self.0.rows.rows(context), matrix);
        self.0.log_likelihood_on(context, at, &rows)
    }

    fn contents(&self) -> String {
        format!("{} centroids, no rows", self.0.rows.len())
    }

    fn save(&self) -> SavedSurrogate {
        SavedSurrogate::CentroidInit(self.clone())
    }
}
