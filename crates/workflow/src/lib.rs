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
#[cfg(feature = "files")]
mod part;
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
    ChainComparison, Difference, PriorPredictive, PriorQuantiles, PriorSensitivity, PriorStatistic,
    PriorSummary, Ranks, Shift, Simulation, WitnessReport, best_of,
};
pub use data_check::DataCheck;
pub use effects::{
    EffectAverager, EffectEstimate, EffectEstimates, EffectKind, EffectQuestion, EffectScale,
};
pub use error::Error;
pub use error::LooError;
#[cfg(feature = "files")]
pub use file_table::{FileTable, ReadObserver};
pub use fit::{Regress, regress};
pub use fitted_model::{AnyModel, FittedModel, Measure};
pub use leave_out::{
    ComparedModel, Folds, Loo, LooMeasure, LooRow, LooSampling, LooSummary, ModelComparison,
    TablePass, columns_of, compare_models, leave_rows_out, optional_columns_of,
};
#[cfg(feature = "files")]
pub use open::{OpenRequest, TableInput, open};
pub use predict::{Forecaster, PredictionDetails, Predictions};
pub use report::PosteriorReport;
pub use saved_fit::{PRIOR_ONLY, SavedFit};
pub use score::{Calibration, Evaluation, Evaluator, Scores};
#[cfg(feature = "files")]
pub use streamed::StreamOptions;
