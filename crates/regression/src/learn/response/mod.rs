//! The response of a table: as numbers of its family, within bounds, and where it lies.

pub(crate) mod anchor;
pub(crate) mod guess;
pub(crate) mod limited;
pub(crate) mod outcome;
