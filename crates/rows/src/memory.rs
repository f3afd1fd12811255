//! Rows in memory.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use lehr_graph::kernel::prefetch_values;
use lehr_numeric::order::permutation;
use serde::{Deserialize, Serialize};

use crate::{ColumnKind, RowSet, RowSource};

/// Columns in memory, shared and never changed.
#[derive(Clone, Debug)]
pub struct RowData {
    n_rows: usize,
    columns: Vec<Values>,
    /// The shuffled copy, which is made on first use and kept for later fits.
    shuffled: OnceLock<Option<Arc<RowData>>>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        RowData {
            n_rows,
            columns,
            shuffled: OnceLock::new(),
        }
    }

    fn bytes(&self) -> usize {
        let size = |column: &Values| match column {
            Values::Numbers { values, .. } => size_of_val(&values[..]),
            Values::Indices(values) => size_of_val(&values[..]),
        };
        self.columns.iter().map(size).sum()
    }

    /// A copy in random order, if the table is of a size for which it pays.
    fn shuffled_copy(&self) -> Option<Arc<RowData>> {
        if !PAYS.contains(&self.bytes()) {
            return None;
        }
        // The order is always the same; each fit cuts it at its own places.
        let order = permutation(self.n_rows, 0);
        let columns = self
            .columns
            .iter()
            .map(|column| column.reorder_rows(&order));
        let shuffled = RowData::new(self.n_rows, columns.collect());
        Some(Arc::new(shuffled))
    }
}

/// Sizes in bytes of tables that are worth a copy. Smaller tables fit the processor's cache, where
/// single rows are fast to reach, and larger ones should not be held twice.
const PAYS: RangeInclusive<usize> = 1 << 20..=1 << 28;

impl Values {
    /// Rows of a column of a source, by its place there.
    pub fn of_rows(
        source: &dyn RowSource,
        (place, kind): (usize, ColumnKind),
        rows: &RowSet<'_>,
    ) -> Values {
        if let ColumnKind::Index { .. } = kind {
            let mut values = vec![0; rows.len()];
            source.copy_indices(place, rows, &mut values);
            return Values::Indices(values.into());
        }
        let width = kind.width();
        let mut values = vec![0.0; rows.len() * width];
        source.copy_numbers(place, rows, &mut values);
        let values = values.into();
        Values::Numbers { width, values }
    }

    fn reorder_rows(&self, order: &[usize]) -> Values {
        let rows = RowSet::List(order);
        match self {
            Values::Numbers { width, values } => Values::Numbers {
                width: *width,
                values: pick_rows(values, *width, &rows),
            },
            Values::Indices(values) => Values::Indices(pick_rows(values, 1, &rows)),
        }
    }
}

/// Rows of a column, copied once.
fn pick_rows<T: Copy + Default>(values: &[T], width: usize, rows: &RowSet<'_>) -> Arc<[T]> {
    let mut into: Arc<[T]> = std::iter::repeat_n(T::default(), rows.len() * width).collect();
    copy_rows(
        values,
        width,
        rows,
        Arc::get_mut(&mut into).expect("nobody else has it yet"),
    );
    into
}

impl RowSource for RowData {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]) {
        match &self.columns[column] {
            Values::Numbers { width, values } => copy_rows(values, *width, rows, into),
            Values::Indices(_) => panic!("column {column} holds indices, not numbers"),
        }
    }

    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]) {
        match &self.columns[column] {
            Values::Indices(values) => copy_rows(values, 1, rows, into),
            Values::Numbers { .. } => panic!("column {column} holds numbers, not indices"),
        }
    }

    fn shuffled_source(&self) -> Option<&dyn RowSource> {
        let shuffled = self.shuffled.get_or_init(|| self.shuffled_copy());
        shuffled.as_deref().map(|rows| rows as &dyn RowSource)
    }

    fn whole_column(&self, column: usize) -> Option<Arc<[f64]>> {
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

/// Rows of a list that are prefetched while one is copied. They lie anywhere in the table, and
/// waiting for them one by one would dominate the cost of a small step.
const AHEAD: usize = 12;

fn copy_rows<T: Copy>(values: &[T], width: usize, rows: &RowSet<'_>, into: &mut [T]) {
    assert_eq!(into.len(), rows.len() * width, "one place per value");
    match rows {
        RowSet::Range(range) => {
            into.copy_from_slice(&values[range.start * width..range.end * width]);
        }
        RowSet::List(list) => {
            for (k, to) in into.chunks_exact_mut(width).enumerate() {
                let row = |place: usize| &values[place * width..(place + 1) * width];
                if let Some(&later) = list.get(k + AHEAD) {
                    prefetch_values(row(later));
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

    fn numbered(n_rows: u32) -> RowData {
        let numbers: Vec<f64> = (0..2 * n_rows).map(f64::from).collect();
        let indices: Vec<u32> = (0..n_rows).collect();
        let values = Values::Numbers {
            width: 2,
            values: numbers.into(),
        };
        let columns = vec![values, Values::Indices(indices.into())];
        RowData::new(n_rows as usize, columns)
    }

    #[test]
    fn shuffled_rows_are_the_same_rows_in_another_order() {
        let data = numbered(100_000);
        let shuffled = data
            .shuffled_source()
            .expect("it is neither small nor huge");
        let (numbers, indices) = (shuffled.whole_column(0), shuffled.whole_indices(1));
        let (numbers, indices) = (numbers.expect("numbers"), indices.expect("indices"));
        for (pair, &row) in numbers.chunks(2).zip(&*indices) {
            assert_eq!(pair, [f64::from(2 * row), f64::from(2 * row + 1)]);
        }
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..100_000));
        // The mean of the first half of a random order has a standard deviation of 91.
        let half: f64 = indices[..50_000].iter().map(|&row| f64::from(row)).sum();
        assert!((half / 50_000.0 - 49_999.5).abs() < 450.0, "{half}");
        // The number of rows that stay in their place is Poisson(1).
        let fixed = indices.iter().zip(0..).filter(|&(&row, at)| row == at);
        assert!(fixed.count() < 8);
        assert!(numbered(1000).shuffled_source().is_none());
    }
}
