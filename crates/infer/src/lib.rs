//! Inference: random streams, batches, optimisers, stop rules and diagnostics.

pub mod adam;
pub mod batch;
pub mod lbfgs;
pub mod schedule;
pub mod stationary;
pub mod stream;

pub mod annealed;
pub mod block;
pub mod context;
pub mod control;
pub mod guide;
pub mod objective;
pub mod program;
pub mod surrogate;
