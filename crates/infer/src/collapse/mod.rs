//! Regressions with effects by group: the effects are integrated out given a few hyperparameters,
//! and the hyperparameters are a problem of a few dimensions.
//!
//! ```text
//! log p(D, θ) = log ∫ p(D | u, θ) p(u | θ) du + ln p(θ)
//! ```
//!
//! u, the effects, is Gaussian given θ, and reaches each row through one affine predictor
//! ([`lehr_density::SplitRows`]).

mod assembled;
mod axes;
mod best;
mod collapsed;
mod covariance;
mod cross;
mod curve;
mod design;
mod distinct;
mod exact;
mod factor;
mod fit;
mod gap;
mod given;
mod group_moments;
mod harvest;
mod hyper;
mod inverted;
mod krylov;
mod likelihood;
mod loose;
mod mixed;
mod near;
mod normal;
mod parts;
mod pieces;
mod place;
mod points;
mod reader;
mod row_reader;
mod sample;
mod scheme;
mod search;
mod sight;
mod slope;
pub(crate) mod small;
mod sparse;
pub(crate) mod tally;
mod turn;
mod wide;

pub use fit::{Spreads, refusal};
pub(crate) use fit::{Wishes, applies, fit, restore};
pub use group_moments::Spared;

#[cfg(test)]
mod tests;
