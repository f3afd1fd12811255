//! Inference: guides, chains, surrogates, the bound, training, and diagnostics of a posterior.

pub mod annealed;
pub mod bidirectional;
mod bytes;
pub mod chains;
pub mod condensed;
pub mod difference_estimator;
pub mod draw;
pub mod error;
pub mod estimate;
pub mod expansion;
pub mod file;
pub mod fit;
pub mod fixed;
pub mod guide;
pub mod job;
pub mod judge;
mod learned;
pub mod leave_one_out;
mod likelihood;
pub mod local;
pub mod method;
pub mod objective;
pub mod pointwise;
pub mod posterior;
pub mod program;
pub mod proper;
pub mod run;
mod setting;
pub mod start;
pub mod surrogate;
pub mod train;

/// Watching a fit.
pub use lehr_rows::watch as observer;
