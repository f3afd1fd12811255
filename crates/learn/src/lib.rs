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
pub use column_use::{evaluate_offset, population_columns, predictor_columns};
pub use error::{LearnError, list_names};
pub use fixed_effects::{Population, ScaledColumn};
pub use grouping_factor::Grouping;
pub use learning::{Request, TableFacts};
pub use message::AccumulatorMessage;
pub use option::NewLevels;
pub use profile::{ColumnProfile, Held, Value, ValueProfile, order_levels, reference_row};
pub use response::anchor::Anchor;
pub use response::guess::FamilyOrigin;
pub use response::outcome::Outcome;
pub use response_rule::{Form, Link, ResponseRule};
pub use smooth_term::covariate::{Covariate, covariate_names};
pub use smooth_term::monotonic::Monotonic;
pub use smooth_term::smooth::{Dependence, Smooth};
pub use smooth_term::spline::Spline;
pub use source::Source;
pub use table_source::{Blocks, EachBlock, Taught};
