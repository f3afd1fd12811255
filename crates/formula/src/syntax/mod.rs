//! Parses text to a tree with positions, without interpreting it.

mod comparison;
mod lexer;
mod node;
mod parser;
mod token;

pub use comparison::Comparison;
pub use lexer::quoted;
pub(crate) use lexer::tokens;
pub(crate) use node::{Binary, Node, NodeKind, Sign, SignedNode};
pub(crate) use parser::parse;
pub(crate) use token::{Token, TokenKind};
