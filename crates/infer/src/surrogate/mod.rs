//! Cheap stand-ins for the log likelihood that drive an SL-DAIS chain.
//!
//! A surrogate by rows is the same model program on other rows with learned weights; it is
//! never a second model. Nothing of a built surrogate refers to the table any more, so it can be
//! saved and restored where the data set never was.

mod centroid;
mod centroid_fix;
mod centroid_init;
pub mod coreset;
mod coreset_fix;
mod coreset_init;
mod coreset_pair;
mod covariate;
mod error;
mod expansion;
mod fixed_rows;
mod kind;
mod label_pair;
mod matching;
mod mode;
mod network;
mod quality;
mod random;
mod random_pair;
mod remainder;
mod saved;
mod setting;
mod taylor;
mod weighted_rows;

pub use centroid_fix::CentroidFix;
pub use centroid_init::CentroidInit;
pub use coreset::{Coreset, CoresetError, CoresetSettings};
pub use coreset_fix::CoresetFix;
pub use coreset_init::CoresetInit;
pub use coreset_pair::CoresetPair;
pub use error::SurrogateError;
pub use expansion::Expansion;
pub use fixed_rows::FixedRows;
pub use kind::{SurrogateKind, UnknownSurrogate};
pub use mode::Mode;
pub use network::Network;
pub use quality::{Quality, predicted_quality};
pub use random::Random;
pub use random_pair::RandomPair;
pub(crate) use remainder::worst_fitted;
pub use saved::SavedSurrogate;
pub use setting::{Setup, StartWeights, SurrogateSettings};
pub use taylor::{MOST_FULL_LATENTS, Taylor};

use lehr_density::Point;
use lehr_graph::Expr;

use crate::guide::{Block, Context};

/// A learned approximation Ψ̂(z) of the log likelihood of all rows.
pub trait Surrogate: Send + Sync {
    /// The name in tables and settings.
    fn name(&self) -> &'static str;

    /// The learned quantities and where they start.
    fn blocks(&self) -> Vec<Block>;

    /// Ψ̂(z), one number per lane.
    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g>;

    /// What of the user's data a saved surrogate carries, for people who must not ship rows.
    fn contents(&self) -> String;

    /// All that is needed to have this surrogate again without the table.
    fn save(&self) -> SavedSurrogate;
}
