//! Reads a text that is one call, perhaps with an ending: `gp(day).scale`.

use super::lexer::split_tokens;
use super::node::{NodeKind, SyntaxNode};
use super::parser::parse_tokens;
use crate::error::{FormulaError, Span};

/// A call with its place.
pub(crate) struct CallNode {
    pub(crate) name: String,
    pub(crate) arguments: Vec<SyntaxNode>,
    pub(crate) span: Span,
}

/// The call of one of these functions that a text is, and the ending after it, if it has one; `None` for any
/// other text.
pub(crate) fn parse_call(
    text: &str,
    names: &[&str],
    endings: &[&'static str],
) -> Result<Option<(CallNode, &'static str)>, FormulaError> {
    let is_call = |name: &&str| {
        let rest = text.trim_start().strip_prefix(*name);
        rest.is_some_and(|rest| rest.trim_start().starts_with('('))
    };
    if !names.iter().any(is_call) {
        return Ok(None);
    }
    let text = text.trim_end();
    let found = endings
        .iter()
        .find_map(|end| Some((text.strip_suffix(end)?, *end)));
    let (call, ending) = found.unwrap_or((text, ""));
    let SyntaxNode { kind, span, .. } = parse_tokens(&split_tokens(call)?, call.len())?;
    let NodeKind::Call(name, arguments) = kind else {
        return Ok(None);
    };
    let call = CallNode {
        name,
        arguments,
        span,
    };
    Ok(Some((call, ending)))
}
