//! The response of a table: its values, its bounds, and the scale of its predictor.

pub(crate) mod anchor;
pub(crate) mod guess;
pub(crate) mod limited;
pub(crate) mod outcome;
