//! Markov chains: the log density they move on, the samplers, and what their draws are worth.

mod asked;
mod bridge;
mod delayed;
mod diagnostic;
mod hmc;
mod log_density;
mod markov;
mod nuts;
mod stage;
mod subsampled;
mod surface;
mod tape;
mod trace;
mod weighted;

pub(crate) use bridge::{Sample, bridged};
pub(crate) use delayed::Delayed;
pub use diagnostic::{Chains, Failure};
pub use hmc::{CHAINS, Hmc, Lockstep, Noise, Step, Stride};
pub use log_density::{Lanes, LogDensity, NotFinite, Place};
pub use markov::{ChainMethod, ReadMethod, Target, fit, problem, restore_chains, settings};
pub(crate) use markov::{
    Fitted, Law, check, check_model, choices, conclude, refusal, refused, sampled,
};
pub use nuts::{Metric, NutsSampler};
pub(crate) use stage::ChainStage;
pub use stage::Watch;
pub use subsampled::{Ecs, EcsTrace, Perturbed, Subsampled};
pub(crate) use surface::{Evaluator, Surface};
pub use trace::{ChainError, ChainProgress, Trace};
pub(crate) use weighted::{Source, Weighed, on_surrogate};
