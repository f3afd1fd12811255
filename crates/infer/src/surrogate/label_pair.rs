//! Covariates with both labels: Σ ωₙ⁺ log p(y = 1 | z, x̃ₙ) + ωₙ⁻ log p(y = 0 | z, x̃ₙ).

use lehr_density::{ColumnKind, Density, Point, ResponseKind, Rows};
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::matching::matched_weights;
use super::weighted_rows::{WeightedRows, uniform_log_weight};
use super::{FixedRows, Mode, SurrogateError, SurrogateKind};
use crate::guide::{Block, Context};

/// The learned ln ω⁺ and ln ω⁻.
pub(crate) const LOG_WEIGHTS: [&str; 2] =
    ["surrogate_log_weight_plus", "surrogate_log_weight_minus"];

/// The labels that these weigh.
const LABELS: [f64; 2] = [1.0, 0.0];

/// Rows whose response is not read, and the response that takes both labels in its place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LabelPair {
    pub(crate) rows: FixedRows,
    pub(crate) response: String,
    /// Where ln ω⁺ and ln ω⁻ start.
    start: [Vec<f64>; 2],
}

impl LabelPair {
    /// The rows without their labels. All weights are equal at the start and add up to N.
    pub(crate) fn new(rows: &FixedRows, response: &str) -> LabelPair {
        let start = vec![uniform_log_weight(rows) - std::f64::consts::LN_2; rows.len()];
        LabelPair {
            rows: rows.without(response),
            response: response.to_owned(),
            start: [start.clone(), start],
        }
    }

    /// Lets the weights start where slope and curvature at the mode are nearest to those of all
    /// rows.
    pub(crate) fn match_to(
        &mut self,
        density: &dyn Density,
        mode: &Mode,
    ) -> Result<(), SurrogateError> {
        let both = self.rows.with_labels(&self.response, &LABELS);
        let weights = matched_weights(density, &both, mode)?;
        let mut starts = WeightedRows::weighted(both, &weights).start;
        let minus = starts.split_off(self.rows.len());
        self.start = [starts, minus];
        Ok(())
    }

    /// Whether the response is a column of numbers and every weight has a start.
    pub(crate) fn is_whole(&self) -> bool {
        let whole = |start: &Vec<f64>| start.len() == self.rows.len();
        let mut columns = self.rows.columns().iter();
        columns.any(|column| {
            column.name == self.response && matches!(column.kind, ColumnKind::Number { .. })
        }) && self.start.iter().all(whole)
    }

    pub(crate) fn blocks(&self) -> Vec<Block> {
        let starts = LOG_WEIGHTS.iter().zip(&self.start);
        let block =
            |(name, start): (&&str, &Vec<f64>)| Block::new(name, &[self.rows.len()], start.clone());
        starts.map(block).collect()
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
        let shape = rows.numbers(&self.response).expect("checked").shape();
        let side = |label: f64, block: &Block| {
            let labels = context.graph().full(shape, label);
            let labelled = rows.clone().with_column(&self.response, labels);
            (density.log_likelihood(at, &labelled) * context.learned(block).exp()).sum()
        };
        let blocks = self.blocks();
        side(LABELS[0], &blocks[0]) + side(LABELS[1], &blocks[1])
    }
}

/// The one binary response of a model, with its place among the columns.
pub(crate) fn binary_response(
    density: &dyn Density,
    kind: SurrogateKind,
) -> Result<(usize, String), SurrogateError> {
    let responses: Vec<_> = density.columns().responses().collect();
    let [(place, column, found)] = responses[..] else {
        let names: Vec<String> = responses
            .iter()
            .map(|(_, column, _)| format!("{:?}", column.name))
            .collect();
        let found = match names.len() {
            0 => "none".to_owned(),
            _ => names.join(" and "),
        };
        return Err(SurrogateError::Responses { kind, found });
    };
    if found != ResponseKind::Binary {
        let response = column.name.clone();
        return Err(SurrogateError::NotBinary {
            kind,
            response,
            found,
        });
    }
    let width = column.kind.width();
    if width != 1 {
        let found = format!("{width} of them in {:?}", column.name);
        return Err(SurrogateError::Responses { kind, found });
    }
    Ok((place, column.name.clone()))
}
