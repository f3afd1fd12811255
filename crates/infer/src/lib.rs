//! Inference: guides, chains, surrogates, the bound, training, and what a posterior is worth.

pub mod annealed;
pub mod average;
pub mod block;
pub mod conjugate;
pub mod context;
pub mod control;
pub mod coreset;
pub mod evaluate;
pub mod file;
pub mod fit;
pub mod frame;
pub mod guide;
pub mod method;
pub mod objective;
pub mod observer;
mod pass;
pub mod pointwise;
pub mod posterior;
pub mod program;
pub mod schedule;
pub mod start;
pub mod stationary;
pub mod surrogate;
pub mod train;
