//! Predictions and scores of the rows of one part, batch after batch.

use std::path::Path;

use lehr_table::Sink;

use super::task::{decoded, encoded};
use crate::error::Error;
use crate::part::PartRows;
use crate::predict::Forecaster;
use crate::score::{Evaluation, Evaluator, Scores};

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
