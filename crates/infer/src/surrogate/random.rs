//! `rand`: random rows of the table with learned weights.

use lehr_density::{Density, Point};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::weighted_rows::WeightedRows;
use super::{FixedRows, SavedSurrogate, Surrogate};
use crate::guide::{Block, Context};
use lehr_numeric::stream::Stream;

/// Ψ̂(z) = Σ ωₙ log p(ỹₙ | z, x̃ₙ) over rows of the table, ω learned from `N/N_surr` on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Random(pub(crate) WeightedRows);

impl Random {
    /// Rows drawn without replacement.
    ///
    /// # Panics
    /// If there are fewer rows than asked for.
    pub fn new(density: &dyn Density, rows: usize, seed: u64) -> Random {
        Random::on_rows(density, &random_rows(density, rows, seed))
    }

    /// These rows of the table; repetitions are allowed.
    pub fn on_rows(density: &dyn Density, rows: &[usize]) -> Random {
        Random(WeightedRows::uniform(FixedRows::of(density, rows)))
    }

    /// These rows of the table with weights to start from.
    pub fn with_weights(density: &dyn Density, rows: &[usize], weights: &[f64]) -> Random {
        let rows = FixedRows::of(density, rows);
        Random(WeightedRows::weighted(rows, weights))
    }
}

/// Different rows of the table, increasing; every subset is equally likely.
pub(crate) fn random_rows(density: &dyn Density, rows: usize, seed: u64) -> Vec<usize> {
    let mut chosen = vec![0; rows];
    Stream::new(seed, "surrogate rows", 0)
        .choose_without_replacement(density.n_rows() as u64, &mut chosen);
    chosen.into_iter().map(|row| row as usize).collect()
}

impl Surrogate for Random {
    fn name(&self) -> &'static str {
        "rand"
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
        SavedSurrogate::Random(self.clone())
    }
}
