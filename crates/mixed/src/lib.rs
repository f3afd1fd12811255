//! Mixed models: the random effects are integrated out given a few hyperparameters, which leaves a
//! problem of a few dimensions.
//!
//! ```text
//! log p(D, θ) = log ∫ p(D | u, θ) p(u | θ) du + ln p(θ)
//! ```
//!
//! u, the effects, is Gaussian given θ, and reaches each row through one affine predictor
//! ([`lehr_density::SplitRows`]). [`MarginalDensity`] is log p(D, θ), [`MixedSearch`] finds points
//! of θ with their weights, and [`MixedFit`] holds the draws of everything.

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
mod mixed_search;
mod near;
mod normal;
mod option;
mod parts;
mod pieces;
mod points;
mod reader;
mod remark;
mod row_reader;
mod sample;
mod scheme;
mod search;
mod sight;
mod slope;
mod sparse;
mod tally;
mod tolerance;
mod turn;
mod wide;
mod workspace;

pub use axes::AxisProposal;
pub use collapsed::{MarginalDensity, has_random_effects};
pub use fit::MixedFit;
pub use gap::Accuracy;
pub use group_moments::GroupMoments;
pub use marginal_point::MarginalPoint;
pub use mixed_search::MixedSearch;
pub use near::WarmStart;
pub use option::{HyperparameterMethod, MixedError, MixedOptions};
pub use sample::{HyperparameterPoints, WeightedDraws};
pub use search::MarginalMode;
pub use tally::{GroupSumsJob, Tallier, Tally};
pub use workspace::MixedWorkspace;

#[cfg(test)]
mod tests;
