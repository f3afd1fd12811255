//! Comma-separated text: its records, its types and its columns.

mod date;
mod decode;
mod infer;
mod record;

pub(super) use decode::decode_records;
pub(super) use infer::{infer_fields, named_like};
