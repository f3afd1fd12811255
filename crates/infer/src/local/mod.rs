//! Local latents: integrated out if a row has one or two, bounded by chains if it has more, and
//! drawn on request.

mod accuracy;
mod draws;
mod integrated;
mod loss;
mod row_chain;
mod semi;

pub use accuracy::Integration;
pub use draws::{LocalDrawError, LocalDraws};
pub use integrated::{IntegratedDensity, Marginal};
pub use loss::{TrainedGuide, row_losses};
pub use row_chain::{RowBase, RowChains};
pub use semi::{Semi, alike, peaks};
