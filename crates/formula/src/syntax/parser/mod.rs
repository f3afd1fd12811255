//! Builds the syntax tree by recursive descent with R's precedences.
//!
//! From loose to tight: `|` and `||`, comparisons, then `+ -`, then `* /`, `%in%`, `:`, `^`.

mod complaint;

use super::node::{BinaryOperator, NodeKind, Sign, SignedNode, SyntaxNode};
use super::token::{Token, TokenKind};
use crate::error::{FormulaError, Span};

/// Deepest tree that is accepted. It is deeper than arithmetic may be, so that printed arithmetic
/// inside a longer formula is accepted again.
pub(crate) const MAX_DEPTH: usize = 120;

/// Parses all of `tokens`; `end` is the byte at which their text ends.
pub(crate) fn parse_tokens(tokens: &[Token], end: usize) -> Result<SyntaxNode, FormulaError> {
    let mut parser = Parser {
        tokens,
        at: 0,
        end,
        open: Vec::new(),
        depth: 0,
    };
    let node = parser.parse_bars()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.surplus_token()),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    end: usize,
    /// The open parentheses.
    open: Vec<OpenBracket>,
    depth: usize,
}

/// An open parenthesis and the kind of its content.
#[derive(Clone, Copy)]
struct OpenBracket {
    span: Span,
    holds: Holds,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Terms,
    Arguments,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn next_span(&self) -> Span {
        self.tokens
            .get(self.at)
            .map_or(Span::new(self.end, self.end), |token| token.span)
    }

    fn parse_bars(&mut self) -> Result<SyntaxNode, FormulaError> {
        let left = self.parse_comparison()?;
        let operator = match self.peek() {
            Some(TokenKind::Pipe) => BinaryOperator::Pipe,
            Some(TokenKind::DoublePipe) => BinaryOperator::DoublePipe,
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.parse_sum()?;
        let is_id = matches!(right.kind, NodeKind::Name(_) | NodeKind::Number(_));
        match (operator, self.peek()) {
            // `(1 |p| site)`: the name between the bars ties effects across responses.
            (BinaryOperator::Pipe, Some(TokenKind::Pipe)) if is_id && !self.open.is_empty() => {
                self.at += 1;
                let grouping = self.parse_sum()?;
                self.check_last_pipe()?;
                join(operator, join(operator, left, right)?, grouping)
            }
            _ => {
                self.check_last_pipe()?;
                join(operator, left, right)
            }
        }
    }

    fn check_last_pipe(&self) -> Result<(), FormulaError> {
        match self.peek() {
            Some(TokenKind::Pipe | TokenKind::DoublePipe) => {
                Err(
                    FormulaError::new(self.next_span(), "a second | in the same place").with_hint(
                        "one | parts what varies from its group, as in (1 | site); (1 |p| site) \
                         correlates the effects of several responses",
                    ),
                )
            }
            _ => Ok(()),
        }
    }

    /// `x > 3`, which is allowed only inside parentheses.
    fn parse_comparison(&mut self) -> Result<SyntaxNode, FormulaError> {
        let left = self.parse_sum()?;
        let Some(&TokenKind::Compare(comparison)) = self.peek() else {
            return Ok(left);
        };
        self.at += 1;
        let right = self.parse_sum()?;
        if let Some(TokenKind::Compare(_)) = self.peek() {
            return Err(FormulaError::new(
                self.next_span(),
                "a second comparison in the same place",
            )
            .with_hint("multiply them, as in I((0 < x) * (x < 5))"));
        }
        join(BinaryOperator::Compare(comparison), left, right)
    }

    fn parse_sum(&mut self) -> Result<SyntaxNode, FormulaError> {
        let start = self.next_span();
        let mut items = Vec::new();
        let mut sign = self.parse_signs(Sign::Plus);
        loop {
            let node = self.parse_binary(0)?;
            items.push(SignedNode { sign, node });
            match self.peek() {
                Some(TokenKind::Plus | TokenKind::Minus) => sign = self.parse_signs(Sign::Plus),
                _ => break,
            }
        }
        if let [
            SignedNode {
                sign: Sign::Plus, ..
            },
        ] = &items[..]
        {
            return Ok(items.swap_remove(0).node);
        }
        let deepest = items.iter().map(|item| item.node.depth).max().unwrap_or(0);
        let span = items
            .iter()
            .fold(start, |span, item| span.up_to(item.node.span));
        new_node(NodeKind::Sum(items), span, deepest)
    }

    /// Reads a run of signs as one sign.
    fn parse_signs(&mut self, mut sign: Sign) -> Sign {
        loop {
            match self.peek() {
                Some(TokenKind::Plus) => {}
                Some(TokenKind::Minus) => sign = sign.flipped(),
                _ => return sign,
            }
            self.at += 1;
        }
    }

    /// `* /`, `%in%` and `:` at or above a precedence, all left-associative.
    fn parse_binary(&mut self, lowest: u8) -> Result<SyntaxNode, FormulaError> {
        let mut left = self.parse_power()?;
        loop {
            let (operator, precedence) = match self.peek() {
                Some(TokenKind::Star) => (BinaryOperator::Cross, 0),
                Some(TokenKind::Slash) => (BinaryOperator::Slash, 0),
                Some(TokenKind::In) => (BinaryOperator::In, 1),
                Some(TokenKind::Colon) => (BinaryOperator::Interaction, 2),
                _ => return Ok(left),
            };
            if precedence < lowest {
                return Ok(left);
            }
            self.at += 1;
            let right = self.parse_binary(precedence + 1)?;
            left = join(operator, left, right)?;
        }
    }

    /// `^` is right-associative and binds tighter than a sign before it.
    fn parse_power(&mut self) -> Result<SyntaxNode, FormulaError> {
        self.parse_deeper(|parser| {
            let start = parser.next_span();
            if parser.peek() == Some(&TokenKind::Minus) {
                parser.at += 1;
                let inner = parser.parse_power()?;
                let (span, depth) = (start.up_to(inner.span), inner.depth);
                return new_node(NodeKind::Negative(Box::new(inner)), span, depth);
            }
            let base = parser.parse_primary()?;
            if parser.peek() != Some(&TokenKind::Caret) {
                return Ok(base);
            }
            parser.at += 1;
            let exponent = parser.parse_power()?;
            join(BinaryOperator::Power, base, exponent)
        })
    }

    fn parse_deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, FormulaError>,
    ) -> Result<T, FormulaError> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep(self.next_span()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn parse_primary(&mut self) -> Result<SyntaxNode, FormulaError> {
        let span = self.next_span();
        let kind = match self.peek() {
            Some(TokenKind::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                return match self.peek() {
                    Some(TokenKind::Open) => self.parse_call(name, span),
                    _ => new_node(NodeKind::Name(name), span, 0),
                };
            }
            Some(TokenKind::Open) => return self.parse_paren(),
            Some(&TokenKind::Number(value)) => NodeKind::Number(value),
            Some(TokenKind::Text(text)) => NodeKind::Text(text.clone()),
            Some(TokenKind::Dot) => NodeKind::Dot,
            _ => return Err(self.missing_operand()),
        };
        self.at += 1;
        new_node(kind, span, 0)
    }

    fn parse_paren(&mut self) -> Result<SyntaxNode, FormulaError> {
        let start = self.open_paren(Holds::Terms);
        let inner = self.parse_bars()?;
        let span = start.up_to(self.close_paren()?);
        // The descent itself bounds parentheses. Counting them here as well would refuse x^(-2)
        // where x^-2 is accepted.
        Ok(SyntaxNode {
            depth: inner.depth,
            kind: NodeKind::Paren(Box::new(inner)),
            span,
        })
    }

    fn parse_call(&mut self, function: String, start: Span) -> Result<SyntaxNode, FormulaError> {
        self.open_paren(Holds::Arguments);
        let mut arguments = Vec::new();
        if self.peek() == Some(&TokenKind::Close) {
            let span = start.up_to(self.next_span());
            self.at += 1;
            self.open.pop();
            return new_node(NodeKind::Call(function, arguments), span, 0);
        }
        loop {
            arguments.push(self.parse_argument()?);
            if self.peek() != Some(&TokenKind::Comma) {
                break;
            }
            self.at += 1;
        }
        let span = start.up_to(self.close_paren()?);
        let depth = arguments.iter().map(|node| node.depth).max().unwrap_or(0);
        new_node(NodeKind::Call(function, arguments), span, depth)
    }

    /// An argument, which may have a name.
    fn parse_argument(&mut self) -> Result<SyntaxNode, FormulaError> {
        let next = self.tokens.get(self.at + 1).map(|token| &token.kind);
        let (Some(TokenKind::Name(name)), Some(TokenKind::Equals)) = (self.peek(), next) else {
            return self.parse_bars();
        };
        let (name, start) = (name.clone(), self.next_span());
        self.at += 2;
        let value = self.parse_bars()?;
        let (span, depth) = (start.up_to(value.span), value.depth);
        new_node(NodeKind::Named(name, Box::new(value)), span, depth)
    }

    fn open_paren(&mut self, holds: Holds) -> Span {
        let span = self.next_span();
        self.open.push(OpenBracket { span, holds });
        self.at += 1;
        span
    }

    fn close_paren(&mut self) -> Result<Span, FormulaError> {
        let span = self.next_span();
        match self.peek() {
            Some(TokenKind::Close) => {
                self.at += 1;
                self.open.pop();
                Ok(span)
            }
            _ => Err(self.surplus_token()),
        }
    }
}

fn join(
    operator: BinaryOperator,
    left: SyntaxNode,
    right: SyntaxNode,
) -> Result<SyntaxNode, FormulaError> {
    let span = left.span.up_to(right.span);
    let depth = left.depth.max(right.depth);
    new_node(
        NodeKind::Binary(operator, Box::new(left), Box::new(right)),
        span,
        depth,
    )
}

fn new_node(kind: NodeKind, span: Span, below: usize) -> Result<SyntaxNode, FormulaError> {
    if below >= MAX_DEPTH {
        return Err(too_deep(span));
    }
    Ok(SyntaxNode {
        kind,
        span,
        depth: below + 1,
    })
}

fn too_deep(span: Span) -> FormulaError {
    let message = format!("nested more than {MAX_DEPTH} deep");
    FormulaError::new(span, message).with_hint("write it flatter")
}
