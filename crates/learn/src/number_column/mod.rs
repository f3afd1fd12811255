//! Columns of numbers: their moments, collinearity and scaling.

pub(crate) mod collinear;
pub(crate) mod column_learner;
pub(crate) mod scaled_matrix;
pub(crate) mod sentinel;
