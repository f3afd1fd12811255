//! Markov chains: the log density they move on, the samplers, and what their draws are worth.

mod diagnostic;
mod hmc;
mod log_density;
mod markov;
mod trace;

pub use diagnostic::{Chains, Failure};
pub use hmc::{CHAINS, Hmc, Lockstep, Noise, Step, Stride};
pub use log_density::{Lanes, LogDensity, NotFinite, Place};
pub use markov::{ChainMethod, ReadMethod, Target, Watch, fit, problem, restore_chains, settings};
pub(crate) use trace::starts;
pub use trace::{ChainError, ChainProgress, Trace};
