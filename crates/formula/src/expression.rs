//! Arithmetic on columns: the insides of `I(...)`, `log(...)`, `offset(...)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::basis::BasisError;
use crate::error::{FormulaError, Span};
use crate::function::{self, Function, SPECIALS};
use crate::syntax::{Binary, Node, NodeKind, Sign, Signed, parse, quoted, tokens};

/// Most operations on top of each other.
const MAX_HEIGHT: usize = 100;

/// Longest sum inside arithmetic, a bound on recursion while it is read.
const MAX_PARTS: usize = 1_000;

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
    fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            // powf may differ from the product in the last bit.
            Self::Power if right == 2.0 => left * left,
            Self::Power => left.powf(right),
        }
    }

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

/// A value while it is being computed: constants stay scalars until they meet a column.
enum Value {
    Scalar(f64),
    Rows(Vec<f64>),
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

    /// Its value in every row. `columns` looks a column up by name.
    ///
    /// Refuses unknown columns and columns of different lengths; a constant has one row.
    /// Values outside a function's domain are NaN or infinite, as in floating point.
    pub fn evaluate<'a>(
        &self,
        columns: &dyn Fn(&str) -> Option<&'a [f64]>,
    ) -> Result<Vec<f64>, BasisError> {
        match self.value(columns)? {
            Value::Scalar(value) => Ok(vec![value]),
            Value::Rows(rows) => Ok(rows),
        }
    }

    fn value<'a>(&self, columns: &dyn Fn(&str) -> Option<&'a [f64]>) -> Result<Value, BasisError> {
        Ok(match self {
            Self::Number(value) => Value::Scalar(*value),
            Self::Column(name) => Value::Rows(
                columns(name)
                    .ok_or_else(|| BasisError::Unknown(name.clone()))?
                    .to_vec(),
            ),
            Self::Negative(inner) => inner.value(columns)?.map(|value| -value),
            Self::Call(function, inner) => inner.value(columns)?.map(|value| function.apply(value)),
            Self::Binary(operation, left, right) => {
                let (left, right) = (left.value(columns)?, right.value(columns)?);
                combine(*operation, left, right)
                    .ok_or_else(|| BasisError::Lengths(self.to_string()))?
            }
        })
    }

    /// Reads a piece of a formula as arithmetic; `used` is told of each column and its place.
    pub(crate) fn read(
        node: &Node,
        used: &mut dyn FnMut(&str, Span),
    ) -> Result<Self, FormulaError> {
        let expr = Self::read_part(node, used)?;
        if expr.height() > MAX_HEIGHT {
            let message = format!("more than {MAX_HEIGHT} operations on top of each other");
            return Err(FormulaError::new(node.span, message)
                .hint("make a column of it in the table first"));
        }
        Ok(expr)
    }

    fn height(&self) -> usize {
        match self {
            Self::Number(_) | Self::Column(_) => 0,
            Self::Negative(inner) | Self::Call(_, inner) => 1 + inner.height(),
            Self::Binary(_, left, right) => 1 + left.height().max(right.height()),
        }
    }

    fn read_part(node: &Node, used: &mut dyn FnMut(&str, Span)) -> Result<Self, FormulaError> {
        match &node.kind {
            NodeKind::Number(value) => Ok(Self::Number(*value)),
            NodeKind::Name(name) => {
                used(name, node.span);
                Ok(Self::Column(name.clone()))
            }
            NodeKind::Paren(inner) => Self::read_part(inner, used),
            NodeKind::Negative(inner) => {
                Ok(Self::Negative(Box::new(Self::read_part(inner, used)?)))
            }
            NodeKind::Sum(items) => read_sum(items, node.span, used),
            NodeKind::Call(name, arguments) => read_call(name, arguments, node.span, used),
            NodeKind::Binary(binary, left, right) => {
                let operation = operation(*binary, node.span)?;
                let left = Box::new(Self::read_part(left, used)?);
                Ok(Self::Binary(
                    operation,
                    left,
                    Box::new(Self::read_part(right, used)?),
                ))
            }
            NodeKind::Dot => Err(FormulaError::new(node.span, ". cannot be computed with")
                .hint(". stands for all other columns, as in y ~ .")),
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

impl Value {
    fn map(self, apply: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Scalar(value) => Self::Scalar(apply(value)),
            Self::Rows(mut rows) => {
                for value in &mut rows {
                    *value = apply(*value);
                }
                Self::Rows(rows)
            }
        }
    }
}

/// Row by row; nothing if the lengths differ.
fn combine(operation: Operation, left: Value, right: Value) -> Option<Value> {
    match (left, right) {
        (left, Value::Scalar(right)) => Some(left.map(|left| operation.apply(left, right))),
        (Value::Scalar(left), right) => Some(right.map(|right| operation.apply(left, right))),
        (Value::Rows(mut left), Value::Rows(right)) => {
            for (left, right) in left.iter_mut().zip(&right) {
                *left = operation.apply(*left, *right);
            }
            (left.len() == right.len()).then_some(Value::Rows(left))
        }
    }
}

fn read_sum(
    items: &[Signed],
    span: Span,
    used: &mut dyn FnMut(&str, Span),
) -> Result<Expr, FormulaError> {
    if items.len() > MAX_PARTS {
        let message = format!("a sum of more than {MAX_PARTS} parts");
        return Err(FormulaError::new(span, message).hint("make the sum a column of the table"));
    }
    let mut sum: Option<Expr> = None;
    for item in items {
        let value = Expr::read_part(&item.node, used)?;
        sum = Some(match (sum, item.sign) {
            (None, Sign::Plus) => value,
            (None, Sign::Minus) => Expr::Negative(Box::new(value)),
            (Some(left), sign) => {
                let operation = match sign {
                    Sign::Plus => Operation::Add,
                    Sign::Minus => Operation::Subtract,
                };
                Expr::Binary(operation, Box::new(left), Box::new(value))
            }
        });
    }
    sum.ok_or_else(|| FormulaError::new(span, "an empty sum"))
}

fn read_call(
    name: &str,
    arguments: &[Node],
    span: Span,
    used: &mut dyn FnMut(&str, Span),
) -> Result<Expr, FormulaError> {
    if name != "I" && SPECIALS.contains(&name) {
        let message = format!("{name}(...) cannot stand inside arithmetic");
        return Err(FormulaError::new(span, message).hint("make it a term of its own"));
    }
    if name != "I" && Function::named(name).is_none() {
        return Err(function::unknown(name, span));
    }
    let argument = Box::new(Expr::read_part(only(name, arguments, span)?, used)?);
    Ok(match Function::named(name) {
        Some(function) => Expr::Call(function, argument),
        None => *argument,
    })
}

/// The one argument of the function called by `node`, which takes one.
pub(crate) fn only<'a>(
    name: &str,
    arguments: &'a [Node],
    call: Span,
) -> Result<&'a Node, FormulaError> {
    match arguments {
        [argument] => Ok(argument),
        [] => Err(
            FormulaError::new(call, format!("{name}() is given nothing"))
                .hint(format!("name a column, as in {name}(x)")),
        ),
        [_, second, ..] => {
            let span = second.span.to(arguments[arguments.len() - 1].span);
            let found = arguments.len();
            let message = format!("{name}(...) takes one argument, found {found}");
            Err(FormulaError::new(span, message).hint("leave this out"))
        }
    }
}

fn operation(binary: Binary, span: Span) -> Result<Operation, FormulaError> {
    match binary {
        Binary::Cross => Ok(Operation::Multiply),
        Binary::Slash => Ok(Operation::Divide),
        Binary::Power => Ok(Operation::Power),
        other => {
            let message = format!("{} has no meaning in arithmetic", other.symbol());
            Err(FormulaError::new(span, message).hint("arithmetic has + - * / and ^"))
        }
    }
}

impl TryFrom<String> for Expr {
    type Error = FormulaError;

    /// Reads what [`Expr`] prints.
    fn try_from(text: String) -> Result<Self, FormulaError> {
        Self::read(&parse(&tokens(&text)?, text.len())?, &mut |_, _| {})
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
