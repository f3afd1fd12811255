//! The model of every comparison: logistic regression with N(0, 1) weights.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lehr_model::distribution::{Bernoulli, Distribution, Normal};
use lehr_model::{Bound, Model};
use lehr_table::Table;

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
    let table = Table::new()
        .with_matrix("x", rows, columns, doubles(x))?
        .with_number("y", doubles(y))?;
    let model = Model::new(move |m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([columns]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight);
            row.observe("y", Bernoulli::with_logit(logit));
        });
    });
    Ok(model.bind(&table)?)
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    let words = bytes.chunks_exact(8);
    words
        .map(|word| f64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect()
}
