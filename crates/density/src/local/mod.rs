//! Local latents: latents of each row, their densities and their integral.

mod draw;
mod integral;
mod newton;

pub(crate) use draw::PriorDraws;
pub use integral::Nodes;
pub use newton::{LocalMap, LocalNormal};

use lehr_graph::Expr;

use crate::{Family, Layout, LinearRows, Point, Rows};

/// Latents of each row, called local. All expressions except the weight are over rows that carry
/// them ([`Rows::with_locals`]).
pub trait Locals: Send + Sync {
    /// The sites of one row's latents.
    fn layout(&self) -> &Layout;

    /// log p(wₙ | z, xₙ) with the log-Jacobian of wₙ, `[n]`.
    fn log_prior<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// log p(yₙ, wₙ | z, xₙ) with the log-Jacobian of wₙ, `[n]`, without the weight of the row.
    fn log_joint<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// The affine functions of z through which alone it enters the joint density of a row and its
    /// local latents, provided the latents only shift them. Called on rows that carry no latents.
    fn linear(&self) -> Option<&dyn LinearRows> {
        None
    }

    /// The weight of log p(yₙ | z, xₙ), `[n]`, if rows have weights. A row of weight two stands for
    /// two rows, each with its own local latents.
    fn row_weight<'g>(&self, rows: &Rows<'g>) -> Option<Expr<'g>>;

    /// One number of each row, `[n]`, times the row's weight.
    fn weight_rows<'g>(&self, each: Expr<'g>, rows: &Rows<'g>) -> Expr<'g> {
        match self.row_weight(rows) {
            Some(weight) => each * weight,
            None => each,
        }
    }

    /// The prior of each site in order, which may depend on the sites before it.
    fn local_laws<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<LocalLaw<'g>>;
}

/// The prior of one local site, from which it can be drawn.
#[derive(Clone)]
pub struct LocalLaw<'g> {
    /// Draws a value from numeric parameters.
    pub family: &'static dyn Family,
    /// The parameters in the family's order, each with a leading axis of rows.
    pub parameters: Vec<Expr<'g>>,
    /// Independent draws that make the value of one row.
    pub batch: usize,
}
