//! The rows of one part of a table in files.

use lehr_table::{Part, ReadOptions, Table, TableError, TableFiles};

use crate::error::Error;

/// The rows of one part, which are read again each time.
#[derive(Clone)]
pub struct PartRows {
    /// The part of the table.
    pub part: Part,
    /// The options for reading it.
    pub options: ReadOptions,
}

impl PartRows {
    /// The first rows, if there are any.
    pub(crate) fn first(&self, columns: &[&str]) -> Result<Option<Table>, Error> {
        let found = self.scan(columns, &mut |batch, _| {
            Err(SearchEnd::Found(batch.clone()))
        });
        match found {
            Ok(_) => Ok(None),
            Err(SearchEnd::Found(rows)) => Ok(Some(rows)),
            Err(SearchEnd::Failed(error)) => Err(error.into()),
        }
    }

    /// Passes on all rows with their number in the whole table; returns the number of dropped rows.
    pub(crate) fn each(
        &self,
        columns: &[&str],
        visit: &mut dyn FnMut(&Table, u64) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        self.scan(columns, visit)
    }

    fn scan<E: From<TableError>>(
        &self,
        columns: &[&str],
        visit: &mut dyn FnMut(&Table, u64) -> Result<(), E>,
    ) -> Result<usize, E> {
        let files = TableFiles::of_part(&self.part)?;
        let options = ReadOptions {
            columns: Some(columns.iter().map(ToString::to_string).collect()),
            ..self.options.clone()
        };
        let mut first = self.part.first;
        let scanned = files.scan_blocks(&options, &mut |batch, _| {
            if batch.n_rows() == 0 {
                return Ok(());
            }
            let seen = visit(&batch, first);
            first += batch.n_rows() as u64;
            seen
        })?;
        Ok(scanned.dropped_rows)
    }
}

/// The reason why a search for the first rows ends.
enum SearchEnd {
    Found(Table),
    Failed(TableError),
}

impl From<TableError> for SearchEnd {
    fn from(error: TableError) -> SearchEnd {
        SearchEnd::Failed(error)
    }
}
