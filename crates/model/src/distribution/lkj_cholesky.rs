//! The LKJ distribution of Cholesky factors of correlation matrices.

use std::f64::consts::PI;

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::check::ParameterCheck;
use super::dirichlet::sum_last;
use super::draw::{beta_logit, sigmoid, standard_normal};
use super::value::{join_shapes, leading_shape};
use super::{Distribution, Outcome, ParameterError, Value};

/// Lower factors L of correlation matrices R = L Lᵀ with density det(R)^(concentration − 1) in R
/// (Lewandowski, Kurowicka & Joe 2009).
#[derive(Clone, Debug)]
pub struct LkjCholesky<'g> {
    dimension: usize,
    concentration: Value<'g>,
}

impl<'g> LkjCholesky<'g> {
    /// Factors of `dimension` rows. At `concentration` 1 all correlation matrices are equally
    /// likely; above it, those near the identity are likelier.
    pub fn new(dimension: usize, concentration: impl Into<Value<'g>>) -> Self {
        LkjCholesky {
            dimension,
            concentration: concentration.into(),
        }
    }

    /// The logarithm of the integral of det(R)^(η − 1) over correlation matrices:
    /// Σ ½k ln π + ln Γ(η + ½(K − 1 − k)) − ln Γ(η + ½(K − 1)) for k = 1, …, K − 1.
    fn log_normaliser(&self, graph: &'g Graph) -> Expr<'g> {
        let eta = self.concentration.on_graph(graph);
        let order = self.dimension.saturating_sub(1);
        let whole = (eta + 0.5 * order as f64).lgamma();
        (1..=order).fold(eta * 0.0, |sum, k| {
            let part = (eta + 0.5 * (order - k) as f64).lgamma();
            sum + (part - whole + 0.5 * k as f64 * PI.ln())
        })
    }
}

/// The diagonal without its first entry, of each matrix of a batch.
///
/// In the flat matrix without its first number, these entries end each run of K + 1 numbers.
fn lower_diagonal(x: Expr<'_>, dimension: usize) -> Expr<'_> {
    let (batch, order) = (leading_shape(x.shape(), 2), dimension - 1);
    let flat = x.reshape([batch.size(), dimension * dimension]);
    let tail = flat.slice(1, 1..dimension * dimension);
    let runs = tail.reshape([batch.size(), order, dimension + 1]);
    let ends = runs.slice(2, dimension..dimension + 1);
    ends.reshape(join_shapes(batch, Shape::from([order])))
}

impl<'g> Distribution<'g> for LkjCholesky<'g> {
    fn value_shape(&self) -> Shape {
        let event = Shape::from([self.dimension, self.dimension]);
        join_shapes(self.concentration.shape(), event)
    }

    fn event_rank(&self) -> usize {
        2
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(
            &LkjCholeskyFamily,
            ResponseKind::Vector(self.dimension * self.dimension),
            Some(Support::CholeskyCorrelation(self.dimension)),
        )
    }

    /// Σ (K − k + 2η − 2) ln Lₖₖ over k = 2, …, K, less the normaliser. The measure is that of
    /// the entries below the diagonal.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (graph, size) = (x.graph(), self.dimension);
        let batch = leading_shape(x.shape(), 2);
        let constant = -self.log_normaliser(graph);
        if size < 2 {
            return constant.broadcast(batch);
        }
        let jacobian: Vec<f64> = (2..=size).map(|k| (size - k) as f64).collect();
        let eta = self.concentration.on_graph(graph);
        let column = eta.reshape(join_shapes(eta.shape(), Shape::from([1])));
        let power = (column - 1.0) * 2.0 + graph.constant([size - 1], &jacobian);
        let terms = power * lower_diagonal(x, size).ln();
        let whole = join_shapes(batch, Shape::from([size - 1]));
        sum_last(terms.broadcast(whole)) + constant
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        vec![("concentration", self.concentration.on_graph(graph))]
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        let check = ParameterCheck::for_distribution(self.name())
            .require_positive("concentration", &self.concentration);
        match self.dimension {
            0 => check.add_error("dimension must be positive, found 0".into(), ""),
            _ => check,
        }
        .into_result()
    }
}

pub(super) struct LkjCholeskyFamily;

impl Family for LkjCholeskyFamily {
    fn name(&self) -> &'static str {
        "LkjCholesky"
    }

    /// The onion method: row k is a uniform direction times √y, y ~ Beta(½k, η + ½(K − 1 − k)).
    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let size = out.len().isqrt();
        out.fill(0.0);
        for (k, row) in out.chunks_exact_mut(size).enumerate() {
            if k == 0 {
                row[0] = 1.0;
                continue;
            }
            let b = parameters[0][0] + 0.5 * (size - 1 - k) as f64;
            let logit = beta_logit(0.5 * k as f64, b, rng);
            row[..k].fill_with(|| standard_normal(rng));
            let length = row[..k].iter().map(|x| x * x).sum::<f64>().sqrt();
            let radius = sigmoid(logit).sqrt() / length;
            row[..k].iter_mut().for_each(|x| *x *= radius);
            row[k] = sigmoid(-logit).sqrt();
        }
    }
}
