//! Multilevel regressions: the random effects are integrated out given a few hyperparameters, which
//! leaves a problem of a few dimensions.
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
mod drawing;
mod effect_draws;
mod exact;
mod factor;
mod fit;
mod gap;
mod given;
mod group_moments;
mod harvest;
mod inverted;
mod likelihood;
mod loose;
mod marginal_point;
mod mixed;
mod near;
mod normal;
mod option;
mod parts;
mod pieces;
mod points;
mod reader;
mod row_reader;
mod sample;
mod scheme;
mod search;
mod sight;
mod slope;
pub(crate) mod sparse;
pub(crate) mod tally;
mod tolerance;
mod turn;
mod wide;
mod workspace;

pub(crate) use axes::Axes;
pub(crate) use collapsed::Collapsed;
pub use fit::refusal;
pub(crate) use fit::{
    applies, describe_draws, describe_structure, evidence, first, spare_draws, stacked,
};
pub(crate) use gap::Care;
pub use group_moments::Spared;
pub(crate) use harvest::{Harvest, Order, kept_layout, spared};
pub(crate) use near::Near;
pub use option::Spreads;
pub(crate) use option::{NAME, Wishes, refused};
pub(crate) use parts::MOST_AXES;
pub(crate) use points::{is_missed, is_settled, making, points};
pub(crate) use sample::{Drawn, Making, Points, Proposed, Weighing};
pub(crate) use search::{Mode, climb};
pub(crate) use workspace::Bench;

#[cfg(test)]
mod tests;
