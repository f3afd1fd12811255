//! The storage of all rows of a model.

pub mod memory;
#[cfg(feature = "files")]
pub mod shuffled;
