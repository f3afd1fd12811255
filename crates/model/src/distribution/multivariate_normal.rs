//! The multivariate normal distribution, by its Cholesky factor.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::check::ParameterCheck;
use super::draw::standard_normal;
use super::normal::HALF_LN_TAU;
use super::value::{join_shapes, leading_shape};
use super::{Distribution, Outcome, ParameterError, Value};

/// N(loc, L Lᵀ).
#[derive(Clone, Debug)]
pub struct MultivariateNormal<'g> {
    loc: Value<'g>,
    factor: Expr<'g>,
}

impl<'g> MultivariateNormal<'g> {
    /// The normal distribution with mean `loc`, a vector or one number for all entries, and
    /// covariance L Lᵀ. Only the lower triangle of `factor`, L, is read.
    pub fn new(loc: impl Into<Value<'g>>, factor: Expr<'g>) -> Self {
        MultivariateNormal {
            loc: loc.into(),
            factor,
        }
    }

    fn event_shape(&self) -> Shape {
        leading_shape(self.factor.shape(), 1)
    }
}

impl<'g> Distribution<'g> for MultivariateNormal<'g> {
    fn value_shape(&self) -> Shape {
        let event = self.event_shape();
        self.loc.shape().broadcast(event).unwrap_or(event)
    }

    fn event_rank(&self) -> usize {
        1
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(
            &MultivariateNormalFamily,
            ResponseKind::Vector(self.event_shape().size()),
            Some(Support::Real),
        )
    }

    /// −½|L⁻¹(x − loc)|² − Σ ln Lᵢᵢ − ½ d ln 2π
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let length = self.event_shape().size();
        let moved = x - self.loc.on_graph(x.graph());
        let batch = leading_shape(moved.shape(), 1);
        let rows = moved.reshape([batch.size(), length]);
        let z = self.factor.solve_lower_transposed_right(rows);
        let quadratic = z.square().sum_axis(1).reshape(batch);
        let constant = self.factor.diagonal().ln().sum() + HALF_LN_TAU * length as f64;
        quadratic * -0.5 - constant
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.loc.on_graph(graph).broadcast(self.value_shape()))
    }

    fn variance(&self, _graph: &'g Graph) -> Option<Expr<'g>> {
        let variance = self.factor.tril(0).square().sum_axis(1);
        Some(variance.broadcast(self.value_shape()))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let factor = join_shapes(self.batch_shape(), self.factor.shape());
        let loc = self.loc.on_graph(graph).broadcast(self.value_shape());
        vec![("loc", loc), ("factor", self.factor.broadcast(factor))]
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        let check = ParameterCheck::for_distribution(self.name()).require_finite("loc", &self.loc);
        let (loc, factor) = (self.loc.shape(), self.factor.shape());
        match *factor.dims() {
            [m, n] if m == n && (loc.is_scalar() || loc.dims().ends_with(&[n])) => check,
            [m, n] if m == n => check.add_error(
                format!("loc must end in an axis of {n}, the factor's, found shape {loc}"),
                "",
            ),
            _ => check.add_error(
                format!("factor must be a square matrix, found shape {factor}"),
                "the factor is the lower Cholesky factor of the covariance",
            ),
        }
        .into_result()
    }
}

pub(super) struct MultivariateNormalFamily;

impl Family for MultivariateNormalFamily {
    fn name(&self) -> &'static str {
        "MultivariateNormal"
    }

    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let n = out.len();
        let (loc, factor) = (parameters[0], parameters[1]);
        out.copy_from_slice(loc);
        for j in 0..n {
            let z = standard_normal(rng);
            for i in j..n {
                out[i] += factor[i * n + j] * z;
            }
        }
    }
}
