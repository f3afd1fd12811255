//! Learning from a table before any row is bound: levels, constants, scales.

pub(crate) mod accumulator;
pub(crate) mod ahead;
pub(crate) mod column_use;
pub(crate) mod error;
pub(crate) mod fixed_effects;
pub(crate) mod grouping_factor;
pub(crate) mod learning;
#[cfg(feature = "files")]
pub(crate) mod message;
pub(crate) mod number_column;
pub(crate) mod option;
pub(crate) mod profile;
pub(crate) mod recognition;
pub(crate) mod response;
pub(crate) mod response_rule;
pub(crate) mod smooth_term;
pub(crate) mod source;
pub(crate) mod table_source;
