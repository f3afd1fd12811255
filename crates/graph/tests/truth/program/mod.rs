//! Random programs over every operation, and their derivatives.

mod agreement;
mod generate;
mod gradient;
mod step;

pub(crate) use generate::{Kinks, Program, Settings};
