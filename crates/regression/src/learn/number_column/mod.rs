//! Columns of numbers: what is learnt of one, which of them others determine, and how the model has them.

pub(crate) mod collinear;
pub(crate) mod column_learner;
pub(crate) mod scaled_matrix;
pub(crate) mod sentinel;
