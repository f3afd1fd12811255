//! The Dirichlet distribution.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::check::ParameterCheck;
use super::draw::{log_gamma, positive};
use super::elementwise::of_values;
use super::value::{join_shapes, leading_shape};
use super::{Distribution, Outcome, ParameterError};

of_values! {
    /// Vectors of positive numbers whose sum is 1.
    Dirichlet,
    /// The Dirichlet distribution; the last axis of `concentration` is the vector's.
    new(concentration)
}

impl Dirichlet<'_> {
    fn length(&self) -> usize {
        let shape = self.concentration.shape();
        shape.dims().last().copied().unwrap_or(1)
    }
}

/// The sum along the last axis.
pub(super) fn sum_last(x: Expr<'_>) -> Expr<'_> {
    x.sum_axis(x.shape().rank().saturating_sub(1))
}

/// The sum along the last axis, which stays with length 1.
fn sum_last_axis(x: Expr<'_>) -> Expr<'_> {
    let sum = sum_last(x);
    sum.reshape(join_shapes(sum.shape(), Shape::from([1])))
}

impl<'g> Distribution<'g> for Dirichlet<'g> {
    fn value_shape(&self) -> Shape {
        self.concentration.shape()
    }

    fn event_rank(&self) -> usize {
        1
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(
            &DirichletFamily,
            ResponseKind::Simplex(self.length()),
            Some(Support::Simplex(self.length())),
        )
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let c = self.concentration.on_graph(x.graph());
        let constant = sum_last(c).lgamma() - sum_last(c.lgamma());
        let kernel = ((c - 1.0) * x.ln()).broadcast(x.shape());
        (sum_last(kernel) + constant).broadcast(leading_shape(x.shape(), 1))
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let c = self.concentration.on_graph(graph);
        Some(c / sum_last_axis(c))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (mean, c) = (self.mean(graph)?, self.concentration.on_graph(graph));
        Some(mean * (1.0 - mean) / (sum_last_axis(c) + 1.0))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        vec![("concentration", self.concentration.on_graph(graph))]
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        let check = ParameterCheck::for_distribution(self.name())
            .require_positive("concentration", &self.concentration);
        match self.value_shape().dims().last() {
            None | Some(0 | 1) => check.add_error(
                format!(
                    "concentration must be a vector of at least 2, found shape {}",
                    self.value_shape()
                ),
                "repeat one number with graph.full([length], number)",
            ),
            Some(_) => check,
        }
        .into_result()
    }
}

pub(super) struct DirichletFamily;

impl Family for DirichletFamily {
    fn name(&self) -> &'static str {
        "Dirichlet"
    }

    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        for (x, &c) in out.iter_mut().zip(parameters[0]) {
            *x = log_gamma(c, rng);
        }
        let peak = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = out.iter().map(|x| (x - peak).exp()).sum();
        for x in out {
            *x = positive((*x - peak).exp() / total);
        }
    }
}
