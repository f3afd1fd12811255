//! The tasks and answers of partitions, as bytes.

use lehr_density::Values;
use lehr_learn::{AccumulatorMessage, LearnError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use lehr_rows::encoded;

/// A task for a partition.
#[derive(Serialize, Deserialize)]
pub(super) enum PartitionTask {
    /// Learn from the rows.
    Learn(AccumulatorMessage),
    /// Count the rows.
    Count,
    /// Send some rows by their numbers, in the form that the model reads.
    Sample(Vec<u64>),
    /// Run a job on the rows: its name and its message.
    Fold(String, Vec<u8>),
}

/// An accumulator after learning, and the number of rows it has read.
#[derive(Serialize, Deserialize)]
pub(super) struct AccumulatorAnswer {
    pub(super) accumulator: AccumulatorMessage,
    pub(super) rows: u64,
}

/// The rows of a partition.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct RowCount {
    pub(super) rows: u64,
    /// Rows that were dropped for a missing value.
    pub(super) dropped: u64,
}

/// Rows in the form that the model reads, column after column.
pub(super) type Sample = Vec<Values>;

/// The result of a job; `None` for a partition without rows.
pub(super) type Folded = Option<Vec<u8>>;

/// The chosen rows of a table, in increasing order, by their places in each part of so many rows.
pub(super) fn places_in_parts(chosen: &[u64], counts: impl Iterator<Item = u64>) -> Vec<Vec<u64>> {
    let (mut first, mut rest) = (0, chosen);
    let own = |count: u64| {
        let (own, others) = rest.split_at(rest.partition_point(|row| *row < first + count));
        let places = own.iter().map(|row| row - first).collect();
        (first, rest) = (first + count, others);
        places
    };
    counts.map(own).collect()
}

/// Reads a message from bytes.
pub(crate) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, LearnError> {
    lehr_rows::decoded(bytes).map_err(|error| LearnError::Read(error.to_string()))
}
