//! Parses text to a tree with positions, without interpreting it.

mod call;
mod comparison;
mod lexer;
mod node;
mod parser;
mod token;

pub(crate) use call::parse_call;
pub use comparison::ComparisonOperator;
pub use lexer::quote_name;
pub(crate) use lexer::split_tokens;
pub(crate) use node::{BinaryOperator, NodeKind, Sign, SignedNode, SyntaxNode};
pub(crate) use parser::parse_tokens;
pub(crate) use token::{Token, TokenKind};
