//! Numbers as options of a call: `k = 10`, `period = 12`.

use std::ops::RangeInclusive;

use crate::error::FormulaError;
use crate::syntax::{NodeKind, SyntaxNode};

/// A whole number in a range, or an error that tells what to write.
pub(crate) fn read_whole(
    option: &str,
    node: &SyntaxNode,
    range: RangeInclusive<f64>,
    hint: &str,
) -> Result<usize, FormulaError> {
    match node.without_parens().kind {
        NodeKind::Number(value) if range.contains(&value) && value.fract() == 0.0 => {
            Ok(value as usize)
        }
        _ => {
            let (least, most) = range.into_inner();
            let message = format!("{option} is a whole number from {least} to {most}");
            Err(FormulaError::new(node.span, message).with_hint(hint))
        }
    }
}

/// A period, in the unit of the column.
pub(crate) fn read_period(node: &SyntaxNode, example: &str) -> Result<f64, FormulaError> {
    match node.without_parens().kind {
        NodeKind::Number(value) if value > 0.0 => Ok(value),
        _ => Err(FormulaError::new(node.span, "a period is a number above 0")
            .with_hint(format!("in the unit of the column, as in {example}"))),
    }
}
