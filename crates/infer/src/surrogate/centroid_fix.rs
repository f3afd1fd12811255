//! `km-fix±`: k-means centroids with both labels.

use lehr_density::{Density, Point};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::centroid::centroids;
use super::label_pair::LabelPair;
use super::{SavedSurrogate, Surrogate, SurrogateError, SurrogateSettings};
use crate::guide::{Block, Context};

/// Ψ̂(z) = Σ ωₙ⁺ log p(1 | z, cₙ) + ωₙ⁻ log p(0 | z, cₙ) over centroids, ω⁺ and ω⁻ learned. It
/// carries no row of the table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CentroidFix(pub(super) LabelPair);

impl CentroidFix {
    /// Clusters the covariates. Refuses models with index columns or without one binary
    /// response.
    pub fn new(
        density: &dyn Density,
        settings: &SurrogateSettings,
        seed: u64,
    ) -> Result<CentroidFix, SurrogateError> {
        centroids(density, settings, seed).map(CentroidFix)
    }

    pub(crate) fn pair(&self) -> &LabelPair {
        &self.0
    }
}

impl Surrogate for CentroidFix {
    fn name(&self) -> &'static str {
        "km-fix±"
    }

    fn blocks(&self) -> Vec<Block> {
        self.0.blocks()
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        self.0.log_likelihood(context, at)
    }

    fn contents(&self) -> String {
        format!("{} centroids, no rows", self.0.rows.len())
    }

    fn save(&self) -> SavedSurrogate {
        SavedSurrogate::CentroidFix(self.clone())
    }
}
