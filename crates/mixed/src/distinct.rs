//! Rows that are equal count as one row with a frequency weight: exact, and shorter if there are
//! few columns with few values.

use std::collections::HashMap;

use lehr_density::{ColumnKind, Density, RowSet};

/// Rows that are read at a time.
const ROWS: usize = 4096;
/// The least share of the rows that must be redundant.
const WORTH: f64 = 0.2;

/// The first of each kind of row, and the frequency of each kind.
#[derive(Debug, PartialEq)]
pub(crate) struct DistinctRows {
    pub(crate) rows: Vec<usize>,
    pub(crate) times: Vec<f64>,
}

/// The distinct rows of a density; `None` if they are almost as many as all.
pub(crate) fn find_distinct_rows(density: &dyn Density) -> Option<DistinctRows> {
    let n_rows = density.n_rows();
    let mut places: HashMap<Box<[u8]>, usize> = HashMap::new();
    let mut found = DistinctRows {
        rows: Vec::new(),
        times: Vec::new(),
    };
    for first in (0..n_rows).step_by(ROWS) {
        let end = (first + ROWS).min(n_rows);
        for (row, key) in (first..end).zip(keys(density, first..end)) {
            let place = *places.entry(key.into()).or_insert(found.rows.len());
            if place == found.rows.len() {
                found.rows.push(row);
                found.times.push(0.0);
            }
            found.times[place] += 1.0;
        }
        // A table whose first rows are all distinct is not read to its end.
        if found.rows.len() as f64 > (1.0 - WORTH) * end as f64 {
            return None;
        }
    }
    Some(found)
}

/// The contents of some rows, as bytes.
fn keys(density: &dyn Density, range: std::ops::Range<usize>) -> Vec<Vec<u8>> {
    let source = density.source();
    let rows = RowSet::Range(range.clone());
    let mut keys = vec![Vec::new(); range.len()];
    for (column, kind) in density.columns().0.iter().map(|own| own.kind).enumerate() {
        let width = kind.width();
        if let ColumnKind::Index { .. } = kind {
            let mut codes = vec![0; range.len()];
            source.copy_indices(column, &rows, &mut codes);
            for (key, code) in keys.iter_mut().zip(codes) {
                key.extend(code.to_ne_bytes());
            }
            continue;
        }
        let mut numbers = vec![0.0; range.len() * width];
        source.copy_numbers(column, &rows, &mut numbers);
        for (key, own) in keys.iter_mut().zip(numbers.chunks_exact(width)) {
            for number in own {
                key.extend(number.to_ne_bytes());
            }
        }
    }
    keys
}
