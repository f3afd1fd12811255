//! Loops over numbers: everything that touches memory or instructions directly.

pub mod math;
