//! The rows of one part of a table in files.

use lehr_table::{Part, ReadOptions, Table, TableFiles};

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
        let files = TableFiles::of_part(&self.part)?;
        Ok(files.first_block(&self.options_of(columns))?)
    }

    /// Passes on all rows with their number in the whole table; returns the number of dropped rows.
    pub(crate) fn each(
        &self,
        columns: &[&str],
        visit: &mut dyn FnMut(&Table, u64) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let files = TableFiles::of_part(&self.part)?;
        let mut first = self.part.first;
        let scanned = files.scan_blocks(&self.options_of(columns), &mut |batch, _| {
            if batch.n_rows() == 0 {
                return Ok(());
            }
            let seen = visit(&batch, first);
            first += batch.n_rows() as u64;
            seen
        })?;
        Ok(scanned.dropped_rows)
    }

    /// The options for reading these columns.
    fn options_of(&self, columns: &[&str]) -> ReadOptions {
        ReadOptions {
            columns: Some(columns.iter().map(ToString::to_string).collect()),
            ..self.options.clone()
        }
    }
}
