//! Arrays as expressions, their derivatives, and a plan that runs them fast.

pub mod kernel;
