//! Sums over all rows by asking those who have them.

use std::sync::Arc;

use lehr_density::{FullData, Query, RowsLost};

use super::task::{Arrays, Task, decoded, encoded};
use super::{Tasks, Workers};

/// The rows of all partitions.
pub(super) struct WorkerRows(pub(super) Arc<dyn Workers>);

impl FullData for WorkerRows {
    fn each(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<Vec<f64>>> {
        let arguments = arguments.iter().map(|one| one.to_vec()).collect();
        let task = encoded(&Task::Sum(query, arguments));
        let answers = self.0.answer(Tasks::Same(&task));
        let answers = answers.unwrap_or_else(|words| RowsLost(words).unwind());
        let arrays = answers.iter().map(|bytes| {
            let arrays: Result<Arrays, _> = decoded(bytes);
            arrays.unwrap_or_else(|error| RowsLost(error.to_string()).unwind())
        });
        // Partitions without rows say nothing.
        arrays.filter(|arrays| !arrays.is_empty()).collect()
    }
}
