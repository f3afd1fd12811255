//! Distributions: log densities as expressions, draws as numbers.
//!
//! Densities are safe where their mathematics is: logits of ±10³, far tails and tiny scales
//! give finite values and slopes. Outside its [`Support`] a log density promises nothing: sites
//! are mapped into their support, and observed columns are checked against it. A distribution
//! is never truncated by restricting its support; its density would no longer integrate to 1.

mod bernoulli;
mod check;
mod expanded;
mod family;
mod normal;
mod support;
mod value;

use lehr_graph::{Expr, Graph, Shape};

pub use bernoulli::Bernoulli;
pub use check::ParameterError;
pub use expanded::Expanded;
pub use family::{Family, draw_batch};
pub use normal::Normal;
pub use support::Support;
pub use value::Value;

/// A distribution whose parameters are expressions of a graph.
///
/// Its shape is that of one draw: batch axes, over which draws are independent, then
/// [`Distribution::event_rank`] event axes, which are drawn together.
pub trait Distribution<'g> {
    /// The name, as in the code.
    fn name(&self) -> &'static str;

    /// The shape of a draw: batch axes, then event axes.
    fn shape(&self) -> Shape;

    /// How many of the last axes make one event: 0 for numbers, 1 for vectors, 2 for matrices.
    fn event_rank(&self) -> usize {
        0
    }

    /// Where draws lie.
    fn support(&self) -> Support;

    /// The log density at `x`, one number per batch element. Axes that `x` has in front of
    /// the distribution's own are further batch axes.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g>;

    /// The mean, in the shape of a draw; `None` where there is none or it has no closed form.
    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>>;

    /// The variance of each entry, in the shape of a draw; `None` as for the mean.
    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>>;

    /// The parameters by name, in the order [`Family::draw`] reads them, each of shape batch
    /// axes then its own.
    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)>;

    /// The numeric side, which draws.
    fn family(&self) -> &'static dyn Family;

    /// Refuses constant parameters outside their domain and shapes that do not fit.
    fn check(&self) -> Result<(), ParameterError>;

    /// The shape without its event axes.
    fn batch_shape(&self) -> Shape {
        value::leading(self.shape(), self.event_rank())
    }

    /// Independent copies: the same distribution with the batch shape `batch`, to which its
    /// own must broadcast.
    fn expand(self, batch: impl Into<Shape>) -> Expanded<Self>
    where
        Self: Sized,
    {
        Expanded::new(self, batch.into())
    }
}
