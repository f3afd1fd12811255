//! A surrogate by rows.

use lehr_density::{Density, Point, StoredForm};
use lehr_graph::Expr;

use super::covariate::Covariates;
use super::recipe::{Labels, Recipe, RowChoice, Values};
use super::weighted_rows::WeightedRows;
use super::{FixedRows, Surrogate, SurrogateKind};
use crate::bytes::stored;
use crate::guide::{Block, Context};
use lehr_numeric::stream::Stream;

/// The learned covariates, `[n, numbers per row]`.
const COVARIATES: &str = "surrogate_covariates";

/// Ψ̂(z) = Σ ωₙ log p(ỹₙ | z, x̃ₙ) over a few rows, or with both labels of each: the model's own
/// likelihood on other rows with other weights.
#[derive(Clone, Debug)]
pub struct RowSurrogate {
    kind: SurrogateKind,
    recipe: Recipe,
    weighted: WeightedRows,
}

impl RowSurrogate {
    pub(crate) fn new(kind: SurrogateKind, recipe: Recipe, weighted: WeightedRows) -> RowSurrogate {
        RowSurrogate {
            kind,
            recipe,
            weighted,
        }
    }

    /// `rand` on these rows of the table; repetitions are allowed.
    pub fn on_rows(density: &dyn Density, rows: &[usize]) -> RowSurrogate {
        RowSurrogate::random(WeightedRows::uniform(FixedRows::of(density, rows)))
    }

    /// `rand` on these rows of the table with weights to start from.
    pub fn with_weights(density: &dyn Density, rows: &[usize], weights: &[f64]) -> RowSurrogate {
        let rows = FixedRows::of(density, rows);
        RowSurrogate::random(WeightedRows::weighted(rows, weights))
    }

    fn random(weighted: WeightedRows) -> RowSurrogate {
        RowSurrogate::new(SurrogateKind::RANDOM, Recipe::RANDOM, weighted)
    }

    fn covariates(&self) -> Covariates {
        Covariates::of(self.weighted.rows().columns())
    }

    fn covariate_block(&self) -> Block {
        let (rows, covariates) = (self.weighted.rows(), self.covariates());
        let dims = [rows.len(), covariates.width()];
        Block::new(COVARIATES, &dims, rows.read(&covariates))
    }
}

/// Distinct rows of the table, increasing; every subset is equally likely.
pub(crate) fn random_rows(density: &dyn Density, rows: usize, seed: u64) -> Vec<usize> {
    let mut chosen = vec![0; rows];
    Stream::new(seed, "surrogate rows", 0)
        .choose_without_replacement(density.n_rows() as u64, &mut chosen);
    chosen.into_iter().map(|row| row as usize).collect()
}

impl Surrogate for RowSurrogate {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = self.weighted.blocks();
        if self.recipe.covariates == Values::Learned {
            blocks.push(self.covariate_block());
        }
        blocks
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        if self.recipe.covariates == Values::Kept {
            return self.weighted.log_likelihood(context, at);
        }
        let matrix = context.learned(&self.covariate_block());
        let rows = self.weighted.rows().rows(context);
        let rows = self.covariates().replace(rows, matrix);
        self.weighted.log_likelihood_on(context, at, &rows)
    }

    fn contents(&self) -> String {
        let count = self.weighted.rows().len();
        match (self.recipe.rows, self.recipe.labels) {
            (RowChoice::Centroids, _) => format!("{count} centroids, no rows"),
            (_, Labels::Own) => format!("{count} rows of the table"),
            (_, Labels::Both) => {
                format!("the covariates of {count} rows of the table, without their responses")
            }
        }
    }

    fn store(&self) -> StoredForm {
        stored(self.name(), &self.weighted)
    }
}
