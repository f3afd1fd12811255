//! Cheap approximations of the log likelihood that drive an SL-DAIS chain.
//!
//! A surrogate by rows is the same model program on other rows with learned weights; it is never a
//! second model. A built surrogate does not refer to the table, so it can be stored and restored
//! without the data set.

mod centroid;
pub mod coreset;
mod covariate;
mod expansion;
mod fixed_rows;
mod kind;
mod matching;
mod network;
mod point_rows;
mod quadratic;
mod quality;
mod recipe;
mod remainder;
mod response;
mod row_maker;
mod row_surrogate;
mod setting;
mod table;
mod taylor;
mod weighted_rows;
mod worst_rows;

pub use coreset::{Coreset, CoresetSettings};
pub use expansion::Expansion;
pub use fixed_rows::FixedRows;
pub use kind::{SurrogateInfo, SurrogateKind};
pub use network::Network;
pub use point_rows::PointRows;
pub(crate) use quadratic::Quadratic;
pub use quality::{Quality, predicted_quality};
pub(crate) use recipe::Recipe;
pub(crate) use remainder::Remainder;
pub use row_surrogate::RowSurrogate;
pub(crate) use setting::rows_setting;
pub use setting::{Setup, StartWeights, SurrogateSettings};
pub use table::{SURROGATES, restore};
pub use taylor::{MOST_FULL_LATENTS, Taylor};
pub(crate) use worst_rows::WorstRows;

use lehr_density::{Point, StoredForm};
use lehr_graph::Expr;

use crate::guide::{Block, Context};

/// A learned approximation Ψ̂(z) of the log likelihood of all rows.
pub trait Surrogate: Send + Sync {
    /// The name in tables and settings.
    fn name(&self) -> &'static str;

    /// The learned quantities and their starting values.
    fn blocks(&self) -> Vec<Block>;

    /// Ψ̂(z), one number per lane.
    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g>;

    /// The user's data that a stored surrogate contains, for users who must not publish rows.
    fn contents(&self) -> String;

    /// The stored form of this surrogate, without the table and the values of its learned
    /// quantities; [`restore`] reads it.
    fn store(&self) -> StoredForm;
}
