//! The ordered probit distribution.

use std::f64::consts::FRAC_1_SQRT_2;

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::kernel::math::erfc;
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::draw::standard_normal;
use super::one_hot::pick;
use super::ordered_logistic::check_cutpoints;
use super::tail::log_difference;
use super::value::joined;
use super::{Distribution, ParameterError, Value};

/// Ordered outcomes 0, 1, …, C − 1: the predictor plus standard normal noise, cut at C − 1 points.
#[derive(Clone, Debug)]
pub struct OrderedProbit<'g> {
    predictor: Value<'g>,
    cutpoints: Value<'g>,
}

impl<'g> OrderedProbit<'g> {
    /// P(y ≤ k) = Φ(cutpoint k − predictor); `cutpoints` is a rising vector that all rows share.
    pub fn new(predictor: impl Into<Value<'g>>, cutpoints: impl Into<Value<'g>>) -> Self {
        OrderedProbit {
            predictor: predictor.into(),
            cutpoints: cutpoints.into(),
        }
    }

    fn cuts(&self) -> usize {
        self.cutpoints.shape().size()
    }

    /// Σ weight(k) P(y > k)
    fn weighted(&self, graph: &'g Graph, weight: fn(f64) -> f64) -> Expr<'g> {
        let weights: Vec<f64> = (0..self.cuts()).map(|k| weight(k as f64)).collect();
        let predictor = self.predictor.on(graph);
        let column = joined(predictor.shape(), Shape::from([1]));
        let beyond = predictor.reshape(column) - self.cutpoints.on(graph);
        let terms = beyond.normal_log_cdf().exp() * graph.constant([self.cuts()], &weights);
        terms.sum_axis(terms.shape().rank() - 1)
    }
}

impl<'g> Distribution<'g> for OrderedProbit<'g> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn shape(&self) -> Shape {
        self.predictor.shape()
    }

    fn kind(&self) -> ResponseKind {
        ResponseKind::Category(self.cuts() + 1)
    }

    fn support(&self) -> Option<Support> {
        None
    }

    /// ln(Φ(u) − Φ(l)) with u, l the cuts around y less the predictor, turned to the lower tail, where
    /// neither is nearly 1; one of the two where y is outermost.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (predictor, cutpoints) = (self.predictor.on(graph), self.cutpoints.on(graph));
        let zero = graph.scalar(0.0);
        let top = graph.scalar(self.cuts() as f64).less_equal(x);
        let bottom = x.less_equal(zero);
        let upper = pick(cutpoints, x) - predictor;
        let lower = pick(cutpoints, x - 1.0) - predictor;
        let turned = zero.less(upper + lower);
        let near = turned.select(-lower, upper).normal_log_cdf();
        let far = turned.select(-upper, lower).normal_log_cdf();
        let inner = log_difference(near, far);
        let outer = top.select(-lower, upper).normal_log_cdf();
        top.max(bottom).select(outer, inner)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.weighted(graph, |_| 1.0))
    }

    /// y² = Σ (2k + 1) over k < y
    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.weighted(graph, |k| 2.0 * k + 1.0) - self.mean(graph)?.square())
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let cutpoints = self.cutpoints.on(graph);
        let shape = joined(self.shape(), cutpoints.shape());
        vec![
            ("predictor", self.predictor.on(graph)),
            ("cutpoints", cutpoints.broadcast(shape)),
        ]
    }

    fn family(&self) -> &'static dyn Family {
        &OrderedProbitFamily
    }

    fn check(&self) -> Result<(), ParameterError> {
        check_cutpoints(NAME, &self.predictor, &self.cutpoints)
    }
}

const NAME: &str = "OrderedProbit";

pub(super) struct OrderedProbitFamily;

impl Family for OrderedProbitFamily {
    fn name(&self) -> &str {
        NAME
    }

    fn draw(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let (predictor, cutpoints) = (parameters[0][0], parameters[1]);
        let latent = predictor + standard_normal(rng);
        let passed = cutpoints.iter().filter(|&&cut| latent > cut).count();
        out[0] = if latent.is_nan() {
            f64::NAN
        } else {
            passed as f64
        };
    }

    /// As the log density, a difference in the tail in which both are small.
    fn probabilities(&self, parameters: &[&[f64]], into: &mut [f64]) {
        let (predictor, cuts) = (parameters[0][0], parameters[1]);
        let below = |x: f64| 0.5 * erfc(-x * FRAC_1_SQRT_2);
        for (class, probability) in into.iter_mut().enumerate() {
            let lower = class.checked_sub(1).map(|below| cuts[below] - predictor);
            let upper = cuts.get(class).map(|cut| cut - predictor);
            let (lower, upper) = (
                lower.unwrap_or(f64::NEG_INFINITY),
                upper.unwrap_or(f64::INFINITY),
            );
            *probability = if lower > 0.0 {
                below(-lower) - below(-upper)
            } else {
                below(upper) - below(lower)
            };
        }
    }
}
