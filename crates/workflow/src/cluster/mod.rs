//! Regressions of tables that are divided among other processes: what those are asked, what they answer,
//! and what is made of it here.
//!
//! Nothing of scheduling, placement, retry or transport is here: whoever implements [`Workers`] carries
//! bytes. The answer of a partition depends on its rows and on the question alone, and answers are put
//! together in the order of the partitions, so that it does not matter who gave them.

mod leaving;
mod partition;
mod regression;
mod rows;
mod scoring;
mod table;
mod task;

pub use leaving::{left_out, to_leave_out};
pub use partition::{Keeping, Partition};
pub use regression::{ClusterRegression, Draft};
pub use scoring::{PartRows, evaluation};

pub(crate) use table::check;

/// Those who have the rows, one partition each.
pub trait Workers: Send + Sync {
    /// How many partitions there are.
    fn partitions(&self) -> usize;

    /// From now on tasks are about this model: [`Partition::answer`] is to be given it.
    ///
    /// # Errors
    /// If that cannot be told, in words for the user.
    fn bind(&self, model: &[u8]) -> Result<(), String>;

    /// What [`Partition::answer`] says of every partition in order.
    ///
    /// # Errors
    /// If a partition cannot answer, in words for the user.
    fn answer(&self, tasks: Tasks<'_>) -> Result<Vec<Vec<u8>>, String>;
}

/// What partitions are asked.
#[derive(Clone, Copy, Debug)]
pub enum Tasks<'a> {
    /// All the same.
    Same(&'a [u8]),
    /// Each something of its own, in order.
    Each(&'a [Vec<u8>]),
}

impl<'a> Tasks<'a> {
    /// What a partition is asked.
    pub fn of(self, partition: usize) -> &'a [u8] {
        match self {
            Tasks::Same(task) => task,
            Tasks::Each(tasks) => &tasks[partition],
        }
    }
}
