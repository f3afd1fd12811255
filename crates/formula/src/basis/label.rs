//! The name of a coefficient, with its levels separate.

use serde::{Deserialize, Serialize};

/// The name of a column of a term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnLabel {
    /// The whole name: `x`, `x:color[red]`.
    pub text: String,
    /// The part that the columns of a factor share: `x`, `x:color`.
    pub variable: String,
    /// The level of each factor that has levels: `red`.
    pub levels: Vec<String>,
}

impl ColumnLabel {
    /// The label of a column that stands alone.
    pub(super) fn plain_text(text: String) -> Self {
        Self {
            variable: text.clone(),
            text,
            levels: Vec::new(),
        }
    }

    /// The label of one of several columns.
    pub(super) fn level_of(variable: &str, level: String) -> Self {
        Self {
            text: format!("{variable}[{level}]"),
            variable: variable.to_owned(),
            levels: vec![level],
        }
    }

    /// The label of the product of two columns.
    pub(super) fn interaction_with(&self, right: &Self) -> Self {
        Self {
            text: format!("{}:{}", self.text, right.text),
            variable: format!("{}:{}", self.variable, right.variable),
            levels: [&self.levels[..], &right.levels].concat(),
        }
    }
}
