//! An importance-sampling proposal for the hyperparameters. It is a product of densities along axes
//! through the mode. Each has the width and the skewness of the posterior along its axis.

use faer::Mat;

use crate::group_integral::Accuracy;
use crate::marginal::MarginalDensity;
use crate::mode::{MarginalMode, map_eigenvalues};

/// The first evaluation along an axis, in standard deviations.
const NEAR: f64 = 1.6;
/// The largest difference of values from a Gaussian for which an axis counts as Gaussian.
const GAUSSIAN: f64 = 0.08;
/// The ratio of the distances of successive evaluations.
const FURTHER: f64 = 1.5;
/// An axis ends where the value is this many nats below the mode.
const BELOW: f64 = 5.0;
/// The furthest evaluation, in standard deviations.
const FURTHEST: f64 = 20.0;
/// Tails decrease with this share of the last slope, so that they are wider than the posterior's.
const TAIL: f64 = 0.8;
/// Cells of the tabulated density from which is drawn.
const CELLS: usize = 2048;
/// The depth at which tails are cut off, in nats.
const DEPTH: f64 = 30.0;

/// The proposal of the hyperparameters.
pub struct AxisProposal {
    centre: Vec<f64>,
    /// θ = centre + A x
    root: Mat<f64>,
    log_volume: f64,
    shapes: Vec<AxisDensity>,
}

/// The density along one axis: linear between equally spaced points.
struct AxisDensity {
    low: f64,
    step: f64,
    /// Its value at each point.
    heights: Vec<f64>,
    /// The mass below each point.
    below: Vec<f64>,
    /// The evaluated points, with their log densities.
    seen: Vec<(f64, f64)>,
}

impl AxisProposal {
    /// The axes at a mode, evaluated in parallel.
    pub(crate) fn new(marginal: &MarginalDensity<'_>, mode: &MarginalMode) -> AxisProposal {
        let (root, log_volume) = axes_of(&mode.curvature);
        let mut axes = AxisProposal {
            centre: mode.theta.clone(),
            root,
            log_volume,
            shapes: Vec::new(),
        };
        let sides = marginal.in_parallel(0..2 * mode.theta.len(), |work, k| {
            let mut value = |x: f64| {
                let theta = axes.along(k / 2, x);
                let at = marginal.evaluate(&theta, &mode.warm_start, Accuracy::Value, work);
                at.map_or(f64::NEG_INFINITY, |at| at.value - mode.value)
            };
            evaluate_side([-1.0, 1.0][k % 2], &mut value)
        });
        axes.shapes = sides
            .chunks_exact(2)
            .map(|both| AxisDensity::new(&both[0], &both[1]))
            .collect();
        axes
    }

    /// How many values were evaluated.
    pub(crate) fn n_evaluations(&self) -> usize {
        self.shapes.iter().map(|axis| axis.seen.len() - 1).sum()
    }

    fn along(&self, axis: usize, x: f64) -> Vec<f64> {
        let mut coordinates = vec![0.0; self.centre.len()];
        coordinates[axis] = x;
        self.theta(&coordinates)
    }

    /// θ at the coordinates x along the axes.
    pub fn theta(&self, x: &[f64]) -> Vec<f64> {
        let row = |i: usize| -> f64 { (0..x.len()).map(|j| self.root[(i, j)] * x[j]).sum() };
        (0..x.len()).map(|i| self.centre[i] + row(i)).collect()
    }

    /// The slope in x from the slope in θ.
    pub fn pull_back(&self, slope: &[f64]) -> Vec<f64> {
        let size = slope.len();
        let entry = |j: usize| (0..size).map(|i| self.root[(i, j)] * slope[i]).sum();
        (0..size).map(entry).collect()
    }

    /// θ at a point of the unit cube, and the log density of the proposal there.
    pub(crate) fn draw(&self, uniform: &[f64]) -> (Vec<f64>, f64) {
        let drawn = self
            .shapes
            .iter()
            .zip(uniform)
            .map(|(axis, u)| axis.quantile(*u));
        let (x, heights): (Vec<f64>, Vec<f64>) = drawn.unzip();
        let log_density: f64 = heights.iter().map(|height| height.ln()).sum();
        (self.theta(&x), log_density - self.log_volume)
    }

    /// Entries of θ whose axis decreases to the left by about 1 per unit: the prior's own slope for
    /// the logarithm of a standard deviation that the data allow to be 0.
    pub(crate) fn open_to_the_left(&self) -> Vec<usize> {
        let size = self.centre.len();
        let is_open = |k: &usize| {
            let scale = self.root[(*k, *k)];
            let [(x0, v0), (x1, v1), ..] = self.shapes[*k].seen[..] else {
                return false;
            };
            let slope = (v1 - v0) / ((x1 - x0) * scale);
            v0 < -3.0 && (0.8..1.2).contains(&slope)
        };
        (0..size).filter(is_open).collect()
    }
}

/// A = diag(sd) R^½ with R the correlations of H⁻¹, and ln |det A|.
fn axes_of(curvature: &Mat<f64>) -> (Mat<f64>, f64) {
    let size = curvature.nrows();
    if size == 0 {
        return (Mat::zeros(0, 0), 0.0);
    }
    let covariance = lehr_numeric::dense::inverse(curvature);
    let sd: Vec<f64> = (0..size).map(|i| covariance[(i, i)].sqrt()).collect();
    let correlation = Mat::from_fn(size, size, |i, j| covariance[(i, j)] / (sd[i] * sd[j]));
    let (half, values) = map_eigenvalues(&correlation, |value| value.max(0.0).sqrt());
    let root = Mat::from_fn(size, size, |i, j| sd[i] * half[(i, j)]);
    let spread: f64 = sd.iter().map(|sd| sd.ln()).sum();
    let turned: f64 = values.iter().map(|value| value.max(1e-300).ln()).sum();
    (root, spread + 0.5 * turned)
}

/// The values on one side of an axis, from the centre outward.
fn evaluate_side(sign: f64, value: &mut dyn FnMut(f64) -> f64) -> Vec<(f64, f64)> {
    let mut seen = vec![(sign * NEAR, value(sign * NEAR))];
    if (seen[0].1 + 0.5 * NEAR * NEAR).abs() < GAUSSIAN {
        return seen;
    }
    seen.insert(0, (0.5 * sign * NEAR, value(0.5 * sign * NEAR)));
    let mut x = NEAR;
    while seen.last().is_some_and(|last| last.1 > -BELOW) && x * FURTHER <= FURTHEST {
        x *= FURTHER;
        seen.push((sign * x, value(sign * x)));
    }
    // Beyond the finite values there is nothing to interpolate.
    seen.retain(|(_, value)| value.is_finite());
    seen
}

impl AxisDensity {
    fn new(left: &[(f64, f64)], right: &[(f64, f64)]) -> AxisDensity {
        let spline = spline_through(left, right);
        let low = reach(&spline, left, -1.0);
        let high = reach(&spline, right, 1.0);
        let step = (high - low) / CELLS as f64;
        let value = |x: f64| {
            let side = if x < 0.0 { left } else { right };
            match side {
                [(at, value)] => value * (x / at).powi(2),
                [] => -0.5 * x * x,
                _ => spline.at(x),
            }
        };
        let heights: Vec<f64> = (0..=CELLS)
            .map(|k| value(low + step * k as f64).exp())
            .collect();
        let mut below = vec![0.0];
        for pair in heights.windows(2) {
            below.push(below[below.len() - 1] + 0.5 * step * (pair[0] + pair[1]));
        }
        let mass = below[CELLS];
        AxisDensity {
            low,
            step,
            heights: heights.iter().map(|height| height / mass).collect(),
            below: below.iter().map(|mass_below| mass_below / mass).collect(),
            seen: spline.knots,
        }
    }

    /// The point below which a share of the mass lies, and the density there.
    fn quantile(&self, share: f64) -> (f64, f64) {
        let cell = self
            .below
            .partition_point(|below| *below < share)
            .clamp(1, CELLS)
            - 1;
        let (left, right) = (self.heights[cell], self.heights[cell + 1]);
        let rest = share - self.below[cell];
        let slope = (right - left) / self.step;
        // The area of a trapezium: left t + ½ slope t² = rest.
        let root = (left * left + 2.0 * slope * rest).max(0.0).sqrt();
        let t = (2.0 * rest / (left + root)).clamp(0.0, self.step);
        (self.low + cell as f64 * self.step + t, left + slope * t)
    }
}

/// A function through knots in increasing order: a cubic spline between them, straight lines
/// outside.
struct AxisSpline {
    knots: Vec<(f64, f64)>,
    slopes: Vec<f64>,
}

fn spline_through(left: &[(f64, f64)], right: &[(f64, f64)]) -> AxisSpline {
    let mut knots: Vec<(f64, f64)> = left.iter().rev().copied().collect();
    knots.push((0.0, 0.0));
    knots.extend_from_slice(right);
    let chord = |k: usize| (knots[k + 1].1 - knots[k].1) / (knots[k + 1].0 - knots[k].0);
    let last = knots.len() - 1;
    let slope = |k: usize| match k {
        0 if last == 0 => 0.0,
        0 => chord(0),
        k if k == last => chord(last - 1),
        k => {
            let (before, after) = (knots[k].0 - knots[k - 1].0, knots[k + 1].0 - knots[k].0);
            (chord(k - 1) * after + chord(k) * before) / (before + after)
        }
    };
    let mut slopes: Vec<f64> = (0..=last).map(slope).collect();
    // The curvature at the ends of the cubic is that of its last piece.
    if last > 1 {
        slopes[0] = 2.0 * chord(0) - slopes[1];
        slopes[last] = 2.0 * chord(last - 1) - slopes[last - 1];
    }
    AxisSpline { knots, slopes }
}

impl AxisSpline {
    fn at(&self, x: f64) -> f64 {
        let last = self.knots.len() - 1;
        let (first, end) = (self.knots[0], self.knots[last]);
        // A tail that does not decrease could not be normalised.
        if x <= first.0 {
            return first.1 + TAIL * self.slopes[0].max(0.1) * (x - first.0);
        }
        if x >= end.0 {
            return end.1 + TAIL * self.slopes[last].min(-0.1) * (x - end.0);
        }
        let k = self
            .knots
            .partition_point(|knot| knot.0 <= x)
            .clamp(1, last)
            - 1;
        let ((x0, v0), (x1, v1)) = (self.knots[k], self.knots[k + 1]);
        let (width, t) = (x1 - x0, (x - x0) / (x1 - x0));
        let (s0, s1) = (width * self.slopes[k], width * self.slopes[k + 1]);
        let (t2, t3) = (t * t, t * t * t);
        v0 * (2.0 * t3 - 3.0 * t2 + 1.0)
            + s0 * (t3 - 2.0 * t2 + t)
            + v1 * (3.0 * t2 - 2.0 * t3)
            + s1 * (t3 - t2)
    }
}

/// The point at which the tail of a side is cut off.
fn reach(spline: &AxisSpline, side: &[(f64, f64)], sign: f64) -> f64 {
    match side {
        [(at, value)] => at * (DEPTH / -value.min(-0.1)).sqrt(),
        [] => 8.0 * sign,
        _ => {
            let last = side[side.len() - 1];
            let slope = if last.0 < 0.0 {
                spline.slopes[0].max(0.1)
            } else {
                spline.slopes[spline.slopes.len() - 1].min(-0.1)
            };
            last.0 - (DEPTH + last.1).max(1.0) / (TAIL * slope)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(value: fn(f64) -> f64) -> AxisDensity {
        let [left, right] = [-1.0, 1.0].map(|sign| evaluate_side(sign, &mut |x| value(x)));
        AxisDensity::new(&left, &right)
    }

    fn moments(axis: &AxisDensity) -> (f64, f64) {
        let draws: Vec<f64> = (0..20_000)
            .map(|k| axis.quantile((f64::from(k) + 0.5) / 20_000.0).0)
            .collect();
        (
            lehr_numeric::summary::mean(&draws),
            lehr_numeric::summary::sd(&draws),
        )
    }

    #[test]
    fn the_axis_of_a_gaussian_is_that_gaussian() {
        let axis = looked(|x| -0.5 * x * x);
        let (mean, sd) = moments(&axis);
        assert!(mean.abs() < 1e-6 && (sd - 1.0).abs() < 1e-3, "{mean} {sd}");
        let (x, height) = axis.quantile(0.3);
        let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        assert!((height / density - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_tail_that_falls_by_one_nat_per_unit_is_followed() {
        // The logarithm of an exponential variable: ln density x − eˣ, the mode at 0.
        let axis = looked(|x| x - x.exp() + 1.0);
        let (mean, sd) = moments(&axis);
        // Its mean is −γ and its deviation π/√6.
        assert!((mean + 0.577).abs() < 0.1, "{mean}");
        assert!((sd / 1.2825 - 1.0).abs() < 0.12, "{sd}");
        assert!(axis.quantile(0.01).0 < -4.0);
    }

    #[test]
    fn quantiles_and_heights_are_of_one_density() {
        let axis = looked(|x| -0.5 * x * x - 0.2 * x.powi(3).max(0.0));
        for k in 1..50 {
            let share = f64::from(k) / 50.0;
            let (low, height) = axis.quantile(share - 1e-4);
            let (high, _) = axis.quantile(share + 1e-4);
            assert!((2e-4 / (high - low) / height - 1.0).abs() < 0.02, "{share}");
        }
    }
}
