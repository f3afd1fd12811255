//! Rows in memory.

use std::sync::Arc;

use lehr_graph::kernel::prefetch;

use crate::{RowSet, RowSource};

/// Columns in memory, shared and never changed.
#[derive(Clone, Debug)]
pub struct RowData {
    n_rows: usize,
    columns: Vec<Values>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `width` numbers per row, row after row.
    Numbers {
        /// Numbers per row.
        width: usize,
        /// All of them.
        values: Arc<[f64]>,
    },
    /// A row number of some array per row.
    Indices(Arc<[u32]>),
}

impl RowData {
    /// Columns in the order of the density's [`crate::Columns`].
    ///
    /// # Panics
    /// If a column does not have `n_rows` rows.
    pub fn new(n_rows: usize, columns: Vec<Values>) -> RowData {
        for (place, column) in columns.iter().enumerate() {
            let (found, expected) = match column {
                Values::Numbers { width, values } => (values.len(), n_rows * width),
                Values::Indices(values) => (values.len(), n_rows),
            };
            assert_eq!(found, expected, "column {place} of {n_rows} rows");
        }
        RowData { n_rows, columns }
    }
}

impl RowSource for RowData {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]) {
        match &self.columns[column] {
            Values::Numbers { width, values } => copy(values, *width, rows, into),
            Values::Indices(_) => panic!("column {column} holds indices, not numbers"),
        }
    }

    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]) {
        match &self.columns[column] {
            Values::Indices(values) => copy(values, 1, rows, into),
            Values::Numbers { .. } => panic!("column {column} holds numbers, not indices"),
        }
    }

    fn whole(&self, column: usize) -> Option<Arc<[f64]>> {
        match &self.columns[column] {
            Values::Numbers { values, .. } => Some(Arc::clone(values)),
            Values::Indices(_) => None,
        }
    }

    fn whole_indices(&self, column: usize) -> Option<Arc<[u32]>> {
        match &self.columns[column] {
            Values::Indices(values) => Some(Arc::clone(values)),
            Values::Numbers { .. } => None,
        }
    }
}

/// Rows of a list that are on their way from memory while one is copied: they lie anywhere in
/// the table, and waiting for them one by one is most of what a small step costs.
const AHEAD: usize = 12;

fn copy<T: Copy>(values: &[T], width: usize, rows: &RowSet<'_>, into: &mut [T]) {
    assert_eq!(into.len(), rows.len() * width, "one place per value");
    match rows {
        RowSet::Range(range) => {
            into.copy_from_slice(&values[range.start * width..range.end * width]);
        }
        RowSet::List(list) => {
            for (k, to) in into.chunks_exact_mut(width).enumerate() {
                let row = |place: usize| &values[place * width..(place + 1) * width];
                if let Some(&later) = list.get(k + AHEAD) {
                    prefetch(row(later));
                }
                to.copy_from_slice(row(list[k]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_by_list_and_by_range() {
        let values = Values::Numbers {
            width: 2,
            values: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].into(),
        };
        let data = RowData::new(3, vec![values, Values::Indices([7, 8, 9].into())]);
        let mut numbers = [0.0; 4];
        data.copy_numbers(0, &RowSet::List(&[2, 0]), &mut numbers);
        assert_eq!(numbers, [5.0, 6.0, 1.0, 2.0]);
        data.copy_numbers(0, &RowSet::Range(1..3), &mut numbers);
        assert_eq!(numbers, [3.0, 4.0, 5.0, 6.0]);
        let mut indices = [0; 2];
        data.copy_indices(1, &RowSet::List(&[1, 1]), &mut indices);
        assert_eq!(indices, [8, 8]);
    }
}
