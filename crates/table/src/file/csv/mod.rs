//! Comma-separated text: its records, its types and its columns.

mod date;
mod decode;
mod infer;
mod record;

pub(super) use decode::decode;
pub(super) use infer::{infer, named_like};
