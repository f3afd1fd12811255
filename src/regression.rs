//! Regressions: what is learned of a table, families, priors and formulas, and what is done with a fit.

pub use lehr_learn::{
    Accumulator, Blocks, ColumnProfile, EachBlock, Held, LearnError, Link, NewLevels, Taught,
    Value, ValueProfile,
};
pub use lehr_regression::*;
pub use lehr_workflow::*;
