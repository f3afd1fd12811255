//! A Gaussian process of any number of columns by its values at inducing points.  FITC (Snelson and
//! Ghahramani 2006), whitened. With inducing points Z, LLᵀ = K_ZZ + 10⁻⁶ s² I and latents e ~ N(0,
//! I), for which the values at Z are L e,
//!
//! ```text
//! aₙ = L⁻¹ k_Zn        mₙ = aₙ·e        rₙ = max(s² − |aₙ|², 10⁻¹² s²)        p(yₙ | e) = ∫ p(yₙ | f) N(f; mₙ, rₙ) df
//! ```
//!
//! Given scale, lengthscales and inducing points, mₙ is a linear predictor of the rows in e.

use lehr_graph::{Expr, Graph};

use super::covariance::CovarianceFunction;
use crate::distribution::{Distribution, NoisyBernoulli, NoisyStudentT, Normal, Value};
use crate::error::Problem;
use crate::tracer::Tracer;

/// Added to the diagonal of K_ZZ, in units of s², so that coinciding points can be factorised.
const JITTER: f64 = 1e-6;
/// The least variance of a row given the latents, in units of s².
const LEAST: f64 = 1e-12;

/// A random function of the rows by its values at inducing points.
///
/// ```
/// use lehr_density::{Density, Support};
/// use lehr_model::Model;
/// use lehr_model::gp::{InducedGp, Rbf};
/// use lehr_table::Table;
///
/// let model = Model::new(|m| {
///     let scale = m.param("scale", 1.0, Support::Positive);
///     let lengthscale = m.param("lengthscale", [1.0, 1.0], Support::Positive);
///     let places = m.graph().constant([3, 2], &[0.0, 0.0, 1.0, 1.0, 0.0, 2.0]);
///     let points = m.param("points", places, Support::Real);
///     let noise = m.param("noise", 0.5, Support::Positive);
///     let gp = InducedGp::new(m, "f", Rbf::new(scale, lengthscale), points);
///     m.rows(|row| row.observe("y", gp.marginal_at(row.matrix("x")).student_t(4.0, noise)));
/// });
/// let table = Table::new()
///     .with_number("y", vec![0.3, 1.2])?
///     .with_matrix("x", 2, 2, vec![0.1, 0.2, 0.8, 1.7])?;
/// assert_eq!(model.bind(&table)?.latents().size(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct InducedGp<'g> {
    projection: Projection<'g>,
    latents: Expr<'g>,
}

/// The distribution of a function at other places, given its values at inducing points.
#[derive(Clone, Debug)]
pub struct Projection<'g> {
    covariance: CovarianceFunction<'g>,
    points: Expr<'g>,
    factor: Expr<'g>,
}

impl<'g> Projection<'g> {
    /// By the values at `points` `[m, d]`.
    pub fn new(
        graph: &'g Graph,
        covariance: CovarianceFunction<'g>,
        points: Expr<'g>,
    ) -> Projection<'g> {
        let own = covariance.between(points, points);
        let jitter = covariance.variance(graph) * JITTER;
        let ridge = jitter
            .broadcast([points.shape().dims()[0]])
            .diagonal_matrix();
        Projection {
            factor: (own + ridge).cholesky(),
            covariance,
            points,
        }
    }

    /// aₙ for each row of `x` `[n, d]`, and rₙ, the remaining variance.
    pub fn project_point(&self, x: Expr<'g>) -> [Expr<'g>; 2] {
        let across = self.covariance.between(x, self.points);
        let weights = self.factor.solve_lower_transposed_right(across);
        let whole = self.covariance.variance(x.graph());
        let left = whole - weights.square().sum_axis(1);
        [weights, left.max(whole * LEAST)]
    }
}

impl<'g> InducedGp<'g> {
    /// The function with this covariance, by its values at `points` `[m, d]`; its latents are the
    /// site `name`.
    pub fn new(
        m: &Tracer<'g>,
        name: &str,
        covariance: impl Into<CovarianceFunction<'g>>,
        points: Expr<'g>,
    ) -> InducedGp<'g> {
        let (graph, covariance) = (m.graph(), covariance.into());
        let [count, _] = *points.shape().dims() else {
            m.report_problem(Problem::NotAMatrix {
                what: "the inducing points",
                name: name.to_owned(),
                found: points.shape().to_string(),
            });
            let stand_in = graph.full([1, 1], f64::NAN);
            return InducedGp::new(m, name, covariance, stand_in);
        };
        InducedGp {
            projection: Projection::new(graph, covariance, points),
            latents: m.sample(name, Normal::new(0.0, 1.0).expand([count])),
        }
    }

    /// The function at each row of `x` `[n, d]` given the latents.
    pub fn marginal_at(&self, x: Expr<'g>) -> RowMarginal<'g> {
        let [weights, variance] = self.projection.project_point(x);
        RowMarginal {
            mean: weights.dot(self.latents),
            variance,
        }
    }
}

/// The value f of a random function in each row given its latents: N(mean, variance), independent
/// from row to row. A row observes f through one of the distributions below, which integrate over
/// f.
#[derive(Clone, Copy, Debug)]
pub struct RowMarginal<'g> {
    /// `[n]`, linear in the latents.
    pub mean: Expr<'g>,
    /// `[n]`, above 0, the same for all latents.
    pub variance: Expr<'g>,
}

impl<'g> RowMarginal<'g> {
    /// The same with further terms added to the predictor.
    #[must_use]
    pub fn plus(self, terms: Expr<'g>) -> RowMarginal<'g> {
        let mean = self.mean + terms;
        RowMarginal { mean, ..self }
    }

    /// N(f, scale²): N(mean, variance + scale²).
    pub fn normal(self, scale: impl Into<Value<'g>>) -> Normal<'g> {
        let own = scale.into().on_graph(self.mean.graph()).square();
        Normal::new(self.mean, (self.variance + own).sqrt())
    }

    /// Outcomes with the logit f, by the trapezoidal rule over the scale of a mixture of probits.
    pub fn bernoulli(self) -> NoisyBernoulli<'g> {
        NoisyBernoulli::new(self.mean, self.variance)
    }

    /// Student's t around f, by the trapezoidal rule over its mixing variable.
    pub fn student_t(
        self,
        df: impl Into<Value<'g>>,
        scale: impl Into<Value<'g>>,
    ) -> NoisyStudentT<'g> {
        NoisyStudentT::new(df, self.mean, scale, self.variance)
    }
}
