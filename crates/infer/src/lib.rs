//! Inference: guides, chains, surrogates, the bound, training, and what a posterior is worth.

pub mod adam;
pub mod annealed;
pub mod average;
pub mod batch;
pub mod block;
pub mod context;
pub mod control;
pub mod coreset;
pub mod file;
pub mod frame;
pub mod guide;
pub mod kmeans;
pub mod lbfgs;
pub mod linear;
pub mod mode;
pub mod nnls;
pub mod objective;
pub mod observer;
pub mod pareto;
mod pass;
pub mod program;
pub mod schedule;
pub mod stationary;
pub mod stream;
pub mod summary;
pub mod surrogate;
pub mod train;
