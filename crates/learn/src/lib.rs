//! The facts about a table that formulas need before a model is built: levels, constants, scales,
//! the response.

mod accumulator;
mod ahead;
pub mod column_name;
mod column_use;
mod error;
mod fixed_effects;
mod grouping_factor;
mod learning;
mod message;
mod number_column;
mod option;
mod profile;
mod recognition;
mod response;
mod response_rule;
mod smooth_term;
mod source;
mod table_source;

pub use accumulator::Accumulator;
pub use ahead::Outline;
pub use column_use::{distinct_names, evaluate_offset, population_columns, predictor_columns};
pub use error::{LearnError, list_names};
pub use fixed_effects::{FixedEffects, ScaledColumn};
pub use grouping_factor::GroupingFactor;
pub use learning::{LearningRequest, TableFacts};
pub use message::AccumulatorMessage;
pub use option::NewLevels;
pub use profile::{
    ColumnProfile, ColumnValue, LevelType, ValueProfile, order_levels, reference_row,
};
pub use response::family_guess::FamilyOrigin;
pub use response::predictor_scale::PredictorScale;
pub use response::response_column::ResponseColumn;
pub use response_rule::{Link, ResponseForm, ResponseRule};
pub use smooth_term::covariate::{Covariate, covariate_names};
pub use smooth_term::monotonic::Monotonic;
pub use smooth_term::smooth::{Dependence, Smooth};
pub use smooth_term::spline::Spline;
pub use source::Source;
pub use table_source::{Blocks, EachBlock, LearningResult};
