//! Markov chains: the log density on which they move, the samplers, and diagnostics of their draws.

mod bridge;
mod delayed_acceptance;
mod diagnostic;
mod failure;
mod gradient_cache;
mod hmc;
mod log_density;
mod log_density_fn;
mod nuts;
mod stage;
mod store_density;
mod subsampled;
mod trace;

pub(crate) use bridge::{Sample, bridged, log_evidence};
pub(crate) use delayed_acceptance::DelayedAcceptance;
pub use diagnostic::Chains;
pub use failure::Failure;
pub use hmc::{CHAINS, Hmc, Lockstep, Noise, Step, Stride};
pub use log_density::{Lanes, LogDensity};
pub use log_density_fn::{Evaluator, LogDensityFn, ValueError};
pub use nuts::{Metric, NutsSampler};
pub use stage::Watch;
pub(crate) use stage::{ChainStage, seen};
pub use subsampled::{Ecs, EcsTrace, PerturbedDensity, SubsampledChain};
pub use trace::{ChainError, ChainProgress, Trace};
