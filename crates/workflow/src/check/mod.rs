//! Checks of a fit: against its data, its priors, simulated data and other methods.

mod against;
mod best;
mod data;
mod explained;
mod outlier;
mod prior_check;
mod replication;
mod sensitivity;
mod simulation;
mod testimony;
mod weighting;

pub use against::{Against, Difference};
pub use best::best_of;
pub(crate) use data::check_data;
pub use prior_check::{PriorPredictive, PriorQuantiles, PriorStatistic, PriorSummary};
pub use sensitivity::PriorSensitivity;
pub use simulation::{Ranks, Simulation};
pub use testimony::Testimony;
pub use weighting::Shift;
