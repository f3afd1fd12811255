//! Inference: random streams, batches, optimisers, stop rules and diagnostics.

pub mod adam;
pub mod batch;
pub mod lbfgs;
pub mod schedule;
pub mod stationary;
pub mod stream;
