//! The storage of all rows of a model.

#[cfg(feature = "files")]
pub mod shuffled;
