//! Arithmetic on columns: the insides of `I(...)`, `log(...)`, `offset(...)`.

mod evaluate;
mod read;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use read::only;

use crate::function::Function;
use crate::syntax::quoted;

/// A number for each row, computed from columns.
///
/// Saved as its text, so that reading a damaged file cannot build what parsing refuses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Expr {
    /// The same for all rows; finite and not negative.
    Number(f64),
    /// A column's value.
    Column(String),
    /// The negative of a value.
    Negative(Box<Expr>),
    /// Two values combined.
    Binary(Operation, Box<Expr>, Box<Expr>),
    /// A function of a value.
    Call(Function, Box<Expr>),
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
        }
    }
}

impl Expr {
    /// The columns it reads, in order, with repeats.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Self::Number(_) => Vec::new(),
            Self::Column(name) => vec![name],
            Self::Negative(inner) | Self::Call(_, inner) => inner.columns(),
            Self::Binary(_, left, right) => {
                let mut columns = left.columns();
                columns.extend(right.columns());
                columns
            }
        }
    }

    fn precedence(&self) -> u8 {
        match self {
            Self::Number(_) | Self::Column(_) | Self::Call(..) => 4,
            Self::Negative(_) => 1,
            Self::Binary(operation, ..) => operation.layout().1,
        }
    }
}

impl From<Expr> for String {
    fn from(expr: Expr) -> Self {
        expr.to_string()
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) if *value != 0.0 && !(1e-5..1e15).contains(value) => {
                write!(f, "{value:e}")
            }
            Self::Number(value) => write!(f, "{value}"),
            Self::Column(name) => f.write_str(&quoted(name)),
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
        }
    }
}

fn write_at_least(f: &mut fmt::Formatter<'_>, expr: &Expr, precedence: u8) -> fmt::Result {
    if expr.precedence() < precedence {
        write!(f, "({expr})")
    } else {
        write!(f, "{expr}")
    }
}
