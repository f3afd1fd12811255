//! Inference: guides, chains, surrogates, the bound, training, and what a posterior is worth.

pub mod annealed;
pub mod chains;
pub mod collapse;
pub mod condensed;
pub mod conjugate;
pub mod evaluate;
pub mod file;
pub mod fit;
pub mod fixed;
pub mod full_data;
pub mod guide;
pub mod judge;
pub mod leave_out;
mod likelihood;
pub mod local;
pub mod method;
pub mod natural;
pub mod observer;
mod pass;
pub mod pointwise;
pub mod posterior;
pub mod proper;
pub mod run;
pub mod sandwich;
pub mod start;
pub mod surrogate;
pub mod train;
