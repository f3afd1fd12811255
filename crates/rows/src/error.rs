//! The errors of reading rows.

use thiserror::Error;

/// The reasons why a pass over all rows has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RowsError {
    /// Rows cannot be reached. The message says where, what was expected and what was found.
    #[error("{0}")]
    Lost(String),
    /// The observer stopped the pass.
    #[error("stopped")]
    Stopped,
}

impl RowsError {
    /// Unwinds to the fit that requested the pass. Nothing is printed, because no invariant is
    /// broken.
    pub fn unwind(self) -> ! {
        std::panic::resume_unwind(Box::new(self))
    }

    /// Does some work, and returns the error if rows could not be reached.
    ///
    /// # Errors
    /// If rows could not be reached. Other panics are passed on.
    pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, RowsError> {
        // Partial changes are dropped together with the work.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.map_err(|payload| match payload.downcast::<RowsError>() {
            Ok(lost) => *lost,
            Err(other) => std::panic::resume_unwind(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_lost_end_the_work_in_words() {
        let lost = RowsError::Lost("part-3.parquet: cannot open".into());
        let found = RowsError::caught(|| -> u8 { lost.clone().unwind() });
        assert_eq!(found, Err(lost));
        assert_eq!(RowsError::caught(|| 7), Ok(7));
    }
}
