//! Methods that run Markov chains: the loop that all of them share, and one file for each.

mod fit;
pub(crate) mod hmc;
pub(crate) mod nuts;
pub(crate) mod surrogate_hmc;
mod weighted;

pub use fit::{ChainMethod, ReadMethod, SamplerSettings, Target, fit, restore_chains};
pub(crate) use fit::{
    Fitted, Law, check, check_model, choices, conclude, refusal, refused, sampled,
};
pub use hmc::Hmc;
pub use nuts::Nuts;
pub use surrogate_hmc::SurrogateHmc;
pub(crate) use surrogate_hmc::start;
pub(crate) use weighted::{Source, Weighed, on_surrogate};
