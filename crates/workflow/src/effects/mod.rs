//! Average and conditional effects: what the response would be, were a column other than it is.
//!
//! The definitions are those of R's marginaleffects (Arel-Bundock, Greifer & Heiss 2024). Every
//! row of a table is predicted with the column set to a value and the predictions are averaged:
//! an adjusted prediction. Differences of adjusted predictions are contrasts; a slope is the
//! average of each row's own derivative, by a central difference. Where no table is given, the
//! one row is the reference: numbers at their mean, levels at their commonest, as `datagrid`
//! has it.

mod average;
mod curve;
mod plan;

pub use average::{Effect, EffectAverager, Effects};
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

/// Which effects are asked for.
#[derive(Clone, Debug)]
pub struct EffectQuestion {
    /// The column whose effect it is.
    pub variable: String,
    /// Columns that are held at a value, as a user writes it.
    pub at: Vec<(String, String)>,
    /// A column by whose values rows are averaged apart.
    pub by: Option<String>,
    /// Contrasts such as `night - day` or `shift: night - day`; if empty, each level is compared
    /// with the first.
    pub contrasts: Vec<String>,
    /// On which scale.
    pub scale: EffectScale,
    /// At how many values a number is predicted, from its least to its greatest.
    pub points: usize,
}

impl EffectQuestion {
    /// The effect of a column on the response, in rows as they are.
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
