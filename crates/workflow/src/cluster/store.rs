//! The store of all rows that are with workers.

use std::sync::Arc;

use lehr_rows::{AnyControl, AnyJob, AnyPartial, RowStore, RowsError, merge_next};

use super::task::{Folded, PartitionTask, decoded, encoded};
use super::{Tasks, Workers};

/// The rows of all partitions.
pub(super) struct WorkersStore(pub(super) Arc<dyn Workers>);

impl RowStore for WorkersStore {
    fn fold(&self, job: &dyn AnyJob, _: &mut AnyControl<'_>) -> Result<AnyPartial, RowsError> {
        let task = encoded(&PartitionTask::Fold(job.name().into(), job.message()));
        let answers = self.0.answer(Tasks::Same(&task)).map_err(RowsError::Lost)?;
        let mut all = None;
        for bytes in answers {
            let answer: Result<Folded, _> = decoded(&bytes);
            let answer = answer.map_err(|error| RowsError::Lost(error.to_string()))?;
            // Partitions without rows have no result.
            if let Some(partial) = answer {
                merge_next(job, &mut all, job.decode(&partial)?);
            }
        }
        Ok(all.unwrap_or_else(|| job.empty()))
    }
}
