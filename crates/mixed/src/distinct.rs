//! Equal rows are joined to one row with a frequency weight. This is exact, and saves time if the
//! table has few columns with few values.

use std::ops::Range;

use lehr_density::{Density, RowSet, Values};
use lehr_rows::RowCounts;

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
    let columns = density.columns().iter();
    let width: usize = columns.map(|column| column.kind.width()).sum();
    let (mut rows, mut counts) = (Vec::new(), RowCounts::default());
    for first in (0..n_rows).step_by(ROWS) {
        let end = (first + ROWS).min(n_rows);
        let values = row_values(density, first..end, width);
        let is_fresh = |row: &usize| {
            let own = &values[(row - first) * width..][..width];
            counts.add_row(own, 1)
        };
        rows.extend((first..end).filter(is_fresh));
        // A table whose first rows are all distinct is not read to its end.
        if rows.len() as f64 > (1.0 - WORTH) * end as f64 {
            return None;
        }
    }
    let times = counts.counts().iter().map(|count| *count as f64);
    Some(DistinctRows {
        rows,
        times: times.collect(),
    })
}

/// The values of some rows, row after row, as numbers that are equal if and only if the values are.
fn row_values(density: &dyn Density, range: Range<usize>, width: usize) -> Vec<u64> {
    let source = density.source();
    let rows = RowSet::Range(range.clone());
    let mut values = vec![0; range.len() * width];
    let mut first = 0;
    for (column, kind) in density.columns().iter().map(|own| own.kind).enumerate() {
        let own: Vec<u64> = match Values::of_rows(source, (column, kind), &rows) {
            Values::Indices(codes) => codes.iter().copied().map(u64::from).collect(),
            Values::Numbers { values, .. } => values.iter().copied().map(f64::to_bits).collect(),
        };
        let each = values
            .chunks_exact_mut(width)
            .zip(own.chunks_exact(kind.width()));
        each.for_each(|(to, own)| to[first..first + own.len()].copy_from_slice(own));
        first += kind.width();
    }
    values
}
