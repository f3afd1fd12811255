//! Checks of a fit: against its data, its priors, simulated data and other methods.

mod best;
mod chain_comparison;
mod data;
mod explained;
mod outlier;
mod prior_check;
mod replication;
mod sample;
mod sensitivity;
mod simulation;
mod weighting;
mod witness_report;

pub use best::best_of;
pub use chain_comparison::{ChainComparison, Difference};
pub(crate) use data::check_data;
pub use prior_check::{PriorPredictive, PriorQuantiles, PriorStatistic, PriorSummary};
pub use sensitivity::PriorSensitivity;
pub use simulation::{Ranks, Simulation};
pub use weighting::Shift;
pub use witness_report::WitnessReport;
