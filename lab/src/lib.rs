//! What lehr is measured by: the paper's tables run again, the model of the speed tables, the study of verdicts, and
//! the bits of many small fits.

pub mod golden;
pub mod logistic;
pub mod paper;
pub mod process;
pub mod verdict;
