//! Plots of penalised smooths: line and spline together.

use lehr_density::SiteValue;
use lehr_learn::Spline;
use lehr_numeric::vector::dot;
use lehr_report::FittedFunction;

use super::smooth_function::{CURVE, curve_with_band, even};
use crate::named_draws::site_values;
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
        let x = even(self.spline.drawn(), CURVE);
        let features: Vec<Vec<f64>> = x.iter().map(|x| self.spline.at(*x)).collect();
        let weights = site_values(sites, &self.plan.weight_site(self.head));
        let spreads = site_values(sites, &self.plan.spread_site(self.head));
        let (slopes, centre) = &self.line;
        let unit = self.unit / self.plan.scale;
        let weights = weights.chunks_exact(self.spline.width());
        let draws = spreads.iter().zip(weights).enumerate();
        let draws = draws.map(|(draw, (spread, weights))| {
            let pairs = weights.iter().zip(self.plan.factors(*spread));
            let own: Vec<f64> = pairs.map(|(weight, factor)| weight * factor).collect();
            let slope = slopes.get(draw).copied().unwrap_or(0.0);
            let value = |(x, row): (&f64, &Vec<f64>)| slope * (x - centre) + unit * dot(row, &own);
            x.iter().zip(&features).map(value).collect()
        });
        let draws: Vec<Vec<f64>> = draws.collect();
        let places = self.spline.places.iter().map(|x| self.spline.folded(*x));
        FittedFunction {
            name: self.plan.label.clone(),
            inputs: vec![self.spline.input_name()],
            multiplier: self.spline.multiplier.column().map(str::to_owned),
            level: None,
            class: class.map(str::to_owned),
            shape: curve_with_band(&draws, x, places.collect()),
        }
    }
}
