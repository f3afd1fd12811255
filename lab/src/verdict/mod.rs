//! The study of verdicts: many posteriors and seeds, and each fit compared with the truth.

mod generated;
mod large;
mod problem;
mod study;
mod truth;

pub use generated::generated;
pub use large::large_problems;
pub use problem::{Problem, Truth, problems};
pub use study::{Fitted, Row, fit};
pub use truth::{Fact, facts, mark};
