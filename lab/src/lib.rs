//! What lehr is measured by: the paper's tables run again, and the model of the speed tables.

pub mod logistic;
pub mod paper;
