//! Gaussian processes as values that models are written with.
//!
//! A [`Basis`] makes a function of one or two columns a sum of fixed functions with random
//! weights, so that its scale and lengthscales are latents like any other.

mod basis;
mod kernel;

pub use basis::{Axis, Basis};
pub use kernel::Kernel;
