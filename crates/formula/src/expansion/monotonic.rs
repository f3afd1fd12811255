//! Monotonic effects of ordered levels: `mo(income)`, `mo(size, levels = c("small", "mid", "large"))`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::coded::{CodedColumn, in_quotes, read_levels};
use crate::column_use::UseListener;
use crate::error::{FormulaError, Span};
use crate::spelling::suggestion;
use crate::syntax::{NodeKind, SyntaxNode, parse_tokens, quote_name, split_tokens};

/// The name of the call in a formula.
pub(super) const NAME: &str = "mo";

/// The ending of the name of the steps' shares.
const STEP: &str = ".step";

/// A monotonic effect of ordered levels (Bürkner and Charpentier 2020): with D steps between levels
/// it is b D (ζ₁ + … + ζₖ) at level k, and the shares ζ of the steps add up to 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonotonicTerm {
    /// The column and the order of its levels.
    pub coded: CodedColumn,
}

impl MonotonicTerm {
    /// Reads the arguments of a call.
    pub(super) fn read_call(
        span: Span,
        arguments: &[SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let (mut coded, options) = CodedColumn::first_argument(NAME, span, arguments, used)?;
        for option in options {
            match &option.kind {
                NodeKind::Named(name, value) if name == "levels" => {
                    coded.order = read_levels(value)?;
                }
                NodeKind::Named(name, _) => {
                    let message = format!("mo(...) has no argument \"{name}\"");
                    return Err(
                        FormulaError::new(option.span, message).with_hint(suggestion(
                            name,
                            NAME,
                            &["levels"],
                        )),
                    );
                }
                _ => {
                    return Err(FormulaError::new(option.span, "mo(...) is of one column")
                        .with_hint("write mo(x) + mo(z)"));
                }
            }
        }
        Ok(Self { coded })
    }

    /// The name of its slope.
    pub fn term_label(&self) -> String {
        format!("{NAME}({})", quote_name(&self.coded.column))
    }

    /// Refuses text without stated levels, since text has no order of its own.
    pub(super) fn check_order(
        &self,
        span: Option<Span>,
        is_text: &dyn Fn(&str) -> bool,
    ) -> Result<(), FormulaError> {
        let column = &self.coded.column;
        if !self.coded.order.is_empty() || !is_text(column) {
            return Ok(());
        }
        let message = format!(
            "{} needs the order of its levels, which are text",
            self.term_label()
        );
        let hint = format!(
            "write mo({}, levels = c(\"low\", \"mid\", \"high\")), or C({0}) for levels without an order",
            quote_name(column)
        );
        Err(FormulaError::new(span.unwrap_or(Span::new(0, 0)), message).with_hint(hint))
    }
}

impl fmt::Display for MonotonicTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}({}", quote_name(&self.coded.column))?;
        if !self.coded.order.is_empty() {
            let order = self.coded.order.iter();
            let all: Vec<String> = order.map(|level| in_quotes(level)).collect();
            write!(f, ", levels = c({})", all.join(", "))?;
        }
        f.write_str(")")
    }
}

/// The slope or the steps of a monotonic effect that a text names, `mo(x)` or `mo(x).step`; `None` if it
/// names something else.
pub(crate) fn parse_parameter(text: &str) -> Result<Option<String>, FormulaError> {
    let is_call = |rest: &str| rest.trim_start().starts_with('(');
    if !text.trim_start().strip_prefix(NAME).is_some_and(is_call) {
        return Ok(None);
    }
    let text = text.trim_end();
    let (call, end) = match text.strip_suffix(STEP) {
        Some(call) => (call, STEP),
        None => (text, ""),
    };
    let node = parse_tokens(&split_tokens(call)?, call.len())?;
    let NodeKind::Call(_, arguments) = &node.without_parens().kind else {
        return Ok(None);
    };
    let term = MonotonicTerm::read_call(node.span, arguments, &mut |_, _, _| {})?;
    Ok(Some(term.term_label() + end))
}
