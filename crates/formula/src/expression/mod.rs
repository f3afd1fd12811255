//! Arithmetic on columns: the arguments of `I(...)`, `log(...)`, `offset(...)`.

mod evaluate;
mod read;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use evaluate::EvaluateError;
pub(crate) use read::only_argument;

use crate::function::ColumnFunction;
use crate::syntax::{ComparisonOperator, quote_name};

/// A number for each row, computed from columns.
///
/// It is saved as text, so that a damaged file cannot create an expression that the parser refuses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ColumnExpr {
    /// The same for all rows; finite and not negative.
    Number(f64),
    /// A column's value.
    Column(String),
    /// The negative of a value.
    Negative(Box<ColumnExpr>),
    /// Two values combined.
    Binary(Operation, Box<ColumnExpr>, Box<ColumnExpr>),
    /// A function of a value.
    Call(ColumnFunction, Box<ColumnExpr>),
    /// A value less its mean in the table, and perhaps divided by its standard deviation. Both are
    /// learned from the table, so it may appear in terms only.
    Standard(Standard, Box<ColumnExpr>),
}

/// The kind of standardisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// `center(x)`
    Center,
    /// `scale(x)`
    Scale,
}

impl Standard {
    /// The standardisation of this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let known = [Self::Center, Self::Scale];
        known.into_iter().find(|standard| standard.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Center => "center",
            Self::Scale => "scale",
        }
    }
}

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `^`
    Power,
    /// `x > 3`: 1 where it is true, else 0.
    Compare(ComparisonOperator),
}

impl Operation {
    /// Symbol as printed, own precedence, and the least precedence of either side.
    fn layout(self) -> (&'static str, u8, [u8; 2]) {
        match self {
            Self::Add => (" + ", 1, [1, 2]),
            Self::Subtract => (" - ", 1, [1, 2]),
            Self::Multiply => (" * ", 2, [2, 3]),
            Self::Divide => ("/", 2, [2, 3]),
            Self::Power => ("^", 3, [4, 3]),
            Self::Compare(comparison) => (comparison.spaced_symbol(), 0, [1, 1]),
        }
    }
}

impl ColumnExpr {
    /// The columns it reads, in order, with repeats.
    pub fn column_names(&self) -> Vec<&str> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Column(name) => vec![name],
            Self::Negative(inner) | Self::Call(_, inner) | Self::Standard(_, inner) => {
                inner.column_names()
            }
            Self::Binary(_, left, right) => {
                let mut columns = left.column_names();
                columns.extend(right.column_names());
                columns
            }
        }
    }

    /// The first standardised value that contains no other, and its argument.
    pub(crate) fn find_unlearnt(&self) -> Option<(Standard, &ColumnExpr)> {
        match self {
            Self::Number(_) | Self::Column(_) => None,
            Self::Negative(inner) | Self::Call(_, inner) => inner.find_unlearnt(),
            Self::Binary(_, left, right) => left.find_unlearnt().or_else(|| right.find_unlearnt()),
            Self::Standard(standard, inner) => {
                inner.find_unlearnt().or(Some((*standard, &**inner)))
            }
        }
    }

    /// The same with the first [`find_unlearnt`](Self::find_unlearnt) value as `(inner - mean)/scale`.
    pub(crate) fn with_constants(self, mean: f64, scale: f64) -> Self {
        match self {
            Self::Number(_) | Self::Column(_) => self,
            Self::Negative(inner) => Self::Negative(Box::new(inner.with_constants(mean, scale))),
            Self::Call(function, inner) => {
                Self::Call(function, Box::new(inner.with_constants(mean, scale)))
            }
            Self::Binary(operation, left, right) => match left.find_unlearnt() {
                Some(_) => {
                    Self::Binary(operation, Box::new(left.with_constants(mean, scale)), right)
                }
                None => Self::Binary(operation, left, Box::new(right.with_constants(mean, scale))),
            },
            Self::Standard(standard, inner) => match inner.find_unlearnt() {
                Some(_) => Self::Standard(standard, Box::new(inner.with_constants(mean, scale))),
                None => standardise_inner(*inner, mean, scale),
            },
        }
    }

    fn precedence(&self) -> u8 {
        match self {
            Self::Number(_) | Self::Column(_) | Self::Call(..) | Self::Standard(..) => 4,
            Self::Negative(_) => 1,
            Self::Binary(operation, ..) => operation.layout().1,
        }
    }
}

/// `(inner - mean)/scale`; numbers in an expression are not negative.
fn standardise_inner(inner: ColumnExpr, mean: f64, scale: f64) -> ColumnExpr {
    let operation = if mean < 0.0 {
        Operation::Add
    } else {
        Operation::Subtract
    };
    let shift = Box::new(ColumnExpr::Number(mean.abs()));
    let centred = ColumnExpr::Binary(operation, Box::new(inner), shift);
    if scale == 1.0 {
        return centred;
    }
    let scale = Box::new(ColumnExpr::Number(scale));
    ColumnExpr::Binary(Operation::Divide, Box::new(centred), scale)
}

impl From<ColumnExpr> for String {
    fn from(expr: ColumnExpr) -> Self {
        expr.to_string()
    }
}

impl fmt::Display for ColumnExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) if *value != 0.0 && !(1e-5..1e15).contains(value) => {
                write!(f, "{value:e}")
            }
            Self::Number(value) => write!(f, "{value}"),
            Self::Column(name) => f.write_str(&quote_name(name)),
            Self::Negative(inner) => {
                f.write_str("-")?;
                write_at_least(f, inner, 2)
            }
            Self::Binary(operation, left, right) => {
                let (symbol, _, [of_left, of_right]) = operation.layout();
                write_at_least(f, left, of_left)?;
                f.write_str(symbol)?;
                write_at_least(f, right, of_right)
            }
            Self::Call(function, inner) => write!(f, "{}({inner})", function.name()),
            Self::Standard(standard, inner) => write!(f, "{}({inner})", standard.name()),
        }
    }
}

fn write_at_least(f: &mut fmt::Formatter<'_>, expr: &ColumnExpr, precedence: u8) -> fmt::Result {
    if expr.precedence() < precedence {
        write!(f, "({expr})")
    } else {
        write!(f, "{expr}")
    }
}
