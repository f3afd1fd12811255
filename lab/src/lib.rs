//! What lehr is measured by: the paper's tables run again, and the model of the speed tables, and
//! the study of verdicts.

pub mod logistic;
pub mod paper;
pub mod process;
pub mod verdict;
