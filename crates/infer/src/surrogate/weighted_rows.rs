//! Rows with weights: Σ ωₙ log p(ỹₙ | z, x̃ₙ), or Σ ωₙ⁺ log p(1 | z, x̃ₙ) + ωₙ⁻ log p(0 | z, x̃ₙ).

use std::sync::Arc;

use lehr_density::{ColumnKind, Density, Point, Rows};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::FixedRows;
use super::matching::matched_weights;
use super::recipe::{Labels, Recipe, Weights};
use crate::error::SurrogateError;
use crate::expansion::Mode;
use crate::guide::{Block, Context};

/// The learned ln ω.
const LOG_WEIGHT: &str = "surrogate_log_weight";
/// The learned ln ω⁺ and ln ω⁻.
const LOG_WEIGHTS: [&str; 2] = ["surrogate_log_weight_plus", "surrogate_log_weight_minus"];
/// The labels in the order of these weights.
const LABELS: [f64; 2] = [1.0, 0.0];

/// Rows and their weights.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WeightedRows {
    rows: FixedRows,
    /// The response, if both labels are used: the rows' own is then not stored.
    response: Option<String>,
    weights: RowWeights,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum RowWeights {
    /// The starting values of ln ω, or of ln ω⁺ and then ln ω⁻.
    Learned(Vec<Vec<f64>>),
    /// ω
    Kept(Arc<[f64]>),
}

impl WeightedRows {
    /// Weights that start at `N/N_surr` each.
    pub(crate) fn uniform(rows: FixedRows) -> WeightedRows {
        let start = vec![uniform_log_weight(&rows); rows.len()];
        WeightedRows::starting(rows, start)
    }

    /// Rows that represent this many rows each, themselves included.
    pub(crate) fn standing_for(rows: FixedRows, weights: &[f64]) -> WeightedRows {
        let start = weights.iter().map(|weight| weight.ln()).collect();
        WeightedRows::starting(rows, start)
    }

    /// Weights that start at these numbers.
    pub(crate) fn weighted(rows: FixedRows, weights: &[f64]) -> WeightedRows {
        let start = log_weights(&rows, weights);
        WeightedRows::starting(rows, start)
    }

    fn starting(rows: FixedRows, start: Vec<f64>) -> WeightedRows {
        WeightedRows {
            rows,
            response: None,
            weights: RowWeights::Learned(vec![start]),
        }
    }

    /// The rows without their labels and with both. All starting weights are equal and add up to N.
    pub(crate) fn with_both(rows: &FixedRows, response: String) -> WeightedRows {
        let start = vec![uniform_log_weight(rows) - std::f64::consts::LN_2; rows.len()];
        WeightedRows {
            rows: rows.without(&response),
            response: Some(response),
            weights: RowWeights::Learned(vec![start.clone(), start]),
        }
    }

    /// The same rows with these weights, which are not learned.
    pub(crate) fn keeping(self, weights: Vec<f64>) -> WeightedRows {
        WeightedRows {
            weights: RowWeights::Kept(weights.into()),
            ..self
        }
    }

    /// Sets the starting weights such that gradient and Hessian at the mode are closest to those of
    /// all rows.
    pub(crate) fn match_to(
        &mut self,
        density: &dyn Density,
        mode: &Mode,
    ) -> Result<(), SurrogateError> {
        let labelled = match &self.response {
            Some(response) => &self.rows.with_labels(response, &LABELS),
            None => &self.rows,
        };
        let weights = matched_weights(density, labelled, mode)?;
        let start = log_weights(labelled, &weights);
        let parts = start.chunks(self.rows.len()).map(<[f64]>::to_vec);
        self.weights = RowWeights::Learned(parts.collect());
        Ok(())
    }

    pub(crate) fn rows(&self) -> &FixedRows {
        &self.rows
    }

    /// Refuses parts that do not fit each other or the recipe, and a model that reads other
    /// columns.
    pub(crate) fn check(
        &self,
        recipe: Recipe,
        density: &dyn Density,
    ) -> Result<(), SurrogateError> {
        let labels = match recipe.labels {
            Labels::Own => self.response.is_none(),
            Labels::Both => self.has_response(),
        };
        let count = if self.response.is_some() { 2 } else { 1 };
        let weights = match (&self.weights, recipe.weights) {
            (RowWeights::Learned(starts), Weights::Learned) => {
                starts.len() == count && starts.iter().all(|start| start.len() == self.rows.len())
            }
            (RowWeights::Kept(weights), Weights::Kept) => weights.len() == self.rows.len(),
            _ => false,
        };
        if !(labels && weights) {
            return Err(SurrogateError::Damaged);
        }
        self.rows.check(density)
    }

    /// Whether the response is a column of numbers.
    fn has_response(&self) -> bool {
        let mut columns = self.rows.columns().iter();
        columns.any(|column| {
            Some(&column.name) == self.response.as_ref()
                && matches!(column.kind, ColumnKind::Number { .. })
        })
    }

    pub(crate) fn blocks(&self) -> Vec<Block> {
        let RowWeights::Learned(starts) = &self.weights else {
            return Vec::new();
        };
        let names: &[&str] = match self.response {
            Some(_) => &LOG_WEIGHTS,
            None => &[LOG_WEIGHT],
        };
        let named = names.iter().zip(starts);
        named
            .map(|(name, start)| Block::new(name, &[self.rows.len()], start.clone()))
            .collect()
    }

    pub(crate) fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        self.log_likelihood_on(context, at, &self.rows.rows(context))
    }

    /// The same on rows whose covariates were replaced.
    pub(crate) fn log_likelihood_on<'g>(
        &self,
        context: &Context<'g, '_>,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        let density = context.density();
        let Some(response) = &self.response else {
            return self.weigh(context, density.log_likelihood(at, rows));
        };
        let weights = self.weights(context);
        let shape = rows.numbers(response).expect("checked").shape();
        let side = |label: f64, weight: Expr<'g>| {
            let labels = context.graph().full(shape, label);
            let labelled = rows.clone().with_column(response, labels);
            (density.log_likelihood(at, &labelled) * weight).sum()
        };
        side(LABELS[0], weights[0]) + side(LABELS[1], weights[1])
    }

    /// Σ ω of one number of each row, for rows with their own labels.
    pub(crate) fn weigh<'g>(&self, context: &Context<'g, '_>, each: Expr<'g>) -> Expr<'g> {
        (each * self.weights(context)[0]).sum()
    }

    /// ω, once for each label.
    fn weights<'g>(&self, context: &Context<'g, '_>) -> Vec<Expr<'g>> {
        if let RowWeights::Kept(weights) = &self.weights {
            return vec![context.fixed("surrogate_weight", [self.rows.len()], weights)];
        }
        let blocks = self.blocks();
        let learned = blocks.iter().map(|block| context.learned(block).exp());
        learned.collect()
    }
}

/// ln `N/N_surr`
fn uniform_log_weight(rows: &FixedRows) -> f64 {
    (rows.total() as f64 / rows.len() as f64).ln()
}

/// The logarithms of weights from which learning can start. A weight of zero could never change, so
/// none is below a thousandth of `N/N_surr`.
fn log_weights(rows: &FixedRows, weights: &[f64]) -> Vec<f64> {
    let least = uniform_log_weight(rows) + 1e-3_f64.ln();
    weights.iter().map(|w| w.ln().max(least)).collect()
}
