//! The syntax tree: the pieces of a formula with their places.

use super::comparison::Comparison;
use crate::error::Span;

/// A piece of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
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
    Binary(Binary, Box<Node>, Box<Node>),
    Negative(Box<Node>),
    Call(String, Vec<Node>),
    /// An argument by name: `k = 30`.
    Named(String, Box<Node>),
    Paren(Box<Node>),
}

/// A summand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SignedNode {
    pub(crate) sign: Sign,
    pub(crate) node: Node,
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
pub(crate) enum Binary {
    Cross,
    Slash,
    Power,
    Interaction,
    In,
    Pipe,
    DoublePipe,
    Compare(Comparison),
}

impl Binary {
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

impl Node {
    /// The piece without the parentheses around it.
    pub(crate) fn without_parens(&self) -> &Node {
        match &self.kind {
            NodeKind::Paren(inner) => inner.without_parens(),
            _ => self,
        }
    }
}
