//! Linear regression with known noise, where posterior, evidence and annealed chains are exact. The
//! setting of the section "Convergence analysis" (Jankowiak & Phan 2022): a Gaussian prior,
//! Gaussian noise, and chains that start from the prior with γ = 0. Every state is then Gaussian,
//! and its mean and covariance follow from the affine steps.

mod gaussian;
mod regression;
mod walk;

pub(crate) use gaussian::Gaussian;
pub(crate) use regression::{Information, Regression};
pub(crate) use walk::Walk;
