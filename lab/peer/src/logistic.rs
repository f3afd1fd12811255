//! The model of every comparison on a table that the other side has written.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lehr_model::Bound;

/// The model on a table that the other side has written: all rows of x, then y, as
/// little-endian doubles.
pub(crate) fn read(path: &Path, rows: usize, columns: usize) -> Result<Bound> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let expected = 8 * rows * (columns + 1);
    ensure!(
        bytes.len() == expected,
        "{}: expected {expected} bytes, found {}",
        path.display(),
        bytes.len()
    );
    let (x, y) = bytes.split_at(8 * rows * columns);
    lehr_lab::logistic::regression(doubles(x), doubles(y), columns)
}

/// Little-endian doubles.
pub(crate) fn doubles(bytes: &[u8]) -> Vec<f64> {
    let words = bytes.chunks_exact(8);
    words
        .map(|word| f64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect()
}
