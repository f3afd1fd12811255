//! Mixed models: the random and the fixed effects are integrated out given a few hyperparameters. What
//! is left is a problem of a few dimensions.
//!
//! ```text
//! log p(D, θ) = log ∫ p(D | u, θ) p(u | θ) du + ln p(θ)
//! ```
//!
//! The effects u are Gaussian given θ, and reach each row through one affine predictor
//! ([`lehr_density::SplitRows`]). [`MarginalDensity`] is log p(D, θ), [`MixedSearch`] finds points of
//! θ with their weights, and [`MixedFit`] holds the draws of all sites.
//!
//! The notation of all modules: A is the largest block of random effects, R all other effects. A row
//! reads A with coefficients z and R with coefficients r; a is both. P is the precision of the prior
//! of the effects and l its linear term. Λ is their precision given the data, S its Schur complement.

mod axis_proposal;
mod column_plan;
mod conjugate_gradient;
mod cross_products;
mod dependence;
mod distinct;
mod effect_draws;
mod effect_reading;
mod effect_rows;
mod effect_structure;
mod effect_target;
mod elimination_order;
mod fit;
mod from_group_sums;
mod gaussian_response;
mod group_grid;
mod group_integral;
mod group_moments;
mod group_sums;
mod hyperparameter_map;
mod integration_points;
mod inverse_cdf;
mod marginal;
mod marginal_gradient;
mod marginal_point;
mod mixed_search;
mod mode;
mod moment_draws;
mod option;
mod point_count;
mod prior;
mod prior_terms;
mod proposal;
mod remark;
mod row_averages;
mod schur;
mod selected_inverse;
mod sparse;
mod structure_reader;
mod tolerance;
mod variational_gaussian;
mod warm_start;
mod wide_groups;
mod workspace;

pub use axis_proposal::AxisProposal;
pub use fit::MixedFit;
pub use group_integral::Accuracy;
pub use group_moments::GroupMoments;
pub use group_sums::{GroupSums, GroupSumsJob, GroupSumsMachine};
pub use integration_points::{HyperparameterPoints, WeightedDraws};
pub use marginal::{MarginalDensity, MarginalError, has_random_effects};
pub use marginal_point::MarginalPoint;
pub use mixed_search::MixedSearch;
pub use mode::MarginalMode;
pub use option::{HyperparameterMethod, MixedError, MixedOptions};
pub use warm_start::WarmStart;
pub use workspace::MixedWorkspace;

#[cfg(test)]
mod tests;
