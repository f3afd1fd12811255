//! The ordered probit distribution.

use std::f64::consts::FRAC_1_SQRT_2;

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::math::erfc;
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::cutpoints::{Cut, outcome};
use super::draw::standard_normal;
use super::one_hot::pick;
use super::tail::Tailed;
use super::{Distribution, Normal, ParameterError, Value};

/// Ordered outcomes 0, 1, …, C − 1: the predictor plus standard normal noise, cut at C − 1 points.
#[derive(Clone, Debug)]
pub struct OrderedProbit<'g>(Cut<'g>);

impl<'g> OrderedProbit<'g> {
    /// P(y ≤ k) = Φ(cutpoint k − predictor); `cutpoints` is a rising vector that all rows share.
    pub fn new(predictor: impl Into<Value<'g>>, cutpoints: impl Into<Value<'g>>) -> Self {
        OrderedProbit(Cut {
            predictor: predictor.into(),
            cutpoints: cutpoints.into(),
        })
    }
}

/// P(y > k), from the predictor less cutpoint k.
fn exceedance(beyond: Expr<'_>) -> Expr<'_> {
    beyond.normal_log_cdf().exp()
}

impl<'g> Distribution<'g> for OrderedProbit<'g> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn shape(&self) -> Shape {
        self.0.predictor.shape()
    }

    fn kind(&self) -> ResponseKind {
        ResponseKind::Category(self.0.count() + 1)
    }

    fn support(&self) -> Option<Support> {
        None
    }

    /// ln(Φ(u) − Φ(l)), where u and l are the cutpoints around y less the predictor; one of the two
    /// if y is the lowest or highest outcome.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (predictor, cutpoints) = (self.0.predictor.on(graph), self.0.cutpoints.on(graph));
        let zero = graph.scalar(0.0);
        let top = graph.scalar(self.0.count() as f64).less_equal(x);
        let bottom = x.less_equal(zero);
        let (upper, lower) = (pick(cutpoints, x), pick(cutpoints, x - 1.0));
        let inner = Normal::new(predictor, 1.0).log_between(lower, upper);
        let (upper, lower) = (upper - predictor, lower - predictor);
        let outer = top.select(-lower, upper).normal_log_cdf();
        top.max(bottom).select(outer, inner)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.0.mean(graph, exceedance))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.0.variance(graph, exceedance))
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        self.0.parameters(graph)
    }

    fn family(&self) -> &'static dyn Family {
        &OrderedProbitFamily
    }

    fn check(&self) -> Result<(), ParameterError> {
        self.0.check(NAME)
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
        out[0] = outcome(latent, cutpoints);
    }

    /// As the log density, by a difference in the tail in which both terms are small.
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
