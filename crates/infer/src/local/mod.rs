//! Latents of single rows: integrated out where a row has one or two, and drawn on request.

mod accuracy;
mod draws;
mod integrated;

pub use accuracy::Integration;
pub use draws::{LocalDrawError, LocalDraws};
pub use integrated::{Integrated, Marginal};
