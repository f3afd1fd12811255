//! Builds the syntax tree by recursive descent with R's precedences.
//!
//! From loose to tight: `|` and `||`, then `+ -`, then `* /`, `%in%`, `:`, `^`.

use super::node::{Binary, Node, NodeKind, Sign, Signed};
use super::token::{Token, TokenKind};
use crate::error::{FormulaError, Span};

/// Deepest tree that is accepted.
pub(crate) const MAX_DEPTH: usize = 100;

/// Parses all of `tokens`; `end` is the byte where the text they came from ends.
pub(crate) fn parse(tokens: &[Token], end: usize) -> Result<Node, FormulaError> {
    let mut parser = Parser {
        tokens,
        at: 0,
        end,
        open: Vec::new(),
        depth: 0,
    };
    let node = parser.piped()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.surplus(&node)),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    end: usize,
    /// The parentheses that are open at this point.
    open: Vec<Span>,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&TokenKind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn span(&self) -> Span {
        self.tokens
            .get(self.at)
            .map_or(Span::new(self.end, self.end), |token| token.span)
    }

    fn piped(&mut self) -> Result<Node, FormulaError> {
        let left = self.sum()?;
        let operator = match self.peek() {
            Some(TokenKind::Pipe) => Binary::Pipe,
            Some(TokenKind::DoublePipe) => Binary::DoublePipe,
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.sum()?;
        if let Some(TokenKind::Pipe | TokenKind::DoublePipe) = self.peek() {
            return Err(
                FormulaError::new(self.span(), "a second | in the same place")
                    .hint("one | parts what varies from its group, as in (1 | site)"),
            );
        }
        join(operator, left, right)
    }

    fn sum(&mut self) -> Result<Node, FormulaError> {
        let start = self.span();
        let mut items = Vec::new();
        let mut sign = self.signs(Sign::Plus);
        loop {
            let node = self.binary(0)?;
            items.push(Signed { sign, node });
            match self.peek() {
                Some(TokenKind::Plus | TokenKind::Minus) => sign = self.signs(Sign::Plus),
                _ => break,
            }
        }
        if let [
            Signed {
                sign: Sign::Plus, ..
            },
        ] = &items[..]
        {
            return Ok(items.swap_remove(0).node);
        }
        let deepest = items.iter().map(|item| item.node.depth).max().unwrap_or(0);
        let span = items
            .iter()
            .fold(start, |span, item| span.to(item.node.span));
        node(NodeKind::Sum(items), span, deepest)
    }

    /// Reads a run of signs as the one sign it amounts to.
    fn signs(&mut self, mut sign: Sign) -> Sign {
        loop {
            match self.peek() {
                Some(TokenKind::Plus) => {}
                Some(TokenKind::Minus) => sign = sign.flipped(),
                _ => return sign,
            }
            self.at += 1;
        }
    }

    /// `* /`, `%in%` and `:` at or above a precedence, all grouping to the left.
    fn binary(&mut self, lowest: u8) -> Result<Node, FormulaError> {
        let mut left = self.power()?;
        loop {
            let (operator, precedence) = match self.peek() {
                Some(TokenKind::Star) => (Binary::Cross, 0),
                Some(TokenKind::Slash) => (Binary::Slash, 0),
                Some(TokenKind::In) => (Binary::In, 1),
                Some(TokenKind::Colon) => (Binary::Interaction, 2),
                _ => return Ok(left),
            };
            if precedence < lowest {
                return Ok(left);
            }
            self.at += 1;
            let right = self.binary(precedence + 1)?;
            left = join(operator, left, right)?;
        }
    }

    /// `^` groups to the right and binds tighter than a sign before it.
    fn power(&mut self) -> Result<Node, FormulaError> {
        self.deeper(|parser| {
            let start = parser.span();
            if parser.peek() == Some(&TokenKind::Minus) {
                parser.at += 1;
                let inner = parser.power()?;
                let (span, depth) = (start.to(inner.span), inner.depth);
                return node(NodeKind::Negative(Box::new(inner)), span, depth);
            }
            let base = parser.primary()?;
            if parser.peek() != Some(&TokenKind::Caret) {
                return Ok(base);
            }
            parser.at += 1;
            let exponent = parser.power()?;
            join(Binary::Power, base, exponent)
        })
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, FormulaError>,
    ) -> Result<T, FormulaError> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep(self.span()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn primary(&mut self) -> Result<Node, FormulaError> {
        let span = self.span();
        let kind = match self.peek() {
            Some(TokenKind::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                return match self.peek() {
                    Some(TokenKind::Open) => self.call(name, span),
                    _ => node(NodeKind::Name(name), span, 0),
                };
            }
            Some(TokenKind::Open) => return self.paren(),
            Some(&TokenKind::Number(value)) => NodeKind::Number(value),
            Some(TokenKind::Dot) => NodeKind::Dot,
            _ => return Err(self.missing()),
        };
        self.at += 1;
        node(kind, span, 0)
    }

    fn paren(&mut self) -> Result<Node, FormulaError> {
        let start = self.open();
        let inner = self.piped()?;
        let span = start.to(self.close(&inner)?);
        let depth = inner.depth;
        node(NodeKind::Paren(Box::new(inner)), span, depth)
    }

    fn call(&mut self, function: String, start: Span) -> Result<Node, FormulaError> {
        self.open();
        let mut arguments = Vec::new();
        if self.peek() == Some(&TokenKind::Close) {
            let span = start.to(self.span());
            self.at += 1;
            self.open.pop();
            return node(NodeKind::Call(function, arguments), span, 0);
        }
        loop {
            arguments.push(self.piped()?);
            if self.peek() != Some(&TokenKind::Comma) {
                break;
            }
            self.at += 1;
        }
        let span = start.to(self.close(&arguments[arguments.len() - 1])?);
        let depth = arguments.iter().map(|node| node.depth).max().unwrap_or(0);
        node(NodeKind::Call(function, arguments), span, depth)
    }

    fn open(&mut self) -> Span {
        let span = self.span();
        self.open.push(span);
        self.at += 1;
        span
    }

    fn close(&mut self, inner: &Node) -> Result<Span, FormulaError> {
        let span = self.span();
        match self.peek() {
            Some(TokenKind::Close) => {
                self.at += 1;
                self.open.pop();
                Ok(span)
            }
            _ => Err(self.surplus(inner)),
        }
    }

    /// Something is expected here; says what was found instead.
    fn missing(&self) -> FormulaError {
        let wanted = match self.at.checked_sub(1).map(|at| &self.tokens[at]) {
            Some(token) => format!("a term is expected after {}", token.kind.spelling()),
            None => "a term is expected first".to_owned(),
        };
        let after_pipe = matches!(
            self.at.checked_sub(1).map(|at| &self.tokens[at].kind),
            Some(TokenKind::Pipe | TokenKind::DoublePipe)
        );
        let error = match self.peek() {
            None => match self.open.last() {
                Some(&open) if self.tokens[self.at - 1].kind == TokenKind::Open => unclosed(open),
                _ => FormulaError::new(self.last(), format!("{wanted}, found the end")),
            },
            Some(found) => {
                let message = format!("{wanted}, found {}", found.spelling());
                FormulaError::new(self.span(), message)
            }
        };
        match self.peek() {
            _ if error.hint.is_some() => error,
            _ if after_pipe => error.hint("name the grouping column, as in (1 | site)"),
            Some(TokenKind::Pipe | TokenKind::DoublePipe) => {
                error.hint("say what varies by group, as in (1 | site)")
            }
            _ => error,
        }
    }

    /// The last token, which is where a text that stops too early is pointed at.
    fn last(&self) -> Span {
        match self.tokens.last() {
            Some(token) => token.span,
            None => Span::new(self.end, self.end),
        }
    }

    /// A token that cannot follow `before`.
    fn surplus(&self, before: &Node) -> FormulaError {
        let span = self.span();
        match self.peek() {
            None => unclosed(*self.open.last().unwrap_or(&span)),
            Some(TokenKind::Close) => FormulaError::new(span, "this parenthesis closes nothing")
                .hint("remove it, or open one before it"),
            Some(TokenKind::Comma) => {
                FormulaError::new(span, "a comma stands only between a function's arguments")
                    .hint("join terms with +")
            }
            Some(found) => {
                let found = found.spelling();
                let number = matches!(before.kind, NodeKind::Number(_));
                let hint = if number && !self.open.is_empty() {
                    "a group term is written (1 | site)"
                } else {
                    "join terms with +"
                };
                FormulaError::new(span, format!("an operator is expected before {found}"))
                    .hint(hint)
            }
        }
    }
}

fn join(operator: Binary, left: Node, right: Node) -> Result<Node, FormulaError> {
    let span = left.span.to(right.span);
    let depth = left.depth.max(right.depth);
    node(
        NodeKind::Binary(operator, Box::new(left), Box::new(right)),
        span,
        depth,
    )
}

fn node(kind: NodeKind, span: Span, below: usize) -> Result<Node, FormulaError> {
    if below >= MAX_DEPTH {
        return Err(too_deep(span));
    }
    Ok(Node {
        kind,
        span,
        depth: below + 1,
    })
}

fn too_deep(span: Span) -> FormulaError {
    let message = format!("nested more than {MAX_DEPTH} deep");
    FormulaError::new(span, message).hint("write it flatter")
}

fn unclosed(open: Span) -> FormulaError {
    FormulaError::new(open, "this parenthesis is never closed").hint("add the missing )")
}
