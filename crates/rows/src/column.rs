//! The columns that a density reads of each row, and their roles.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The columns that a density reads, in a fixed order that [`crate::RowSource`] shares.
///
/// A name may occur twice, once as numbers and once as an index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Columns(pub Vec<Column>);

/// One column: its name, the type of its values and its role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// The name in the table.
    pub name: String,
    /// The type of its values.
    pub kind: ColumnKind,
    /// Its role in the density.
    pub role: Role,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// One number per row (`width: None`), or a vector of `width` numbers.
    Number {
        /// The length of the vector; `None` for a single number.
        width: Option<usize>,
    },
    /// A whole number below `levels`.
    Index {
        /// How many levels there are.
        levels: usize,
    },
}

impl ColumnKind {
    /// How many values one row takes.
    pub fn width(self) -> usize {
        match self {
            ColumnKind::Number { width: Some(width) } => width,
            _ => 1,
        }
    }
}

/// The role of a column in a density.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Observed: the likelihood is a density of it.
    Response {
        /// The values that it may take.
        kind: ResponseKind,
    },
    /// Read by the model.
    Covariate,
    /// Read as a row number of an array.
    Index,
    /// Multiplies the row's log likelihood.
    Weight,
    /// Added to a predictor with coefficient 1.
    Offset,
}

/// The values an observed column may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseKind {
    /// Any finite number.
    Real,
    /// Numbers above zero.
    Positive,
    /// Numbers from zero on.
    NonNegative,
    /// Numbers strictly between 0 and 1.
    Unit,
    /// Numbers from the first bound to the second.
    Within(f64, f64),
    /// 0 or 1.
    Binary,
    /// Whole numbers from zero on.
    Count,
    /// Whole numbers from zero up to and including this one.
    CountUpTo(u64),
    /// Whole numbers from zero up to but not including this one.
    Category(usize),
    /// Vectors of this many finite numbers.
    Vector(usize),
    /// This many positive numbers that sum to one.
    Simplex(usize),
}

impl ResponseKind {
    /// Whether one row's value, all of its numbers, is allowed.
    pub fn contains(self, row: &[f64]) -> bool {
        let whole = |y: f64| y >= 0.0 && y.fract() == 0.0;
        match (self, row) {
            (ResponseKind::Vector(n), _) => row.len() == n && row.iter().all(|y| y.is_finite()),
            (ResponseKind::Simplex(n), _) => row.len() == n && is_simplex(row),
            (_, &[y]) if y.is_finite() => match self {
                ResponseKind::Positive => y > 0.0,
                ResponseKind::NonNegative => y >= 0.0,
                ResponseKind::Unit => y > 0.0 && y < 1.0,
                ResponseKind::Within(low, high) => (low..=high).contains(&y),
                ResponseKind::Binary => y == 0.0 || y == 1.0,
                ResponseKind::Count => whole(y),
                ResponseKind::CountUpTo(most) => whole(y) && y <= most as f64,
                ResponseKind::Category(n) => whole(y) && y < n as f64,
                _ => true,
            },
            _ => false,
        }
    }

    /// How many numbers one row's value has.
    pub fn width(self) -> usize {
        match self {
            ResponseKind::Vector(n) | ResponseKind::Simplex(n) => n,
            _ => 1,
        }
    }
}

/// Whether these are nonnegative numbers that sum to one, up to rounding.
fn is_simplex(row: &[f64]) -> bool {
    let sum: f64 = row.iter().sum();
    row.iter().all(|&share| share >= 0.0) && (sum - 1.0).abs() <= 1e-8
}

impl fmt::Display for ResponseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResponseKind::Real => write!(f, "a finite number"),
            ResponseKind::Positive => write!(f, "a number above 0"),
            ResponseKind::NonNegative => write!(f, "a number from 0 on"),
            ResponseKind::Unit => write!(f, "a number strictly between 0 and 1"),
            ResponseKind::Within(low, high) => write!(f, "a number from {low} to {high}"),
            ResponseKind::Binary => write!(f, "0 or 1"),
            ResponseKind::Count => write!(f, "a whole number from 0 on"),
            ResponseKind::CountUpTo(most) => write!(f, "a whole number from 0 to {most}"),
            ResponseKind::Category(n) => {
                write!(f, "a whole number from 0 to {}", n.saturating_sub(1))
            }
            ResponseKind::Vector(n) => write!(f, "{n} finite numbers"),
            ResponseKind::Simplex(n) => write!(f, "{n} positive numbers that sum to 1"),
        }
    }
}

impl Columns {
    /// The columns in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Column> {
        self.0.iter()
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True without a column.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The observed columns with their places.
    pub fn responses(&self) -> impl Iterator<Item = (usize, &Column, ResponseKind)> {
        (self.0.iter().enumerate()).filter_map(|(place, column)| match column.role {
            Role::Response { kind } => Some((place, column, kind)),
            _ => None,
        })
    }
}

impl<'a> IntoIterator for &'a Columns {
    type Item = &'a Column;
    type IntoIter = std::slice::Iter<'a, Column>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
