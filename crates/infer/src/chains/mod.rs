//! Markov chains: the log density on which they move, the samplers, and diagnostics of their draws.

mod asked;
mod bridge;
mod delayed;
mod diagnostic;
mod failure;
mod hmc;
mod log_density;
mod nuts;
mod stage;
mod subsampled;
mod surface;
mod tape;
mod trace;

pub(crate) use bridge::{Sample, bridged, log_evidence};
pub(crate) use delayed::Delayed;
pub use diagnostic::Chains;
pub use failure::Failure;
pub use hmc::{CHAINS, Hmc, Lockstep, Noise, Step, Stride};
pub use log_density::{Lanes, LogDensity};
pub use nuts::{Metric, NutsSampler};
pub use stage::Watch;
pub(crate) use stage::{ChainStage, seen};
pub use subsampled::{Ecs, EcsTrace, Perturbed, Subsampled};
pub(crate) use surface::{Evaluator, Surface};
pub use surface::{NotFinite, Place};
pub use trace::{ChainError, ChainProgress, Trace};
