//! Predictions and scores of the rows of one part, batch after batch.

use std::path::Path;

use lehr_table::{Part, ReadOptions, Sink, Table, TableError, TableFiles};

use super::task::{decoded, encoded};
use crate::error::Error;
use crate::predict::Forecaster;
use crate::score::{Evaluation, Evaluator, Scores};

/// The rows of one part, which are read again each time.
pub struct PartRows {
    /// The part of the table.
    pub part: Part,
    /// The options for reading it.
    pub options: ReadOptions,
}

impl PartRows {
    /// Writes predictions of the rows to a file that gets its name when it is complete, and returns
    /// the number of rows. Without rows no file is written.
    ///
    /// # Errors
    /// If the part cannot be read, a row cannot be predicted, or the file cannot be written.
    pub fn predict(&self, forecaster: &Forecaster<'_>, to: &Path) -> Result<u64, Error> {
        let (mut sink, mut rows): (Option<Sink>, _) = (None, 0);
        let columns = forecaster.saved.subject.predictor_columns();
        self.each(&columns, &mut |batch, first| {
            let predicted = forecaster.predict(batch, first)?.table()?;
            rows += predicted.n_rows() as u64;
            let open = match &mut sink {
                Some(open) => open,
                None => sink.insert(Sink::create_file(to, &predicted)?),
            };
            Ok(open.push_table(&predicted)?)
        })?;
        sink.map_or(Ok(()), Sink::close_file)?;
        Ok(rows)
    }

    /// Scores of the rows, as bytes for [`evaluation`].
    ///
    /// # Errors
    /// If the part cannot be read, or its rows lack the response.
    pub fn score(&self, forecaster: &Forecaster<'_>) -> Result<Vec<u8>, Error> {
        let columns = forecaster.saved.subject.columns();
        let mut evaluator = Evaluator::new(forecaster);
        let dropped = self.each(&columns, &mut |batch, first| evaluator.push(batch, first))?;
        Ok(encoded(&(evaluator.scores(), dropped as u64)))
    }

    /// The first rows, if there are any.
    pub(crate) fn first(&self, columns: &[&str]) -> Result<Option<Table>, Error> {
        let found = self.scan(columns, &mut |batch, _| Err(End::Found(batch.clone())));
        match found {
            Ok(_) => Ok(None),
            Err(End::Found(rows)) => Ok(Some(rows)),
            Err(End::Failed(error)) => Err(error.into()),
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
enum End {
    Found(Table),
    Failed(TableError),
}

impl From<TableError> for End {
    fn from(error: TableError) -> End {
        End::Failed(error)
    }
}

/// The evaluation of all parts, from the scores of each in order.
///
/// # Errors
/// If there are no rows, or the bytes are not those of [`PartRows::score`].
pub fn evaluation(forecaster: &Forecaster<'_>, parts: &[Vec<u8>]) -> Result<Evaluation, Error> {
    let (mut evaluator, mut all_dropped) = (Evaluator::new(forecaster), 0);
    for bytes in parts {
        let (scores, dropped): (Scores, u64) = decoded(bytes)?;
        evaluator.take(&scores);
        all_dropped += dropped as usize;
    }
    evaluator.finish(all_dropped)
}
