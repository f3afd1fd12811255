//! The parser's errors for tokens that do not fit.

use super::{Holds, Parser};
use crate::error::{FormulaError, Span};
use crate::function::ColumnFunction;
use crate::syntax::TokenKind;

impl Parser<'_> {
    /// The error for a missing piece, which names the token that was found instead.
    pub(super) fn missing_operand(&self) -> FormulaError {
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at].kind);
        let wanted = match before {
            Some(before) => format!("a term is expected after {}", before.spelling()),
            None => "a term is expected first".to_owned(),
        };
        let error = match (self.peek(), self.open.last()) {
            (None, Some(open)) if before == Some(&TokenKind::Open) => {
                return unclosed_paren(open.span);
            }
            (None, _) => FormulaError::new(self.last_span(), format!("{wanted}, found the end")),
            (Some(found), _) => {
                let message = format!("{wanted}, found {}", found.spelling());
                FormulaError::new(self.next_span(), message)
            }
        };
        error.with_hint(match (before, self.peek()) {
            (Some(TokenKind::Pipe | TokenKind::DoublePipe), _) => {
                "name the grouping column, as in (1 | site)"
            }
            (_, Some(TokenKind::Pipe | TokenKind::DoublePipe)) => {
                "say what varies by group, as in (1 | site)"
            }
            (Some(TokenKind::Comma), _) => "add an argument, or remove the comma",
            (_, Some(TokenKind::Equals)) => "name arguments as in gp(x, k = 30)",
            (Some(TokenKind::Equals), _) => "give the argument a value, as in k = 30",
            (_, None) => "add a term, or remove what asks for one",
            _ => "put a column between them",
        })
    }

    /// The place of the last token, where a text that ends too early is reported.
    fn last_span(&self) -> Span {
        match self.tokens.last() {
            Some(token) => token.span,
            None => Span::new(self.end, self.end),
        }
    }

    /// A token that cannot follow what was read.
    pub(super) fn surplus_token(&self) -> FormulaError {
        let span = self.next_span();
        match self.peek() {
            None => unclosed_paren(self.open.last().map_or(span, |open| open.span)),
            Some(TokenKind::Close) => FormulaError::new(span, "this parenthesis closes nothing")
                .with_hint("remove it, or open one before it"),
            Some(TokenKind::Comma) if !self.open.is_empty() => {
                FormulaError::new(span, "a comma stands only between a function's arguments")
                    .with_hint("a group term is written (1 | site)")
            }
            Some(TokenKind::Comma) => {
                FormulaError::new(span, "a comma stands only between a function's arguments")
                    .with_hint("join terms with +")
            }
            Some(TokenKind::Equals) => {
                FormulaError::new(span, "= follows the name of an argument and nothing else")
                    .with_hint("name arguments as in gp(x, k = 30)")
            }
            Some(found) => {
                let message = format!("an operator is expected before {}", found.spelling());
                FormulaError::new(span, message).with_hint(self.adjacent_operands(found))
            }
        }
    }

    /// A hint for two neighbouring words without an operator.
    fn adjacent_operands(&self, found: &TokenKind) -> String {
        let inside = self.open.last().map(|open| open.holds);
        match self.at.checked_sub(1).map(|at| &self.tokens[at].kind) {
            Some(TokenKind::Name(name)) if ColumnFunction::from_name(name).is_some() => {
                format!(
                    "a function takes parentheses: {name}({})",
                    found.spelling().replace('"', "")
                )
            }
            Some(TokenKind::Number(_)) if inside == Some(Holds::Terms) => {
                "a group term is written (1 | site)".to_owned()
            }
            _ if inside == Some(Holds::Arguments) => "part arguments with a comma".to_owned(),
            _ => "join terms with +".to_owned(),
        }
    }
}

fn unclosed_paren(open: Span) -> FormulaError {
    FormulaError::new(open, "this parenthesis is never closed").with_hint("add the missing )")
}
