//! The ordered logistic distribution.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::cutpoints::{Cut, outcome};
use super::draw::{sigmoid, uniform};
use super::one_hot::pick;
use super::{Distribution, ParameterError, Value};

/// Ordered outcomes 0, 1, …, C − 1: the predictor plus logistic noise, cut at C − 1 points.
#[derive(Clone, Debug)]
pub struct OrderedLogistic<'g>(Cut<'g>);

impl<'g> OrderedLogistic<'g> {
    /// P(y ≤ k) = 1/(1 + e^(predictor − cutpoint k)); `cutpoints` is a rising vector that all
    /// rows share.
    pub fn new(predictor: impl Into<Value<'g>>, cutpoints: impl Into<Value<'g>>) -> Self {
        OrderedLogistic(Cut {
            predictor: predictor.into(),
            cutpoints: cutpoints.into(),
        })
    }
}

/// ln(1 − e^−gap) between neighbouring cuts, with 0 for the two outer outcomes.
fn log_gaps(cutpoints: Expr<'_>, cuts: usize) -> Expr<'_> {
    let graph = cutpoints.graph();
    let end = graph.full([1], 0.0);
    if cuts < 2 {
        return graph.full([cuts + 1], 0.0);
    }
    let gap = cutpoints.slice(0, 1..cuts) - cutpoints.slice(0, 0..cuts - 1);
    let inner = (-(-gap).expm1()).ln();
    graph.concat(&[end, inner, end], 0)
}

/// P(y > k), from the predictor less cutpoint k.
fn exceedance(beyond: Expr<'_>) -> Expr<'_> {
    beyond.sigmoid()
}

impl<'g> Distribution<'g> for OrderedLogistic<'g> {
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

    /// σ(u) − σ(l) = σ(u) σ(−l) (1 − e^(l − u)), where u and l are the cutpoints around y less the
    /// predictor. It is a product, so nothing cancels; the last factor depends on the cutpoints
    /// alone.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (predictor, cutpoints) = (self.0.predictor.on(graph), self.0.cutpoints.on(graph));
        let zero = graph.scalar(0.0);
        let upper = (predictor - pick(cutpoints, x)).softplus();
        let lower = (pick(cutpoints, x - 1.0) - predictor).softplus();
        let top = graph.scalar(self.0.count() as f64).less_equal(x);
        let bottom = x.less_equal(zero);
        let gaps = pick(log_gaps(cutpoints, self.0.count()), x);
        gaps - top.select(zero, upper) - bottom.select(zero, lower)
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
        &OrderedLogisticFamily
    }

    fn check(&self) -> Result<(), ParameterError> {
        self.0.check(NAME)
    }
}

const NAME: &str = "OrderedLogistic";

pub(super) struct OrderedLogisticFamily;

impl Family for OrderedLogisticFamily {
    fn name(&self) -> &str {
        NAME
    }

    fn draw(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let (predictor, cutpoints) = (parameters[0][0], parameters[1]);
        let u = uniform(rng);
        let latent = predictor + u.ln() - (-u).ln_1p();
        out[0] = outcome(latent, cutpoints);
    }

    /// As the log density, by a product in which nothing cancels.
    fn probabilities(&self, parameters: &[&[f64]], into: &mut [f64]) {
        let (predictor, cuts) = (parameters[0][0], parameters[1]);
        for (class, probability) in into.iter_mut().enumerate() {
            let lower = class.checked_sub(1).map(|below| cuts[below]);
            let upper = cuts.get(class);
            let within = match (lower, upper) {
                (Some(lower), Some(upper)) => -(lower - upper).exp_m1(),
                _ => 1.0,
            };
            *probability = within
                * upper.map_or(1.0, |upper| sigmoid(upper - predictor))
                * lower.map_or(1.0, |lower| sigmoid(predictor - lower));
        }
    }
}
