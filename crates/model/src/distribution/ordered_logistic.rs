//! The ordered logistic distribution.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::check::Check;
use super::draw::{sigmoid, uniform};
use super::one_hot::pick;
use super::value::joined;
use super::{Distribution, ParameterError, Value};

/// Ordered outcomes 0, 1, …, C − 1: the predictor plus logistic noise, cut at C − 1 points.
#[derive(Clone, Debug)]
pub struct OrderedLogistic<'g> {
    predictor: Value<'g>,
    cutpoints: Value<'g>,
}

impl<'g> OrderedLogistic<'g> {
    /// P(y ≤ k) = 1/(1 + e^(predictor − cutpoint k)); `cutpoints` is a rising vector that all
    /// rows share.
    pub fn new(predictor: impl Into<Value<'g>>, cutpoints: impl Into<Value<'g>>) -> Self {
        OrderedLogistic {
            predictor: predictor.into(),
            cutpoints: cutpoints.into(),
        }
    }

    fn cuts(&self) -> usize {
        self.cutpoints.shape().size()
    }

    /// P(y > k) along a new last axis.
    fn exceedance(&self, graph: &'g Graph) -> Expr<'g> {
        let predictor = self.predictor.on(graph);
        let column = joined(predictor.shape(), Shape::from([1]));
        (predictor.reshape(column) - self.cutpoints.on(graph)).sigmoid()
    }

    /// Σ weight(k) P(y > k)
    fn weighted(&self, graph: &'g Graph, weight: fn(f64) -> f64) -> Expr<'g> {
        let weights: Vec<f64> = (0..self.cuts()).map(|k| weight(k as f64)).collect();
        let terms = self.exceedance(graph) * graph.constant([self.cuts()], &weights);
        terms.sum_axis(terms.shape().rank() - 1)
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

impl<'g> Distribution<'g> for OrderedLogistic<'g> {
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

    /// σ(u) − σ(l) = σ(u) σ(−l) (1 − e^(l − u)) with u, l the cuts around y less the predictor:
    /// a product, so nothing cancels; the last factor depends on the cutpoints alone.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (predictor, cutpoints) = (self.predictor.on(graph), self.cutpoints.on(graph));
        let zero = graph.scalar(0.0);
        let upper = (predictor - pick(cutpoints, x)).softplus();
        let lower = (pick(cutpoints, x - 1.0) - predictor).softplus();
        let top = graph.scalar(self.cuts() as f64).less_equal(x);
        let bottom = x.less_equal(zero);
        let gaps = pick(log_gaps(cutpoints, self.cuts()), x);
        gaps - top.select(zero, upper) - bottom.select(zero, lower)
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
        &OrderedLogisticFamily
    }

    fn check(&self) -> Result<(), ParameterError> {
        check_cutpoints(NAME, &self.predictor, &self.cutpoints)
    }
}

/// Refuses cutpoints that are no rising vector.
pub(super) fn check_cutpoints(
    name: &'static str,
    predictor: &Value<'_>,
    cutpoints: &Value<'_>,
) -> Result<(), ParameterError> {
    let check = Check::of(name).finite("predictor", predictor);
    let found = cutpoints.shape();
    if found.rank() != 1 || found.size() == 0 {
        let message = format!("cutpoints must be a vector, found shape {found}");
        return check.fail(message, "one cut less than outcomes").done();
    }
    let cuts = cutpoints.constants();
    match cuts
        .windows(2)
        .find(|w| w[0].partial_cmp(&w[1]) != Some(std::cmp::Ordering::Less))
    {
        Some(w) => check.fail(
            format!("cutpoints must rise, found {} before {}", w[0], w[1]),
            "",
        ),
        None => check,
    }
    .done()
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
        let passed = cutpoints.iter().filter(|&&cut| latent > cut).count();
        out[0] = if latent.is_nan() {
            f64::NAN
        } else {
            passed as f64
        };
    }

    /// As the log density, a product in which nothing cancels.
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
