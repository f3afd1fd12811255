//! Inference: guides, chains, surrogates, the bound, training, and what a posterior is worth.

pub mod annealed;
pub mod chains;
pub mod conjugate;
pub mod evaluate;
pub mod file;
pub mod fit;
pub mod full_data;
pub mod guide;
pub mod judge;
pub mod method;
pub mod observer;
mod pass;
pub mod pointwise;
pub mod posterior;
mod quantity;
pub mod run;
pub mod start;
pub mod surrogate;
pub mod train;
