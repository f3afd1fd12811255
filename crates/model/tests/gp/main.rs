//! Gaussian processes against dense algebra.

mod basis;
mod dense;
mod exact;
mod inducing;
mod row_integral;
