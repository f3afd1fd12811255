//! A smooth function of any number of columns by its values at inducing points.

use lehr_density::Support;
use lehr_learn::{LearnError, Link, Smooth, Source};
use lehr_model::Tracer;
use lehr_model::gp::{CovarianceFunction, InducedGp, Kernel};
use lehr_numeric::kmeans::{Clusters, SignedPoints};
use serde::{Deserialize, Serialize};

use super::smooth::kernel_of;
use crate::family::Family;

/// The default and the largest number of inducing points: training factorises a matrix of this size
/// in every step.
const USUAL: usize = 128;
const MOST: usize = 400;

/// The function by inducing points in the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InducedPlan {
    pub(crate) label: String,
    kernel: Kernel,
    /// The mean and the standard deviation of each input.
    standards: Vec<[f64; 2]>,
    /// The starting values of the points, standardised, point after point.
    points: Vec<f64>,
    /// The starting value of the scale, in units of the linear predictor.
    scale: f64,
}

/// The function by inducing points.
pub(crate) fn induced_plan(smooth: &Smooth, family: Family) -> Result<InducedPlan, LearnError> {
    if ![Family::Gaussian, Family::Student, Family::Bernoulli].contains(&family) {
        return Err(LearnError::column(
            &smooth.label,
            "family gaussian, student or bernoulli for a function by inducing points",
            family.name(),
            "add functions of one or two columns instead, as in gp(x1) + gp(x2, x3), which every family has",
        ));
    }
    let scale = match family.link() {
        Link::Identity => 1.0,
        _ => 2.0,
    };
    InducedPlan::new(smooth, scale)
}

impl InducedPlan {
    fn new(smooth: &Smooth, scale: f64) -> Result<InducedPlan, LearnError> {
        let count = smooth.k.unwrap_or(USUAL.min(smooth.distinct));
        smooth.check_width(count)?;
        if count > MOST {
            return Err(LearnError::column(
                &smooth.label,
                format!("at most {MOST} inducing points"),
                count.to_string(),
                format!("write k = {MOST} or less"),
            ));
        }
        let standards: Vec<[f64; 2]> = smooth.places.iter().map(|own| standard(own)).collect();
        let values = standardised(&smooth.places, &standards);
        let clusters = SignedPoints::new(&values, standards.len())
            .and_then(|points| Clusters::new(points, count, 1))
            .map_err(|error| {
                let hint = format!("write k = {} or less", count / 2);
                LearnError::column(
                    &smooth.label,
                    "inducing points that differ",
                    error.to_string(),
                    &hint,
                )
            })?;
        Ok(InducedPlan {
            label: smooth.label.clone(),
            kernel: kernel_of(smooth.kernel),
            standards,
            points: clusters.centroids,
            scale,
        })
    }

    /// The number of input columns.
    pub(crate) fn width(&self) -> usize {
        self.standards.len()
    }

    /// How many points there are.
    pub(crate) fn count(&self) -> usize {
        self.points.len() / self.width()
    }

    /// Places, given column after column, in the model's standardised form, row-major.
    pub(crate) fn standardised(&self, places: &[Vec<f64>]) -> Vec<f64> {
        standardised(places, &self.standards)
    }

    /// Its learned parameters, and its latents.
    pub(crate) fn function<'g>(&self, m: &Tracer<'g>) -> InducedGp<'g> {
        let (label, width) = (&self.label, self.width());
        let scale = m.param(&format!("{label}.scale"), self.scale, Support::Positive);
        let start = vec![(width as f64).sqrt(); width];
        let lengthscales = m.param(&format!("{label}.lengthscale"), start, Support::Positive);
        let points = m.graph().constant([self.count(), width], &self.points);
        let points = m.param(&format!("{label}.point"), points, Support::Real);
        let covariance = CovarianceFunction::new(self.kernel, scale, lengthscales);
        InducedGp::new(m, &format!("{label}.weight"), covariance, points)
    }

    /// The standardised inputs, row-major, and the number of rows outside the fitted range.
    pub(crate) fn places(
        &self,
        smooth: &Smooth,
        source: &Source<'_>,
    ) -> Result<(Vec<f64>, usize), LearnError> {
        let (rows, width) = (source.n_rows(), self.width());
        let mut values = vec![0.0; rows * width];
        let mut outside = vec![false; rows];
        for (column, input) in smooth.inputs.iter().enumerate() {
            let [mean, scale] = self.standards[column];
            let [low, high] = smooth.ranges[column];
            for (row, value) in source.evaluate(input)?.into_iter().enumerate() {
                values[row * width + column] = (value - mean) / scale;
                outside[row] |= value < low || value > high;
            }
        }
        Ok((values, outside.into_iter().filter(|is| *is).count()))
    }

    /// A description in words.
    pub(crate) fn words(&self) -> String {
        format!(
            "{} inducing points; they, the scale and the lengthscales are learned, not random",
            self.count()
        )
    }
}

/// Columns less their means over their scales, row-major.
fn standardised(places: &[Vec<f64>], standards: &[[f64; 2]]) -> Vec<f64> {
    let place = |row: usize| {
        let columns = places.iter().zip(standards);
        columns.map(move |(own, [mean, scale])| (own[row] - mean) / scale)
    };
    (0..places[0].len()).flat_map(place).collect()
}

/// The mean and the standard deviation of numbers that are not all the same.
fn standard(values: &[f64]) -> [f64; 2] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2));
    let square = squares.sum::<f64>() / count;
    [mean, if square > 0.0 { square.sqrt() } else { 1.0 }]
}
