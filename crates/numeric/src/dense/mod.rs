//! Dense matrices: Cholesky factors and what follows from them. [`small`] works on slices of a few rows, [`blocked`] on
//! slices of many, and the functions here on matrices of any side, by faer.

pub mod blocked;
mod factor;
pub mod small;

pub use factor::{
    CholeskyFactor, checked_inverse, cholesky, inverse, inverse_factor, log_determinant,
    quadratic_form, trace,
};
