//! Cheap stand-ins for the log likelihood that drive an SL-DAIS chain.
//!
//! A surrogate by rows is the same model program on other rows with learned weights; it is
//! never a second model.

use lehr_density::Point;
use lehr_graph::Expr;

use crate::block::Block;
use crate::context::Context;

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
}
