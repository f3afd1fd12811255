//! What inference sees of a model and its table.

use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use crate::capability::{GaussianRows, LinearRows, Predictive, SplitRows};
use crate::{Columns, FullData, Layout, Locals, Point, RowSource, Rows};

/// A model bound to its data: log p(D, z) = log prior(z) + Σₙ log p(yₙ | z, xₙ), with z and θ
/// flat and unconstrained.
///
/// Every expression is built anew on the graph of the point that asks for it, so the same
/// density can be asked on any rows, at any point, any number of times.
pub trait Density: Send + Sync {
    /// The sites behind z.
    fn latents(&self) -> &Layout;

    /// The sites behind θ: not random, learned with everything else.
    fn params(&self) -> &Layout;

    /// The columns a row has, in the order of [`Density::source`].
    fn columns(&self) -> &Columns;

    /// The data behind the columns.
    fn source(&self) -> &dyn RowSource;

    /// The rows of the data, as far as they are here.
    fn n_rows(&self) -> usize {
        self.source().n_rows()
    }

    /// N: the rows that the posterior is of, wherever they are.
    fn total_rows(&self) -> usize {
        self.n_rows()
    }

    /// Who sums over all rows where they are elsewhere. The rows of [`Density::source`] are then a
    /// uniform sample of them, and the log likelihood of each counts for several.
    fn elsewhere(&self) -> Option<&(dyn FullData + Send + Sync)> {
        None
    }

    /// Ψ₀(z): one number per lane. The log densities of the priors, the log-Jacobians of the
    /// latents (θ has none: it is not random) and the model's factors.
    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g>;

    /// log p(yₙ | z, xₙ) for each row, `[n]`, times the row's weight if the model names one.
    ///
    /// Where the model has local latents it is that of [`Locals::log_joint`], and the rows must
    /// carry them ([`Rows::with_locals`]).
    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// The latents that no proper prior holds, by their places in z: only the rows can make their
    /// posterior one.
    fn improper(&self) -> Vec<usize> {
        Vec::new()
    }

    /// The recorded model behind this density, if there is one; a saved fit keeps it.
    fn origin(&self) -> Option<Stored> {
        None
    }

    /// The affine functions of z through which the rows read it, if the density knows them.
    fn linear(&self) -> Option<&dyn LinearRows> {
        None
    }

    /// The likelihood as that of Gaussian rows around one affine function of z, if it is one.
    fn gaussian(&self) -> Option<&dyn GaussianRows> {
        None
    }

    /// The latents that are Gaussian given the others and reach each row through one affine
    /// predictor: what can be integrated out.
    ///
    /// # Errors
    /// If there are none, or the density cannot tell: why, as a clause.
    fn split(&self) -> Result<&dyn SplitRows, String> {
        Err("the density does not say how its rows read the latents".into())
    }

    /// The same density with a row for each response of a row, where rows have several that are
    /// independent given z: every such row has one predictor. `None` otherwise.
    fn stacked(&self) -> Option<&dyn Density> {
        None
    }

    /// What the density can say of responses and other named quantities, if it can.
    fn predictive(&self) -> Option<&dyn Predictive> {
        None
    }

    /// The rows' own latents; `None` for models without any.
    fn locals(&self) -> Option<&dyn Locals> {
        None
    }

    /// The rows' own latents that the log likelihood is an integral over; `None` if it is none.
    fn integrates(&self) -> Option<&dyn Locals> {
        None
    }
}

/// What something stores of itself: a name, and bytes that a registry reads back by that name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// What reads the bytes.
    pub name: String,
    /// All that is stored.
    pub bytes: Vec<u8>,
}
