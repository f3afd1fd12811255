//! Distributions and the model language.

pub mod distribution;
