//! Plots of functions by inducing points.

use lehr_density::SiteValue;
use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use lehr_learn::Smooth;
use lehr_model::gp::{CovarianceFunction, Projection};
use lehr_numeric::summary::{mean, sd};
use lehr_numeric::vector::dot;
use lehr_report::{FittedFunction, FunctionCurve, FunctionShape, FunctionSurface};

use super::smooth_function::{CURVE, SURFACE, even, grid, pairs, per_place};
use crate::named_draws::site_values;
use crate::term::induced::InducedPlan;
use crate::term::smooth::{column_means, kernel_of};

/// Half the width of a 90 % interval of a Gaussian, in standard deviations.
const HALF: f64 = 1.644_853_626_951_472_7;

/// The draws of a function by inducing points.
pub(crate) struct InducedDraws<'a> {
    pub(crate) smooth: &'a Smooth,
    pub(crate) plan: &'a InducedPlan,
    /// The unit of the linear predictor.
    pub(crate) unit: f64,
    /// The learned parameters.
    pub(crate) learned: &'a [SiteValue],
    /// The draws of all sites.
    pub(crate) draws: &'a [SiteValue],
}

/// A function at some places.
struct FunctionMoments {
    mean: Vec<f64>,
    /// The standard deviation of the function itself: that of its mean given the inducing points,
    /// and the remaining variance.
    sd: Vec<f64>,
}

impl InducedDraws<'_> {
    /// The function, if it has one or two columns.
    pub(crate) fn function(&self) -> Option<FittedFunction> {
        let shape = match self.plan.width() {
            1 => self.curve(),
            2 => self.surface(),
            _ => return None,
        };
        Some(FittedFunction {
            name: self.plan.label.clone(),
            inputs: self.smooth.input_names(),
            multiplier: None,
            level: None,
            class: None,
            shape,
        })
    }

    fn curve(&self) -> FunctionShape {
        let x = even(self.smooth.ranges[0], CURVE);
        let FunctionMoments { mean, sd } = self.at(std::slice::from_ref(&x));
        let moved = |by: f64| mean.iter().zip(&sd).map(|(m, s)| m + by * s).collect();
        FunctionShape::Curve(FunctionCurve {
            low: moved(-HALF),
            high: moved(HALF),
            places: self.smooth.places[0].clone(),
            mean,
            x,
        })
    }

    fn surface(&self) -> FunctionShape {
        let [x, y] = [0, 1].map(|axis| even(self.smooth.ranges[axis], SURFACE));
        let FunctionMoments { mean, sd } = self.at(&grid(&x, &y));
        FunctionShape::Surface(FunctionSurface {
            places: pairs(&self.smooth.places),
            mean,
            sd,
            x,
            y,
        })
    }

    /// The function at these places, column after column, less its mean over fitted rows, which is
    /// part of the intercept.
    fn at(&self, places: &[Vec<f64>]) -> FunctionMoments {
        let name = |variable: &str| format!("{}.{variable}", self.plan.label);
        let learned = ["scale", "lengthscale", "point"].map(name);
        let learned = learned.map(|name| site_values(self.learned, &name).to_vec());
        let [weights, left] = self.projected(places, &learned);
        let [fitted, _] = self.projected(&self.smooth.places, &learned);
        let size = self.plan.count();
        let centre = column_means(&fitted, size);
        let draws = site_values(self.draws, &name("weight"));
        let values = draws.chunks_exact(size).map(|latents| {
            let shift = dot(&centre, latents);
            let rows = weights.chunks_exact(size);
            rows.map(|row| (dot(row, latents) - shift) * self.unit)
                .collect()
        });
        let values: Vec<Vec<f64>> = values.collect();
        let own = per_place(&values, sd);
        let both = own.iter().zip(&left);
        FunctionMoments {
            sd: both
                .map(|(own, left)| (own * own + left * self.unit.powi(2)).sqrt())
                .collect(),
            mean: per_place(&values, mean),
        }
    }

    /// The multipliers of the latents at these places, row-major, and the remaining variance.
    fn projected(&self, places: &[Vec<f64>], learned: &[Vec<f64>; 3]) -> [Vec<f64>; 2] {
        let (graph, width) = (Graph::new(), self.plan.width());
        let [scale, lengthscales, points] = learned;
        let scale = scale.first().copied().unwrap_or(f64::NAN);
        let covariance =
            CovarianceFunction::new(kernel_of(self.smooth.kernel), scale, lengthscales.clone());
        let points = graph.constant([self.plan.count(), width], points);
        let x = self.plan.standardised(places);
        let x = graph.constant([x.len() / width, width], &x);
        let found = Projection::new(&graph, covariance, points).project_point(x);
        let mut found = evaluate(&found, &InputValues::new(), 1).into_iter();
        std::array::from_fn(|_| found.next().unwrap_or_default())
    }
}
