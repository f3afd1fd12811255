//! The predictive accuracy of a fit.

mod calibration;
mod evaluator;
mod pointwise;

pub use calibration::Calibration;
pub use evaluator::{Evaluation, Evaluator, Scores};
pub(crate) use pointwise::observed;
