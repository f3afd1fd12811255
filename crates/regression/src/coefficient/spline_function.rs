//! Plots of penalised smooths: line and spline together.

use lehr_density::SiteValue;
use lehr_learn::Spline;
use lehr_numeric::summary::{mean, quantile, sorted};
use lehr_numeric::vector::dot;
use lehr_report::{FittedFunction, FunctionShape};

use super::smooth_function::{CURVE, even, per_place};
use crate::term::spline::SplinePlan;

/// The draws of one smooth in one linear predictor.
pub(crate) struct SplineDraws<'a> {
    pub(crate) spline: &'a Spline,
    pub(crate) plan: &'a SplinePlan,
    /// The unit of the linear predictor.
    pub(crate) unit: f64,
    /// The ending of the sites' names.
    pub(crate) head: &'a str,
    /// The slope of each draw, and the place where the line is 0; empty without a line.
    pub(crate) line: (Vec<f64>, f64),
}

impl SplineDraws<'_> {
    /// The curve of these draws of all sites. It has mean 0 over the fitted rows.
    pub(crate) fn function(&self, sites: &[SiteValue], class: Option<&str>) -> FittedFunction {
        let of = |name: String| {
            let found = sites.iter().find(|site| site.name == name);
            found.map_or(&[][..], |site| &site.values)
        };
        let range = self.spline.drawn();
        let x = even(range, CURVE);
        let features: Vec<Vec<f64>> = x.iter().map(|x| self.spline.at(*x)).collect();
        let weights = of(self.plan.weight_site(self.head)).chunks_exact(self.spline.width());
        let spreads = of(self.plan.spread_site(self.head)).iter();
        let (slopes, centre) = &self.line;
        let unit = self.unit / self.plan.scale;
        let draws = spreads
            .zip(weights)
            .enumerate()
            .map(|(draw, (spread, weights))| {
                let pairs = weights.iter().zip(self.plan.factors(*spread));
                let own: Vec<f64> = pairs.map(|(weight, factor)| weight * factor).collect();
                let slope = slopes.get(draw).copied().unwrap_or(0.0);
                let places = x.iter().zip(&features);
                places
                    .map(|(x, features)| slope * (x - centre) + unit * dot(features, &own))
                    .collect()
            });
        let draws: Vec<Vec<f64>> = draws.collect();
        let at = |share: f64| per_place(&draws, |values| quantile(&sorted(values), share));
        FittedFunction {
            name: self.plan.label.clone(),
            inputs: vec![self.spline.input_name()],
            multiplier: self.spline.multiplier.column().map(str::to_owned),
            level: None,
            class: class.map(str::to_owned),
            shape: FunctionShape::Curve {
                mean: per_place(&draws, mean),
                low: at(0.05),
                high: at(0.95),
                places: self
                    .spline
                    .places
                    .iter()
                    .map(|x| self.spline.folded(*x))
                    .collect(),
                x,
            },
        }
    }
}
