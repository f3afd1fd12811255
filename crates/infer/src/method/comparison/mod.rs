//! Baselines of papers, for comparison; selected by name like all methods.

pub(crate) mod bnaf;
pub(crate) mod hmcecs;
pub(crate) mod ns2_dais;
pub(crate) mod ns_dais;
pub(crate) mod nuts_cs;

pub use bnaf::Bnaf;
pub use hmcecs::Hmcecs;
pub use ns_dais::{NsDais, OneBatch};
pub use ns2_dais::{FreshBatches, Ns2Dais};
pub use nuts_cs::NutsCs;
