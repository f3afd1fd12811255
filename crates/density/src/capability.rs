//! Optional properties of a density besides its value: linear, Gaussian and split rows, and
//! predictions.

use lehr_graph::Expr;
use rand_core::Rng;

use crate::{Point, ResponseKind, Rows};

/// Rows whose likelihood depends on z only through a few affine functions of it.
pub trait LinearRows {
    /// The functions of z through which alone it enters the rows' likelihood.
    fn predictors<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Predictors<'g>;
}

/// Rows that depend on some sites, the *effects*, through one predictor only. Given all other
/// latents, the log prior is quadratic in the effects and the predictor is affine in them.
pub trait SplitRows: Send + Sync {
    /// The effects by their position in the layout of latents, in increasing order.
    fn effect_sites(&self) -> &[usize];

    /// The predictor of each row, `[n]`.
    fn predictor<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g>;

    /// The log likelihood of each row, `[n]`, with `predictor` in place of its own predictor. It
    /// does not depend on the effects otherwise.
    fn log_density_given<'g>(
        &self,
        predictor: Expr<'g>,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g>;

    /// The standard deviation of the response around the predictor, one number for all rows, if the
    /// response is normal.
    fn noise_scale<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Option<Expr<'g>>;
}

/// Affine functions of z: some of each row, and some that all rows share.
#[derive(Clone, Debug, Default)]
pub struct Predictors<'g> {
    /// Expressions `[n]`, each affine in z.
    pub rows: Vec<Expr<'g>>,
    /// Entries of z that every row reads directly, such as the logarithm of a noise scale.
    pub shared: Vec<usize>,
}

/// Rows whose log likelihood is wₙ log N(yₙ; uₙ(z), σ(z)²), with u affine in z and a common scale
/// σ. A few sums over the rows are then sufficient statistics.
pub trait GaussianRows: Sync {
    /// The parts of the rows' likelihood.
    fn gaussian_terms<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> GaussianTerms<'g>;

    /// σ, one number.
    fn noise_scale<'g>(&self, at: &Point<'g>) -> Expr<'g>;
}

/// Expressions over Gaussian rows, `[n]` each.
#[derive(Clone, Copy, Debug)]
pub struct GaussianTerms<'g> {
    /// y
    pub response: Expr<'g>,
    /// u, affine in z.
    pub predictor: Expr<'g>,
    /// w, if rows have weights.
    pub weight: Option<Expr<'g>>,
}

/// Quantities of a model besides its log density.
pub trait Predictive {
    /// The distribution of every observed column given z, one per row. The observed columns
    /// themselves may be absent from the rows.
    fn responses<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<Response<'g>>;

    /// The quantities that the model names besides its sites.
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
    /// The values that it may take.
    pub kind: ResponseKind,
    /// Numbers per row: the kind's own, or more where a row has several independent ones.
    pub width: usize,
    /// Draws a value from numeric parameters.
    pub family: &'static dyn Family,
    /// The parameters by name in the family's order, each with a leading axis of rows.
    pub parameters: Vec<(String, Expr<'g>)>,
    /// The mean of each row, `[n]` or `[n, width]`, if the family has one.
    pub mean: Option<Expr<'g>>,
    /// The variance of each row, in the same shape; NaN if a draw has none.
    pub variance: Option<Expr<'g>>,
}

/// Draws one row's response from numeric parameters.
pub trait Family: Send + Sync {
    /// The name of the distribution.
    fn name(&self) -> &str;

    /// Fills `into` (the response's width) with a draw. There is one slice per parameter, with this
    /// row's numbers.
    fn draw_value(&self, parameters: &[&[f64]], random: &mut dyn Rng, into: &mut [f64]);

    /// Fills `into` with the probability of each class, for families of classes.
    fn category_probabilities(&self, _parameters: &[&[f64]], into: &mut [f64]) {
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
