//! Work with regressions: fits, predictions, scores, checks and reports.

pub(crate) mod arviz;
pub(crate) mod bound;
pub(crate) mod check;
pub(crate) mod data_check;
pub(crate) mod effects;
pub(crate) mod error;
#[cfg(feature = "files")]
pub(crate) mod file_table;
pub(crate) mod fit;
pub(crate) mod fitted_model;
mod function;
pub(crate) mod leave_out;
pub(crate) mod predict;
mod prior_only;
pub(crate) mod report;
pub(crate) mod saved_fit;
pub(crate) mod score;
