//! Where all rows of a model are.

#[cfg(feature = "files")]
pub mod shuffled;
