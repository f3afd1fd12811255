//! The interface between inference and a model with its table.

use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use crate::capability::{GaussianRows, LinearRows, Predictive, SplitRows};
use crate::{Columns, Layout, LocalRows, Locals, Point, RowSource, RowStore, Rows};

/// A model bound to its data: log p(D, z) = log prior(z) + Σₙ log p(yₙ | z, xₙ), with z and θ flat
/// and unconstrained.  Every expression is built on the graph of the given point, so the same
/// density can be evaluated on any rows, at any point, any number of times.
pub trait Density: Send + Sync {
    /// The sites of z.
    fn latents(&self) -> &Layout;

    /// The sites of θ, which are not random but learned with everything else.
    fn params(&self) -> &Layout;

    /// The columns a row has, in the order of [`Density::source`].
    fn columns(&self) -> &Columns;

    /// The data behind the columns.
    fn source(&self) -> &dyn RowSource;

    /// The number of rows of the data that are local.
    fn n_rows(&self) -> usize {
        self.source().n_rows()
    }

    /// N: the number of rows in the posterior, wherever they are stored.
    fn total_rows(&self) -> usize {
        self.n_rows()
    }

    /// Sums over all rows that are stored elsewhere, if they are. The rows of [`Density::source`]
    /// are then a uniform sample of them, and the log likelihood of each is multiplied accordingly.
    fn elsewhere(&self) -> Option<&dyn RowStore> {
        None
    }

    /// Ψ₀(z): one number per lane. The log densities of the priors, the log-Jacobians of the
    /// latents (θ has none: it is not random) and the model's factors.
    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g>;

    /// log p(yₙ | z, xₙ) for each row, `[n]`, times the row's weight if the model names one.  If
    /// the model has local latents it is [`Locals::log_joint`], and the rows must carry them
    /// ([`Rows::with_locals`]).
    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// The latents without a proper prior, by their places in z: only the rows can make their
    /// posterior proper.
    fn improper(&self) -> Vec<usize> {
        Vec::new()
    }

    /// The recorded model behind this density, if there is one; a saved fit keeps it.
    fn origin(&self) -> Option<StoredForm> {
        None
    }

    /// The affine functions of z through which the rows depend on it, if the density knows them.
    fn linear(&self) -> Option<&dyn LinearRows> {
        None
    }

    /// The likelihood as that of Gaussian rows around one affine function of z, if it has this
    /// form.
    fn gaussian(&self) -> Option<&dyn GaussianRows> {
        None
    }

    /// The latents that are Gaussian given the others and reach each row through one affine
    /// predictor. They can be integrated out.
    ///
    /// # Errors
    /// If there are none, or the density does not know: the reason, as a clause.
    fn split(&self) -> Result<&dyn SplitRows, String> {
        Err("the density does not say how its rows read the latents".into())
    }

    /// The same density with a row for each response of a row, if rows have several responses that
    /// are independent given z. Every such row has one predictor. `None` otherwise.
    fn stacked(&self) -> Option<&dyn Density> {
        None
    }

    /// Predictions of responses and other named quantities, if the density supports them.
    fn predictive(&self) -> Option<&dyn Predictive> {
        None
    }

    /// The local latents of the rows; `None` for models without any.
    fn locals(&self) -> Option<&dyn Locals> {
        None
    }

    /// The local latents over which the log likelihood integrates; `None` if it is not such an
    /// integral.
    fn integrates(&self) -> Option<&dyn Locals> {
        None
    }
}

/// The rows of a density that are in this process.
pub fn rows_here(density: &dyn Density) -> LocalRows<'_> {
    let (columns, source) = (density.columns(), density.source());
    match density.elsewhere() {
        Some(_) => LocalRows::sample(columns, source),
        None => LocalRows::new(columns, source),
    }
}

/// A serialised value: a name, and bytes that a registry decodes by that name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredForm {
    /// The name of the decoder.
    pub name: String,
    /// The serialised bytes.
    pub bytes: Vec<u8>,
}
