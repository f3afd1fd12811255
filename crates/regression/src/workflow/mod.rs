//! What is done with a regression: fits, predictions, checks, reports.

pub(crate) mod error;
