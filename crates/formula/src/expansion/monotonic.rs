//! Monotonic effects of ordered levels: `mo(income)`, `mo(size, levels = c("small", "mid", "large"))`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::coded::{CodedColumn, read_levels};
use crate::column_use::UseListener;
use crate::error::{FormulaError, Span};
use crate::spelling::unknown_option;
use crate::syntax::{NodeKind, SyntaxNode, parse_call, quote_name};

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
                    return Err(unknown_option(NAME, name, option.span, &["levels"]));
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
        let label = self.term_label();
        let message = format!("{label} needs the order of its levels, which are text");
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
        self.coded.write_order(f)
    }
}

/// The slope or the steps of a monotonic effect that a text names, `mo(x)` or `mo(x).step`; `None` if it
/// names something else.
pub(crate) fn parse_parameter(text: &str) -> Result<Option<String>, FormulaError> {
    let Some((call, end)) = parse_call(text, &[NAME], &[STEP])? else {
        return Ok(None);
    };
    let term = MonotonicTerm::read_call(call.span, &call.arguments, &mut |_, _, _| {})?;
    Ok(Some(term.term_label() + end))
}
