//! The type of a column.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The type of a column, without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers.
    Number,
    /// Rows of numbers.
    Matrix {
        /// Numbers per row.
        width: usize,
    },
    /// Named levels.
    Category,
    /// Boolean values.
    Boolean,
}

impl fmt::Display for Kind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => to.write_str("a number"),
            Self::Matrix { width } => write!(to, "{width} numbers per row"),
            Self::Category => to.write_str("a category"),
            Self::Boolean => to.write_str("true or false"),
        }
    }
}

impl Kind {
    /// How many numbers one row of such a column takes.
    pub fn width(self) -> usize {
        match self {
            Self::Matrix { width } => width,
            _ => 1,
        }
    }
}
