//! The ordered probit distribution.

use std::f64::consts::FRAC_1_SQRT_2;

use lehr_density::Family;
use lehr_graph::Expr;
use lehr_graph::math::erfc;
use rand::Rng;

use super::Normal;
use super::cutpoints::{LatentNoise, OrderedOutcome, category_of};
use super::draw::standard_normal;
use super::one_hot::pick_entries;
use super::tail::CumulativeDistribution;

/// Ordered outcomes 0, 1, …, C − 1: the predictor plus standard normal noise, cut at C − 1 points.
pub type OrderedProbit<'g> = OrderedOutcome<'g, NormalNoise>;

/// Noise whose distribution is standard normal.
#[derive(Clone, Debug)]
pub struct NormalNoise;

impl LatentNoise for NormalNoise {
    const FAMILY: &'static dyn Family = &OrderedProbitFamily;

    fn exceedance(beyond: Expr<'_>) -> Expr<'_> {
        beyond.normal_log_cdf().exp()
    }

    /// ln(Φ(u) − Φ(l)), where u and l are the cutpoints around y less the predictor; one of the two
    /// if y is the lowest or highest outcome.
    fn log_density<'g>(of: &OrderedOutcome<'g, Self>, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (predictor, cutpoints) = (of.predictor.on_graph(graph), of.cutpoints.on_graph(graph));
        let zero = graph.scalar(0.0);
        let top = graph.scalar(of.count() as f64).less_equal(x);
        let bottom = x.less_equal(zero);
        let (upper, lower) = (pick_entries(cutpoints, x), pick_entries(cutpoints, x - 1.0));
        let inner = Normal::new(predictor, 1.0).log_between(lower, upper);
        let (upper, lower) = (upper - predictor, lower - predictor);
        let outer = top.select(-lower, upper).normal_log_cdf();
        top.max(bottom).select(outer, inner)
    }
}

pub(super) struct OrderedProbitFamily;

impl Family for OrderedProbitFamily {
    fn name(&self) -> &'static str {
        "OrderedProbit"
    }

    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let (predictor, cutpoints) = (parameters[0][0], parameters[1]);
        let latent = predictor + standard_normal(rng);
        out[0] = category_of(latent, cutpoints);
    }

    /// As the log density, by a difference in the tail in which both terms are small.
    fn category_probabilities(&self, parameters: &[&[f64]], into: &mut [f64]) {
        let (predictor, cuts) = (parameters[0][0], parameters[1]);
        let below = |x: f64| 0.5 * erfc(-x * FRAC_1_SQRT_2);
        for (class, probability) in into.iter_mut().enumerate() {
            let lower = class
                .checked_sub(1)
                .map_or(f64::NEG_INFINITY, |k| cuts[k] - predictor);
            let upper = cuts.get(class).map_or(f64::INFINITY, |cut| cut - predictor);
            *probability = if lower > 0.0 {
                below(-lower) - below(-upper)
            } else {
                below(upper) - below(lower)
            };
        }
    }
}
