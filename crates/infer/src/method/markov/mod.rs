//! Methods that run Markov chains: the loop that all of them share, and one file for each.

mod fit;
pub(crate) mod hmc;
pub(crate) mod nuts;
pub(crate) mod surrogate_hmc;
mod weighted;

pub(crate) use fit::{
    ChainFit, DrawsOf, check, check_model, choices, conclude, refusal, refused, sampled,
};
pub use fit::{ChainMethod, ReadMethod, SamplerSettings, Target, fit, restore_chains};
pub use hmc::Hmc;
pub use nuts::Nuts;
pub use surrogate_hmc::SurrogateHmc;
pub(crate) use surrogate_hmc::start;
pub(crate) use weighted::{FitSource, WeightedChains, on_surrogate};
