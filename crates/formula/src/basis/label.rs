//! The name of a coefficient with its level apart.

use serde::{Deserialize, Serialize};

/// What a column of a term is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnLabel {
    /// All of it: `x`, `x:color[red]`.
    pub text: String,
    /// The part that the columns of a factor share: `x`, `x:color`.
    pub variable: String,
    /// The level, `red`; `None` if there is none, or if several factors have one.
    pub level: Option<String>,
}

impl ColumnLabel {
    /// A column that is alone.
    pub(super) fn plain(text: String) -> Self {
        Self {
            variable: text.clone(),
            text,
            level: None,
        }
    }

    /// One of several columns.
    pub(super) fn level(variable: &str, level: String) -> Self {
        Self {
            text: format!("{variable}[{level}]"),
            variable: variable.to_owned(),
            level: Some(level),
        }
    }

    /// The product of two columns.
    pub(super) fn times(&self, right: &Self) -> Self {
        let text = format!("{}:{}", self.text, right.text);
        if self.level.is_some() && right.level.is_some() {
            return Self::plain(text);
        }
        Self {
            text,
            variable: format!("{}:{}", self.variable, right.variable),
            level: self.level.clone().or_else(|| right.level.clone()),
        }
    }
}
