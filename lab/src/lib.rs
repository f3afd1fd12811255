//! Benchmarks and studies of lehr: the paper's tables, the model of the speed tables, the study of
//! verdicts, and the bits of many small fits.

pub mod golden;
pub mod logistic;
pub mod paper;
pub mod process;
pub mod verdict;
