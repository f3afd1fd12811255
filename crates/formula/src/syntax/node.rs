//! The syntax tree: the pieces of a formula with their places.

use super::comparison::ComparisonOperator;
use crate::error::Span;

/// A piece of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SyntaxNode {
    pub(crate) kind: NodeKind,
    pub(crate) span: Span,
    /// Height of the tree, bounded so that walking it cannot exhaust the stack.
    pub(crate) depth: usize,
}

/// The kind of a piece.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NodeKind {
    Number(f64),
    Name(String),
    /// `"night"`: a level of a column.
    Text(String),
    Dot,
    /// A flat list, because formulas with thousands of summands occur.
    Sum(Vec<SignedNode>),
    Binary(BinaryOperator, Box<SyntaxNode>, Box<SyntaxNode>),
    Negative(Box<SyntaxNode>),
    Call(String, Vec<SyntaxNode>),
    /// An argument by name: `k = 30`.
    Named(String, Box<SyntaxNode>),
    Paren(Box<SyntaxNode>),
}

/// A summand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SignedNode {
    pub(crate) sign: Sign,
    pub(crate) node: SyntaxNode,
}

/// Whether a summand is added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Plus,
    Minus,
}

impl Sign {
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Plus => Self::Minus,
            Self::Minus => Self::Plus,
        }
    }
}

/// An operator between two pieces, other than `+` and `-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOperator {
    Cross,
    Slash,
    Power,
    Interaction,
    In,
    Pipe,
    DoublePipe,
    Compare(ComparisonOperator),
}

impl BinaryOperator {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Cross => "*",
            Self::Slash => "/",
            Self::Power => "^",
            Self::Interaction => ":",
            Self::In => "%in%",
            Self::Pipe => "|",
            Self::DoublePipe => "||",
            Self::Compare(comparison) => comparison.symbol(),
        }
    }
}

impl SyntaxNode {
    /// The piece without the parentheses around it.
    pub(crate) fn without_parens(&self) -> &SyntaxNode {
        match &self.kind {
            NodeKind::Paren(inner) => inner.without_parens(),
            _ => self,
        }
    }
}
