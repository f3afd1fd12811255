//! Average and conditional effects: the predicted response if a column had another value.  The
//! definitions are those of R's marginaleffects (Arel-Bundock, Greifer & Heiss 2024). Every row of
//! a table is predicted with the column set to a value and the predictions are averaged: an
//! adjusted prediction. Differences of adjusted predictions are contrasts; a slope is the average
//! of each row's own derivative, by a central difference. Without a table, the single row is the
//! reference: numbers at their mean, levels at their most frequent one, as in `datagrid`.

mod average;
mod curve;
mod plan;

pub use average::{EffectAverager, EffectEstimate, EffectEstimates};
pub(crate) use curve::curves;
pub use plan::EffectKind;

use serde::Serialize;

/// The scale on which effects are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectScale {
    /// The mean of the response, or the probability of each class.
    #[default]
    Response,
    /// The linear predictor.
    Link,
    /// e to the power of the linear predictor: odds, whose contrasts are ratios; with a log link
    /// means and their ratios.
    Odds,
}

/// A question about effects.
#[derive(Clone, Debug)]
pub struct EffectQuestion {
    /// The column whose effect it is.
    pub variable: String,
    /// Columns that are held at a value, as the user writes it.
    pub at: Vec<(String, String)>,
    /// A column by whose values rows are averaged separately.
    pub by: Option<String>,
    /// Contrasts such as `night - day` or `shift: night - day`; if empty, each level is compared
    /// with the first.
    pub contrasts: Vec<String>,
    /// The scale.
    pub scale: EffectScale,
    /// The number of values at which a numeric column is predicted, from its smallest to its
    /// largest.
    pub points: usize,
}

impl EffectQuestion {
    /// The effect of a column on the response, with all other columns unchanged.
    pub fn new(variable: &str) -> EffectQuestion {
        EffectQuestion {
            variable: variable.to_owned(),
            at: Vec::new(),
            by: None,
            contrasts: Vec::new(),
            scale: EffectScale::Response,
            points: 5,
        }
    }
}
