//! Methods that run Markov chains: the loop that all of them share, and one file for each.

mod fit;
pub(crate) mod hmc;
pub(crate) mod nuts;
pub(crate) mod surrogate_hmc;
mod weighted;

pub use fit::{ChainMethod, SamplerSettings, Target, fit, restore_chains};
pub(crate) use fit::{DrawsOf, check, choices, conclude, first_draws, refusal, sampled};
pub use hmc::Hmc;
pub use nuts::Nuts;
pub use surrogate_hmc::SurrogateHmc;
pub(crate) use surrogate_hmc::{check_hierarchy, mode_of, start};
pub(crate) use weighted::{WeightedChains, surrogate_target};
