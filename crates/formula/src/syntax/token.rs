//! One word of a formula and its place.

use super::comparison::ComparisonOperator;
use crate::error::Span;

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Name(String),
    /// `"night"`: a level of a column.
    Text(String),
    Number(f64),
    Compare(ComparisonOperator),
    Dot,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Colon,
    Pipe,
    DoublePipe,
    In,
    Tilde,
    Comma,
    Equals,
    Open,
    Close,
}

impl TokenKind {
    /// The spelling of the token in an error.
    pub(crate) fn spelling(&self) -> String {
        let symbol = match self {
            Self::Name(name) | Self::Text(name) => return format!("\"{name}\""),
            Self::Compare(comparison) => comparison.symbol(),
            Self::Number(value) => return value.to_string(),
            Self::Dot => ".",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Star => "*",
            Self::Slash => "/",
            Self::Caret => "^",
            Self::Colon => ":",
            Self::Pipe => "|",
            Self::DoublePipe => "||",
            Self::In => "%in%",
            Self::Tilde => "~",
            Self::Comma => "a comma",
            Self::Equals => "=",
            Self::Open => "(",
            Self::Close => ")",
        };
        symbol.to_owned()
    }
}

/// A token and the bytes it was read from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}
