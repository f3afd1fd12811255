//! The predictive accuracy of a model on new rows, from one fit: PSIS-LOO, and K folds.

mod comparison;
mod folds;
mod measure;

pub use comparison::{
    ComparedModel, ModelComparison, columns_of, compare_models, optional_columns_of,
};
pub use folds::Folds;
pub use measure::{Loo, LooMeasure, LooRow, LooSummary};
