//! What inference sees of a model and its table.

use lehr_graph::Expr;
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::{Columns, FullData, Layout, Locals, Point, ResponseKind, RowSource, Rows};

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

/// Rows whose likelihood reads z through a few affine functions of it only.
pub trait LinearRows {
    /// The functions of z through which alone it enters the rows' likelihood.
    fn predictors<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Predictors<'g>;
}

/// Rows that read some sites, the *effects*, through one predictor only. Given all other latents,
/// the log prior is quadratic in the effects and the predictor is affine in them.
pub trait SplitRows: Send + Sync {
    /// The effects by their position in the layout of latents, in increasing order.
    fn effects(&self) -> &[usize];

    /// The predictor of each row, `[n]`.
    fn predictor<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// The log likelihood of each row, `[n]`, with `predictor` in the place of its own. It does not
    /// read the effects.
    fn given<'g>(&self, predictor: Expr<'g>, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// The standard deviation of the response around the predictor, one number for all rows, if the
    /// response is normal.
    fn noise<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Option<Expr<'g>>;
}

/// Affine functions of z: some of each row, and some that all rows share.
#[derive(Clone, Debug, Default)]
pub struct Predictors<'g> {
    /// Expressions `[n]`, each affine in z.
    pub rows: Vec<Expr<'g>>,
    /// Places of z that every row reads as they are, such as the logarithm of a noise scale.
    pub shared: Vec<usize>,
}

/// Rows whose log likelihood is wₙ log N(yₙ; uₙ(z), σ(z)²), with u affine in z and a spread σ that
/// they all share. A few sums over the rows then say all that the rows do.
pub trait GaussianRows: Sync {
    /// What the rows are made of.
    fn terms<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> GaussianTerms<'g>;

    /// σ, one number.
    fn scale<'g>(&self, at: &Point<'g>) -> Expr<'g>;
}

/// Expressions over Gaussian rows, `[n]` each.
#[derive(Clone, Copy, Debug)]
pub struct GaussianTerms<'g> {
    /// y
    pub response: Expr<'g>,
    /// u, affine in z.
    pub predictor: Expr<'g>,
    /// w, where rows have weights.
    pub weight: Option<Expr<'g>>,
}

/// Quantities of a model besides its log density.
pub trait Predictive {
    /// The distribution of every observed column given z, one per row. The observed columns
    /// themselves may be absent from the rows.
    fn responses<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<Response<'g>>;

    /// The quantities the model names besides its sites.
    fn deterministics<'g>(&self, at: &Point<'g>) -> Vec<(String, Expr<'g>)>;

    /// The quantities of each row that the model names, each with a leading axis of rows.
    fn row_quantities<'g>(&self, _at: &Point<'g>, _rows: &Rows<'g>) -> Vec<(String, Expr<'g>)> {
        Vec::new()
    }

    /// The model in words: its sites, priors and likelihood, one to a line.
    fn describe(&self) -> String;
}

/// The distribution of one observed column over a set of rows.
#[derive(Clone)]
pub struct Response<'g> {
    /// The observed column.
    pub name: String,
    /// Which values it may take.
    pub kind: ResponseKind,
    /// Numbers per row: the kind's own, or more where a row has several independent ones.
    pub width: usize,
    /// How a value is drawn once the parameters are numbers.
    pub family: &'static dyn Family,
    /// The parameters by name in the family's order, each with a leading axis of rows.
    pub parameters: Vec<(String, Expr<'g>)>,
    /// The mean of each row, `[n]` or `[n, width]`, where the family has one.
    pub mean: Option<Expr<'g>>,
    /// The variance of each row likewise. NaN where a draw has none.
    pub variance: Option<Expr<'g>>,
}

/// Draws one row's response from numeric parameters.
pub trait Family: Send + Sync {
    /// The name of the distribution.
    fn name(&self) -> &str;

    /// Fills `into` (the response's width) with a draw. There is one slice per parameter: this
    /// row's numbers of it.
    fn draw(&self, parameters: &[&[f64]], random: &mut dyn Rng, into: &mut [f64]);

    /// Fills `into` with the probability of each class, for families of classes.
    fn probabilities(&self, _parameters: &[&[f64]], into: &mut [f64]) {
        into.fill(f64::NAN);
    }
}

impl std::fmt::Debug for Response<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Response")
            .field("name", &self.name)
            .field("family", &self.family.name())
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}
