//! Regressions of tables that are divided among other processes: the tasks for these processes,
//! their answers, and the results computed from them.
//!
//! Scheduling, placement, retries and transport are not part of this module: an implementation of
//! [`Workers`] carries bytes. The answer of a partition depends only on its rows and the task, and
//! answers are merged in the order of the partitions, so that it does not matter which process
//! computed them.

mod leaving;
mod partition;
mod regression;
mod scoring;
mod store;
mod table;
mod task;

pub use leaving::{left_out, to_leave_out};
pub use partition::{Partition, RowStorage};
pub use regression::{ClusterDraft, ClusterRegression};
pub use scoring::evaluation;

pub use crate::part::PartRows;

/// The processes that have the rows, one partition each.
pub trait Workers: Send + Sync {
    /// The number of partitions.
    fn partitions(&self) -> usize;

    /// Sets the model of all later tasks, which [`Partition::answer`] is called with.
    ///
    /// # Errors
    /// If the workers cannot be reached, with a message for the user.
    fn bind(&self, model: &[u8]) -> Result<(), String>;

    /// The results of [`Partition::answer`] for every partition in order.
    ///
    /// # Errors
    /// If a partition cannot answer, with a message for the user.
    fn answer(&self, tasks: Tasks<'_>) -> Result<Vec<Vec<u8>>, String>;
}

/// The tasks for all partitions.
#[derive(Clone, Copy, Debug)]
pub enum Tasks<'a> {
    /// The same task for all.
    Same(&'a [u8]),
    /// One task for each, in order.
    Each(&'a [Vec<u8>]),
}

impl<'a> Tasks<'a> {
    /// The task for a partition.
    pub fn of(self, partition: usize) -> &'a [u8] {
        match self {
            Tasks::Same(task) => task,
            Tasks::Each(tasks) => &tasks[partition],
        }
    }
}
