//! Gaussian processes: what their parts promise, against dense algebra.

mod basis;
mod dense;
