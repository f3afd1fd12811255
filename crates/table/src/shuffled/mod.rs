//! Rows in random order on disk: written once, then read in blocks.
//!
//! A file has three parts, all little-endian and each a multiple of 64 bytes long:
//!
//! ```text
//! preamble  8 bytes "LEHRROWS", version u32, checksum of the header u32,
//!           length of the header u64, checksum of the rows u32, zeros
//! header    JSON: columns with kinds and levels, number of rows, seed; then blanks
//! rows      n_rows × width doubles, row after row
//! ```
//!  All numbers are doubles even if the table had single precision: a mini-batch is then a borrowed
//!  slice that needs no conversion, and category codes are exact.

mod header;
mod rows;
mod scatter;
mod shuffler;

pub use header::StoredColumn;
pub use rows::ShuffledRows;
pub use shuffler::{Columns as ShuffledColumns, Provenance, Shuffler};
