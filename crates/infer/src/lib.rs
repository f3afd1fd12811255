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
<<<<<<< HEAD

pub mod annealed;
pub mod average;
pub mod block;
pub mod context;
pub mod control;
pub mod file;
pub mod frame;
pub mod guide;
pub mod linear;
pub mod mode;
mod pass;
pub mod objective;
pub mod observer;
pub mod program;
pub mod surrogate;
pub mod train;
=======
pub mod summary;
>>>>>>> numerics
