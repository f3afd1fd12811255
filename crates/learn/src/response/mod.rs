//! The response of a table: its values, its bounds, and the scale of its predictor.

pub(crate) mod censoring;
pub(crate) mod family_guess;
pub(crate) mod predictor_scale;
pub(crate) mod response_column;
