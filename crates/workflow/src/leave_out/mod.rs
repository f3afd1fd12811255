//! The predictive accuracy of a model on new rows, from one fit: PSIS-LOO, and K folds.

mod comparison;
mod folds;
mod measure;
mod passes;
mod sampling;

pub use comparison::{
    ComparedModel, ModelComparison, columns_of, compare_models, optional_columns_of,
};
pub use folds::Folds;
pub use measure::{Loo, LooMeasure, LooRow, LooSummary};
pub use passes::{TablePass, leave_rows_out};
pub(crate) use passes::{VisitBlock, leave_chosen_out, sum_cheap_values};
pub use sampling::LooSampling;
