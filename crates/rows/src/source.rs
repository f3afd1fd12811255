//! The source of the rows' numbers.

use std::ops::Range;
use std::sync::Arc;

use crate::RowsError;

/// A selection of rows.
#[derive(Clone, Debug)]
pub enum RowSet<'a> {
    /// These rows in this order, repetitions allowed.
    List(&'a [usize]),
    /// Consecutive rows.
    Range(Range<usize>),
}

impl RowSet<'_> {
    /// How many rows are selected.
    pub fn len(&self) -> usize {
        match self {
            RowSet::List(rows) => rows.len(),
            RowSet::Range(range) => range.len(),
        }
    }

    /// True if no row is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The data of a density's columns, by their place in [`crate::Columns`].
///
/// Reading copies into the caller's buffer and allocates nothing. Rows out of range, a buffer of
/// the wrong length or a column of the other kind break an invariant and panic. Rows that cannot be
/// read are NaN, and [`RowSource::failure`] has the reason.
pub trait RowSource: Send + Sync {
    /// How many rows there are.
    fn n_rows(&self) -> usize;

    /// Copies rows of a numeric column, row after row.
    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]);

    /// Copies rows of an index column.
    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]);

    /// The reason why some rows could not be read so far, if there were any.
    fn failure(&self) -> Option<RowsError> {
        None
    }

    /// The same rows in random order, if the source can provide it. Consecutive rows are then a
    /// random sample that is read at the speed of memory or disk instead of row by row.
    fn shuffled_source(&self) -> Option<&dyn RowSource> {
        None
    }

    /// All rows of a numeric column, if they are in memory.
    fn whole_column(&self, column: usize) -> Option<Arc<[f64]>>;

    /// All rows of an index column, if they are in memory.
    fn whole_indices(&self, column: usize) -> Option<Arc<[u32]>>;
}
