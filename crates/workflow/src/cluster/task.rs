//! What partitions are asked and answer, as bytes.

use lehr_density::Values;
use lehr_learn::{AccumulatorMessage, LearnError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a partition is asked.
#[derive(Serialize, Deserialize)]
pub(super) enum Task {
    /// To learn from its rows.
    Learn(AccumulatorMessage),
    /// How many rows it has.
    Count,
    /// Some of its rows by their numbers, as the model reads them.
    Sample(Vec<u64>),
    /// What a job comes to on its rows: its name and its message.
    Fold(String, Vec<u8>),
}

/// A lesson that was learned, and from how many rows.
#[derive(Serialize, Deserialize)]
pub(super) struct Learnt {
    pub(super) lesson: AccumulatorMessage,
    pub(super) rows: u64,
}

/// The rows of a partition.
#[derive(Serialize, Deserialize)]
pub(super) struct Count {
    pub(super) rows: u64,
    /// Those left out for a missing value.
    pub(super) dropped: u64,
}

/// Rows as the model reads them, column after column.
pub(super) type Sample = Vec<Values>;

/// The result of a job; none of a partition without rows.
pub(super) type Folded = Option<Vec<u8>>;

pub(crate) fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("memory is large enough, and everything has a length")
}

pub(crate) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, LearnError> {
    postcard::from_bytes(bytes).map_err(|error| {
        LearnError::Read(format!(
            "cluster: expected a message of lehr {}, found other bytes ({error})\n  hint: install the \
             same version on every node",
            env!("CARGO_PKG_VERSION")
        ))
    })
}
