//! Work with regressions: fits, predictions, scores, effects, leave-one-out, checks and reports.

mod arviz;
mod bound;
mod check;
#[cfg(feature = "files")]
pub mod cluster;
mod data_check;
mod effects;
mod error;
#[cfg(feature = "files")]
mod file_table;
mod fit;
mod fitted_model;
mod function;
mod leave_out;
#[cfg(feature = "files")]
mod open;
mod predict;
mod prior_only;
mod report;
mod saved_fit;
mod score;
#[cfg(feature = "files")]
mod streamed;

pub use arviz::{ArvizExport, DrawForm, RowGroup};
pub use bound::BoundRegression;
pub use check::{
    Against, Difference, PriorPredictive, PriorQuantiles, PriorSensitivity, PriorStatistic,
    PriorSummary, Ranks, Shift, Simulation, Testimony, best_of,
};
pub use data_check::DataCheck;
pub use effects::{Effect, EffectAverager, EffectKind, EffectQuestion, EffectScale, Effects};
pub use error::Error;
pub use error::LooError;
#[cfg(feature = "files")]
pub use file_table::{FileTable, ReadObserver};
pub use fit::{Regress, regress};
pub use fitted_model::{FittedModel, Measure, Subject};
pub use leave_out::{
    ComparedModel, Folds, Loo, LooMeasure, LooRow, LooSampling, LooSummary, ModelComparison,
    TablePass, columns_of, compare_models, leave_rows_out, optional_columns_of,
};
#[cfg(feature = "files")]
pub use open::{Opening, TableInput, open};
pub use predict::{Forecaster, PredictionDetails, Predictions};
pub use report::PosteriorReport;
pub use saved_fit::{PRIOR_ONLY, SavedFit};
pub use score::{Calibration, Evaluation, Evaluator, Scores};
#[cfg(feature = "files")]
pub use streamed::Streaming;
