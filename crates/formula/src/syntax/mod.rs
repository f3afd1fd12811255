//! Parses text to a tree with positions, without interpreting it.

mod comparison;
mod lexer;
mod node;
mod parser;
mod token;

pub use comparison::Comparison;
pub use lexer::quote_name;
pub(crate) use lexer::split_tokens;
pub(crate) use node::{Binary, Node, NodeKind, Sign, SignedNode};
pub(crate) use parser::parse_tokens;
pub(crate) use token::{Token, TokenKind};
