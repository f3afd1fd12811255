//! The ordered logistic distribution.

use lehr_density::Family;
use lehr_graph::Expr;
use rand::Rng;

use super::cutpoints::{LatentNoise, OrderedOutcome, category_of};
use super::draw::{sample_uniform, sigmoid};
use super::one_hot::pick_entries;

/// Ordered outcomes 0, 1, …, C − 1: the predictor plus logistic noise, cut at C − 1 points.
pub type OrderedLogistic<'g> = OrderedOutcome<'g, LogisticNoise>;

/// Noise whose distribution is logistic.
#[derive(Clone, Debug)]
pub struct LogisticNoise;

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

impl LatentNoise for LogisticNoise {
    const FAMILY: &'static dyn Family = &OrderedLogisticFamily;

    fn exceedance(beyond: Expr<'_>) -> Expr<'_> {
        beyond.sigmoid()
    }

    /// σ(u) − σ(l) = σ(u) σ(−l) (1 − e^(l − u)), where u and l are the cutpoints around y less the
    /// predictor. It is a product, so nothing cancels; the last factor depends on the cutpoints
    /// alone.
    fn log_density<'g>(of: &OrderedOutcome<'g, Self>, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (predictor, cutpoints) = (of.predictor.on_graph(graph), of.cutpoints.on_graph(graph));
        let zero = graph.scalar(0.0);
        let upper = (predictor - pick_entries(cutpoints, x)).softplus();
        let lower = (pick_entries(cutpoints, x - 1.0) - predictor).softplus();
        let top = graph.scalar(of.count() as f64).less_equal(x);
        let bottom = x.less_equal(zero);
        let gaps = pick_entries(log_gaps(cutpoints, of.count()), x);
        gaps - top.select(zero, upper) - bottom.select(zero, lower)
    }
}

pub(super) struct OrderedLogisticFamily;

impl Family for OrderedLogisticFamily {
    fn name(&self) -> &'static str {
        "OrderedLogistic"
    }

    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let (predictor, cutpoints) = (parameters[0][0], parameters[1]);
        let u = sample_uniform(rng);
        let latent = predictor + u.ln() - (-u).ln_1p();
        out[0] = category_of(latent, cutpoints);
    }

    /// As the log density, by a product in which nothing cancels.
    fn category_probabilities(&self, parameters: &[&[f64]], into: &mut [f64]) {
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
