//! Gaussian processes as parts of models.
//!
//! A [`GpBasis`] makes a function of one or two columns a sum of fixed functions with random weights,
//! so that its scale and lengthscales are latents like any other. An [`InducedGp`] represents a
//! function of any number of columns by its values at inducing points, which are learned with its
//! scale and lengthscales.

mod basis;
mod covariance;
mod inducing;
mod kernel;

pub use basis::{BasisAxis, GpBasis};
pub use covariance::{CovarianceFunction, Matern32, Matern52, Rbf};
pub use inducing::{InducedGp, Projection, RowMarginal};
pub use kernel::Kernel;
