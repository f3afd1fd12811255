//! Reads a syntax tree as arithmetic.

use super::{ColumnExpr, Operation, Standard};
use crate::error::{FormulaError, Span};
use crate::function::{self, ColumnFunction, SPECIALS};
use crate::syntax::{
    BinaryOperator, NodeKind, Sign, SignedNode, SyntaxNode, parse_tokens, split_tokens,
};

/// Most operations on top of each other.
const MAX_HEIGHT: usize = 100;

/// Longest sum inside arithmetic, a bound on recursion while it is read.
const MAX_PARTS: usize = 1_000;

impl ColumnExpr {
    /// Reads a piece of a formula as arithmetic; `used` is called with each column and its place.
    pub(crate) fn read_node(
        node: &SyntaxNode,
        used: &mut dyn FnMut(&str, Span),
    ) -> Result<Self, FormulaError> {
        let expr = Self::read_part(node, used)?;
        if expr.height() > MAX_HEIGHT {
            let message = format!("more than {MAX_HEIGHT} operations on top of each other");
            return Err(FormulaError::new(node.span, message)
                .with_hint("make a column of it in the table first"));
        }
        Ok(expr)
    }

    fn height(&self) -> usize {
        match self {
            Self::Number(_) | Self::Column(_) => 0,
            Self::Negative(inner) | Self::Call(_, inner) | Self::Standard(_, inner) => {
                1 + inner.height()
            }
            Self::Binary(_, left, right) => 1 + left.height().max(right.height()),
        }
    }

    fn read_part(
        node: &SyntaxNode,
        used: &mut dyn FnMut(&str, Span),
    ) -> Result<Self, FormulaError> {
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
                let operation = read_operation(*binary, node.span)?;
                let left = Box::new(Self::read_part(left, used)?);
                Ok(Self::Binary(
                    operation,
                    left,
                    Box::new(Self::read_part(right, used)?),
                ))
            }
            NodeKind::Named(name, _) => {
                let message = format!("no argument has the name \"{name}\" here");
                Err(FormulaError::new(node.span, message).with_hint("leave the name out"))
            }
            NodeKind::Text(_) => Err(FormulaError::new(
                node.span,
                "a text cannot be computed with",
            )
            .with_hint(
                "arithmetic and comparisons read numbers; write C(x, ref = \"day\") for levels",
            )),
            NodeKind::Dot => Err(FormulaError::new(node.span, ". cannot be computed with")
                .with_hint(". stands for all other columns, as in y ~ .")),
        }
    }
}

fn read_sum(
    items: &[SignedNode],
    span: Span,
    used: &mut dyn FnMut(&str, Span),
) -> Result<ColumnExpr, FormulaError> {
    if items.len() > MAX_PARTS {
        let message = format!("a sum of more than {MAX_PARTS} parts");
        return Err(
            FormulaError::new(span, message).with_hint("make the sum a column of the table")
        );
    }
    let mut sum: Option<ColumnExpr> = None;
    for item in items {
        let value = ColumnExpr::read_part(&item.node, used)?;
        sum = Some(match (sum, item.sign) {
            (None, Sign::Plus) => value,
            (None, Sign::Minus) => ColumnExpr::Negative(Box::new(value)),
            (Some(left), sign) => {
                let operation = match sign {
                    Sign::Plus => Operation::Add,
                    Sign::Minus => Operation::Subtract,
                };
                ColumnExpr::Binary(operation, Box::new(left), Box::new(value))
            }
        });
    }
    sum.ok_or_else(|| FormulaError::new(span, "an empty sum"))
}

fn read_call(
    name: &str,
    arguments: &[SyntaxNode],
    span: Span,
    used: &mut dyn FnMut(&str, Span),
) -> Result<ColumnExpr, FormulaError> {
    if let Some(standard) = Standard::from_name(name) {
        let inner = ColumnExpr::read_part(only_argument(name, arguments, span)?, used)?;
        return Ok(ColumnExpr::Standard(standard, Box::new(inner)));
    }
    if name != "I" && SPECIALS.contains(&name) {
        let message = format!("{name}(...) cannot stand inside arithmetic");
        return Err(FormulaError::new(span, message).with_hint("make it a term of its own"));
    }
    if name != "I" && ColumnFunction::from_name(name).is_none() {
        return Err(function::unknown_function(name, span));
    }
    let argument = Box::new(ColumnExpr::read_part(
        only_argument(name, arguments, span)?,
        used,
    )?);
    Ok(match ColumnFunction::from_name(name) {
        Some(function) => ColumnExpr::Call(function, argument),
        None => *argument,
    })
}

/// The single argument of the function called by `node`.
pub(crate) fn only_argument<'a>(
    name: &str,
    arguments: &'a [SyntaxNode],
    call: Span,
) -> Result<&'a SyntaxNode, FormulaError> {
    match arguments {
        [argument] => Ok(argument),
        [] => Err(
            FormulaError::new(call, format!("{name}() is given nothing"))
                .with_hint(format!("name a column, as in {name}(x)")),
        ),
        [_, second, ..] => {
            let span = second.span.up_to(arguments[arguments.len() - 1].span);
            let found = arguments.len();
            let message = format!("{name}(...) takes one argument, found {found}");
            let hint = match name {
                "log" => "write log2(x), log10(x), or I(log(x) / log(3)) for other bases",
                "scale" => {
                    "write center(x) to subtract the mean alone, I((x - 3) / 2) for other numbers"
                }
                "se" => "write y | se(s) ~ ... + (1 | row()) for noise beyond what is known",
                _ => "leave this out",
            };
            Err(FormulaError::new(span, message).with_hint(hint))
        }
    }
}

fn read_operation(binary: BinaryOperator, span: Span) -> Result<Operation, FormulaError> {
    match binary {
        BinaryOperator::Cross => Ok(Operation::Multiply),
        BinaryOperator::Slash => Ok(Operation::Divide),
        BinaryOperator::Power => Ok(Operation::Power),
        BinaryOperator::Compare(comparison) => Ok(Operation::Compare(comparison)),
        other => {
            let message = format!("{} has no meaning in arithmetic", other.symbol());
            Err(FormulaError::new(span, message)
                .with_hint("arithmetic has + - * / ^ and comparisons"))
        }
    }
}

impl TryFrom<String> for ColumnExpr {
    type Error = FormulaError;

    /// Reads what [`ColumnExpr`] prints.
    fn try_from(text: String) -> Result<Self, FormulaError> {
        // Comparisons may appear only inside parentheses.
        let text = format!("({text})");
        Self::read_node(
            &parse_tokens(&split_tokens(&text)?, text.len())?,
            &mut |_, _| {},
        )
    }
}
