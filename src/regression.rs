//! Regressions: formulas, families, priors, the scales learned from a table, and the uses of a fit.

pub use lehr_learn::{
    Accumulator, Blocks, ColumnProfile, ColumnValue, EachBlock, LearnError, LearningResult,
    LevelType, Link, NewLevels, ValueProfile,
};
pub use lehr_regression::*;
pub use lehr_workflow::*;
