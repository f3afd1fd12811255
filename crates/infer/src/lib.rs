//! Inference: random streams, batches, optimisers, stop rules and diagnostics.

pub mod adam;
pub mod batch;
pub mod coreset;
pub mod kmeans;
pub mod lbfgs;
pub mod nnls;
pub mod pareto;
pub mod schedule;
pub mod stationary;
pub mod stream;
pub mod summary;

pub mod annealed;
pub mod block;
pub mod context;
pub mod control;
pub mod guide;
pub mod objective;
pub mod program;
pub mod surrogate;
