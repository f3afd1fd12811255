//! Latents of each row's own: what a density says of them, and their integral.

mod draw;
mod integral;
mod newton;

pub(crate) use draw::PriorDraws;
pub use integral::Nodes;
pub use newton::{LocalMap, LocalNormal};

use lehr_graph::Expr;

use crate::{Family, Layout, LinearRows, Point, Rows};

/// Latents of each row's own. All expressions are over rows that carry them
/// ([`Rows::with_locals`]), but for the weight.
pub trait Locals: Send + Sync {
    /// The sites behind one row's own latents.
    fn layout(&self) -> &Layout;

    /// log p(wₙ | z, xₙ) with the log-Jacobian of wₙ, `[n]`.
    fn log_prior<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// log p(yₙ, wₙ | z, xₙ) with the log-Jacobian of wₙ, `[n]`, whatever the weight of the row.
    fn log_joint<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// The affine functions of z through which alone it enters the joint density of a row and its
    /// own latents, if those latents do no more than shift them. Asked of rows that carry none.
    fn linear(&self) -> Option<&dyn LinearRows> {
        None
    }

    /// What multiplies log p(yₙ | z, xₙ), `[n]`, if rows have weights: a row of weight two stands for
    /// two rows, each with latents of its own.
    fn weight<'g>(&self, rows: &Rows<'g>) -> Option<Expr<'g>>;

    /// One number of each row, `[n]`, times the row's weight.
    fn weighed<'g>(&self, each: Expr<'g>, rows: &Rows<'g>) -> Expr<'g> {
        match self.weight(rows) {
            Some(weight) => each * weight,
            None => each,
        }
    }

    /// The prior of each site in order, which may depend on the sites before it.
    fn laws<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<LocalLaw<'g>>;
}

/// The prior of one site of each row's own, from which it can be drawn.
#[derive(Clone)]
pub struct LocalLaw<'g> {
    /// How a value is drawn once the parameters are numbers.
    pub family: &'static dyn Family,
    /// The parameters in the family's order, each with a leading axis of rows.
    pub parameters: Vec<Expr<'g>>,
    /// Independent draws that make the value of one row.
    pub batch: usize,
}
