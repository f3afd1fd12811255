//! Plots of fitted Gaussian processes, and a check of their basis.

use lehr_density::SiteValue;
use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use lehr_learn::Smooth;
use lehr_numeric::summary::{mean, quantile, sd, sorted};
use lehr_numeric::vector::dot;
use lehr_report::{FittedFunction, FunctionCurve, FunctionShape, FunctionSurface};

use crate::law::short;
use crate::named_draws::{Replica, SiteDraws, site_values};
use crate::term::smooth::{SmoothPlan, column_means};

/// Places of a curve.
pub(crate) const CURVE: usize = 121;
/// Places of a surface along each side.
pub(crate) const SURFACE: usize = 41;
/// The most levels whose functions are plotted.
const MOST_LEVELS: usize = 12;
/// The share of draws outside the covered lengthscales that is reported.
const SHARE: f64 = 0.05;

/// The draws of one smooth function in one linear predictor.
pub(crate) struct FunctionDraws<'a> {
    smooth: &'a Smooth,
    plan: &'a SmoothPlan,
    /// The unit of the linear predictor.
    unit: f64,
    /// The coefficients of the basis functions for each draw, level after level.
    coefficients: Vec<Vec<f64>>,
}

impl<'a> FunctionDraws<'a> {
    /// The functions of these draws of all sites; `head` is the ending of the sites' names.
    pub(crate) fn new(
        smooth: &'a Smooth,
        plan: &'a SmoothPlan,
        unit: f64,
        sites: &[SiteValue],
        head: &str,
    ) -> FunctionDraws<'a> {
        let scales = site_values(sites, &plan.scale_site(head));
        let lengthscales = plan.lengthscale_draws(sites, head);
        let weights = site_values(sites, &plan.weight_site(head));
        let size = plan.basis.width() * plan.levels.max(1);
        let coefficients = (scales.iter().zip(weights.chunks_exact(size)))
            .enumerate()
            .map(|(draw, (scale, weights))| {
                let own: Vec<f64> = lengthscales.iter().map(|draws| draws[draw]).collect();
                let factors = plan.factors(*scale, &own);
                let all = factors.iter().cycle();
                weights.iter().zip(all).map(|(a, b)| a * b).collect()
            });
        FunctionDraws {
            coefficients: coefficients.collect(),
            smooth,
            plan,
            unit,
        }
    }

    /// The function of each level for its plot. Functions without a multiplier are centred over the
    /// fitted rows, since their mean is part of the intercept.
    pub(crate) fn functions(&self, class: Option<&str>) -> Vec<FittedFunction> {
        let levels = self.smooth.levels();
        let count = levels.len().clamp(1, MOST_LEVELS);
        let one = |level: usize| FittedFunction {
            name: self.plan.label.clone(),
            inputs: self.smooth.input_names(),
            multiplier: self.smooth.multiplier().map(str::to_owned),
            level: levels.get(level).cloned(),
            class: class.map(str::to_owned),
            shape: match self.plan.basis.axes().len() {
                1 => self.curve(level),
                _ => self.surface(level),
            },
        };
        (0..count).map(one).collect()
    }

    fn curve(&self, level: usize) -> FunctionShape {
        let range = match self.smooth.period {
            Some(period) => {
                let low = (self.smooth.ranges[0][0] / period).floor() * period;
                [low, low + period]
            }
            None => self.smooth.ranges[0],
        };
        let x = even(range, CURVE);
        let draws = self.values(level, std::slice::from_ref(&x));
        let mut places = self.smooth.places[0].clone();
        if let Some(period) = self.smooth.period {
            for place in &mut places {
                *place = range[0] + (*place - range[0]).rem_euclid(period);
            }
        }
        curve_with_band(&draws, x, places)
    }

    fn surface(&self, level: usize) -> FunctionShape {
        let [x, y] = [0, 1].map(|axis| even(self.smooth.ranges[axis], SURFACE));
        let draws = self.values(level, &grid(&x, &y));
        FunctionShape::Surface(FunctionSurface {
            mean: per_place(&draws, mean),
            sd: per_place(&draws, sd),
            places: pairs(&self.smooth.places),
            x,
            y,
        })
    }

    /// The function of a level for each draw.
    fn values(&self, level: usize, places: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let width = self.plan.basis.width();
        let features = self.plan.features(places);
        let centre = self.centre();
        let unit = self.unit / self.smooth.multiplier_scale();
        let draw = |coefficients: &Vec<f64>| {
            let own = &coefficients[level * width..(level + 1) * width];
            let levels = coefficients.chunks_exact(width);
            let count = levels.len() as f64;
            let shift: f64 = levels.map(|one| dot(&centre, one)).sum::<f64>() / count;
            let rows = features.chunks_exact(width);
            rows.map(|row| (dot(row, own) - shift) * unit).collect()
        };
        self.coefficients.iter().map(draw).collect()
    }

    /// The mean of each basis function over fitted rows; zeros if a column multiplies.
    fn centre(&self) -> Vec<f64> {
        let width = self.plan.basis.width();
        if self.smooth.multiplier().is_some() {
            return vec![0.0; width];
        }
        column_means(&self.plan.features(&self.smooth.places), width)
    }
}

impl SmoothPlan {
    /// The draws of each lengthscale, in units of the model.
    pub(crate) fn lengthscale_draws(&self, sites: &[SiteValue], head: &str) -> Vec<Vec<f64>> {
        let (draws, site) = (SiteDraws::new(sites), self.lengthscale_site(head));
        draws.laws(&site, &self.lengthscales, Replica::ONLY)
    }

    /// The factors from the weights of a draw to coefficients of the basis.
    fn factors(&self, scale: f64, lengthscales: &[f64]) -> Vec<f64> {
        let graph = Graph::new();
        let lengthscales = graph.constant([lengthscales.len()], lengthscales);
        let amplitudes = self.basis.log_amplitudes(graph.scalar(scale), lengthscales);
        let [factor, _] = self.centring.logs(amplitudes);
        evaluate(&[factor.exp()], &InputValues::new(), 1).remove(0)
    }

    /// A note on each lengthscale, in units of the model, whose draws are outside the range of the
    /// basis.
    pub(crate) fn strays(&self, smooth: &Smooth, draws: &[Vec<f64>]) -> Vec<String> {
        let kernel = self.basis.kernel();
        let axes = || self.basis.axes().iter().zip(draws);
        let needed: f64 = axes()
            .map(|(axis, draws)| {
                let shortest = quantile(&sorted(draws), SHARE / 2.0);
                (axis.covered_interval(kernel)[0] / shortest).max(1.0)
            })
            .product();
        let k = (self.basis.width() as f64 * needed).ceil();
        let mut found = Vec::new();
        for (place, (axis, draws)) in axes().enumerate() {
            let [least, most] = axis.covered_interval(kernel);
            let (name, input) = (&smooth.lengthscale_names()[place][0], &smooth.inputs[place]);
            let below = share(draws, |draw| draw < least);
            let above = share(draws, |draw| draw > most);
            if below > SHARE {
                found.push(format!(
                    "{name}: {:.0} % of the draws are shorter than {}, for which the basis is too coarse: ask \
                     for k = {k}",
                    100.0 * below,
                    short(least * axis.unit)
                ));
            } else if above > SHARE {
                found.push(format!(
                    "{name}: {:.0} % of the draws are longer than {}, for which the basis is too narrow: the \
                     function is nearly a line, so write {input} in place of it, or give {name} a prior that \
                     allows for longer ones",
                    100.0 * above,
                    short(most * axis.unit)
                ));
            }
        }
        found
    }
}

/// The share of draws that satisfy a condition.
fn share(draws: &[f64], holds: impl Fn(f64) -> bool) -> f64 {
    draws.iter().filter(|draw| holds(**draw)).count() as f64 / draws.len() as f64
}

/// `count` places from one end to the other.
pub(crate) fn even([low, high]: [f64; 2], count: usize) -> Vec<f64> {
    let step = (high - low) / (count - 1) as f64;
    (0..count).map(|k| low + step * k as f64).collect()
}

/// All places of two axes, column after column; those of the first vary fastest.
pub(crate) fn grid(x: &[f64], y: &[f64]) -> [Vec<f64>; 2] {
    let rows = y.iter().flat_map(|y| x.iter().map(move |x| (*x, *y)));
    let (first, second) = rows.unzip();
    [first, second]
}

/// The places of rows in the plane.
pub(crate) fn pairs(places: &[Vec<f64>]) -> Vec<[f64; 2]> {
    let pairs = places[0].iter().zip(&places[1]);
    pairs.map(|(x, y)| [*x, *y]).collect()
}

/// A curve with the 90 % band of its values in all draws.
pub(crate) fn curve_with_band(draws: &[Vec<f64>], x: Vec<f64>, places: Vec<f64>) -> FunctionShape {
    let at = |share: f64| per_place(draws, |values| quantile(&sorted(values), share));
    FunctionShape::Curve(FunctionCurve {
        mean: per_place(draws, mean),
        low: at(0.05),
        high: at(0.95),
        x,
        places,
    })
}

/// A number per place from that place's values in all draws.
pub(crate) fn per_place(draws: &[Vec<f64>], what: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let places = draws.first().map_or(0, Vec::len);
    let mut values = vec![0.0; draws.len()];
    let one = |place: usize| {
        for (value, draw) in values.iter_mut().zip(draws) {
            *value = draw[place];
        }
        what(&values)
    };
    (0..places).map(one).collect()
}
