//! The common part of ordered outcomes, for any noise distribution.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::marker::PhantomData;

use lehr_density::{Family, ResponseKind};
use lehr_graph::{Expr, Graph, Shape};

use super::check::ParameterCheck;
use super::value::join_shapes;
use super::{Distribution, Outcome, ParameterError, Value};

/// Ordered outcomes 0, 1, …, C − 1: the predictor plus noise, cut at C − 1 points.
#[derive(Clone, Debug)]
pub struct OrderedOutcome<'g, N> {
    pub(super) predictor: Value<'g>,
    pub(super) cutpoints: Value<'g>,
    noise: PhantomData<N>,
}

/// The distribution of the noise.
pub trait LatentNoise: Sized {
    /// The numeric side of the outcomes.
    const FAMILY: &'static dyn Family;

    /// P(y > k), given the predictor less cutpoint k.
    fn exceedance(beyond: Expr<'_>) -> Expr<'_>;

    /// ln P(y = x)
    fn log_density<'g>(of: &OrderedOutcome<'g, Self>, x: Expr<'g>) -> Expr<'g>;
}

impl<'g, N: LatentNoise> OrderedOutcome<'g, N> {
    /// P(y ≤ k) = P(noise ≤ cutpoint k − predictor); `cutpoints` is an ascending vector that all rows share.
    pub fn new(predictor: impl Into<Value<'g>>, cutpoints: impl Into<Value<'g>>) -> Self {
        OrderedOutcome {
            predictor: predictor.into(),
            cutpoints: cutpoints.into(),
            noise: PhantomData,
        }
    }

    /// The number of cutpoints: one less than that of outcomes.
    pub(super) fn count(&self) -> usize {
        self.cutpoints.shape().size()
    }

    /// Σ weight(k) P(y > k)
    fn weighted(&self, graph: &'g Graph, weight: fn(f64) -> f64) -> Expr<'g> {
        let weights: Vec<f64> = (0..self.count()).map(|k| weight(k as f64)).collect();
        let predictor = self.predictor.on_graph(graph);
        let column = join_shapes(predictor.shape(), Shape::from([1]));
        let beyond = N::exceedance(predictor.reshape(column) - self.cutpoints.on_graph(graph));
        let terms = beyond * graph.constant([self.count()], &weights);
        terms.sum_axis(terms.shape().rank() - 1)
    }
}

impl<'g, N: LatentNoise> Distribution<'g> for OrderedOutcome<'g, N> {
    fn value_shape(&self) -> Shape {
        self.predictor.shape()
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(N::FAMILY, ResponseKind::Category(self.count() + 1), None)
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        N::log_density(self, x)
    }

    /// E y = Σ P(y > k)
    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.weighted(graph, |_| 1.0))
    }

    /// y² = Σ (2k + 1) over k < y
    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let square = self.weighted(graph, |k| 2.0 * k + 1.0);
        Some(square - self.weighted(graph, |_| 1.0).square())
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let cutpoints = self.cutpoints.on_graph(graph);
        let shape = join_shapes(self.predictor.shape(), cutpoints.shape());
        vec![
            ("predictor", self.predictor.on_graph(graph)),
            ("cutpoints", cutpoints.broadcast(shape)),
        ]
    }

    /// Refuses cutpoints that are not an ascending vector.
    fn check_parameters(&self) -> Result<(), ParameterError> {
        let check = ParameterCheck::for_distribution(self.name())
            .require_finite("predictor", &self.predictor);
        let found = self.cutpoints.shape();
        if found.rank() != 1 || found.size() == 0 {
            let message = format!("cutpoints must be a vector, found shape {found}");
            return check
                .add_error(message, "one cut less than outcomes")
                .into_result();
        }
        let cuts = self.cutpoints.constant_values();
        let falls = |pair: &&[f64]| pair[0].partial_cmp(&pair[1]) != Some(Ordering::Less);
        let Some(pair) = cuts.windows(2).find(falls) else {
            return check.into_result();
        };
        let message = format!("cutpoints must rise, found {} before {}", pair[0], pair[1]);
        check.add_error(message, "").into_result()
    }
}

/// The outcome for a latent number: how many cutpoints it exceeds.
pub(super) fn category_of(latent: f64, cutpoints: &[f64]) -> f64 {
    let passed = cutpoints.iter().filter(|&&cut| latent > cut).count();
    if latent.is_nan() {
        f64::NAN
    } else {
        passed as f64
    }
}
