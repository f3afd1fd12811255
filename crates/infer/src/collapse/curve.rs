//! The integrand of a group of one effect on a grid: its integral, and draws of it.

use std::f64::consts::TAU;

use lehr_numeric::stream::Stream;

use super::small;
use crate::start::quadrature::Rule;

/// Points of the grid of a group, in deviations of its Gaussian.
pub(super) const GRID: usize = 24;
const REACH: f64 = 5.2;
const STEP: f64 = 2.0 * REACH / (GRID - 1) as f64;
/// Nodes that tell the values on the grid where they are smooth.
pub(super) const FEW: usize = 8;
/// How far the interpolated logarithm of an integrand may be off at its top, and so much more where there is
/// less of it. Means of its draws are then off by less than 0.003 deviations.
const CLOSE: f64 = 0.02;

/// The grid and the few nodes that may stand for it.
pub(super) struct Grids {
    /// Equal steps are exact to rounding for integrands this smooth.
    pub(super) all: Rule,
    /// Those of Gauss and Hermite.
    pub(super) few: Rule,
    /// What each node has to do with each point of the grid.
    shares: Vec<[f64; FEW]>,
}

fn place(k: usize) -> f64 {
    k as f64 * STEP - REACH
}

impl Grids {
    pub(super) fn new() -> Grids {
        let points: Vec<f64> = (0..GRID).map(place).collect();
        let density = |t: &f64| STEP * (-0.5 * t * t).exp() / TAU.sqrt();
        let few = Rule::gauss_hermite(FEW);
        let nodes = &few.nodes[0];
        Grids {
            shares: points.iter().map(|t| shares(nodes, *t)).collect(),
            all: Rule {
                weights: points.iter().map(density).collect(),
                nodes: vec![points],
            },
            few,
        }
    }

    /// The values on the grid of the polynomial through those at the few nodes, and of straight lines beyond them.
    pub(super) fn between(&self, few: &[f64; FEW], into: &mut [f64; GRID]) {
        for (value, shares) in into.iter_mut().zip(&self.shares) {
            *value = small::dot(shares, few);
        }
    }
}

/// Lagrange's polynomials of some nodes at a point; beyond the outermost ones, their tangents there.
fn shares(nodes: &[f64], t: f64) -> [f64; FEW] {
    let low = nodes.iter().copied().fold(f64::INFINITY, f64::min);
    let high = nodes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let inside = t.clamp(low, high);
    let mut shares = [0.0; FEW];
    for (k, share) in shares.iter_mut().enumerate() {
        let others = || nodes.iter().enumerate().filter(move |(j, _)| *j != k);
        let value: f64 = others()
            .map(|(_, x)| (inside - x) / (nodes[k] - x))
            .product();
        let slope: f64 = others()
            .map(|(j, x)| {
                let rest = others().filter(|(other, _)| *other != j);
                let rest: f64 = rest.map(|(_, y)| (inside - y) / (nodes[k] - y)).product();
                rest / (nodes[k] - x)
            })
            .sum();
        *share = value + slope * (t - inside);
    }
    shares
}

/// Whether interpolated values may stand for the exact ones.
pub(super) fn is_close(exact: &[f64; GRID], close: &[f64; GRID]) -> bool {
    let log_density = |k: usize| exact[k] - 0.5 * place(k).powi(2);
    let top = (0..GRID).map(log_density).fold(f64::NEG_INFINITY, f64::max);
    (0..GRID).all(|k| (exact[k] - close[k]).abs() * (log_density(k) - top).exp() < CLOSE)
}

/// The density e^{h(t) − ½t²} of a group on its grid, h a parabola in each cell.
pub(super) struct Curve {
    heights: [f64; GRID],
    /// What h is in the middle of each cell beyond the mean of its ends.
    bulges: [f64; GRID - 1],
    /// The mass below each point.
    below: [f64; GRID],
    /// ln ∫ N(t; 0, 1) e^{h(t)} dt
    pub(super) log_integral: f64,
}

impl Curve {
    pub(super) fn new(heights: &[f64; GRID]) -> Option<Curve> {
        let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return None;
        }
        let density = |k: usize| {
            let t = place(k);
            (heights[k] - top - 0.5 * t * t).exp()
        };
        let (mut bulges, mut below) = ([0.0; GRID - 1], [0.0; GRID]);
        let mut left = density(0);
        let mut sum = left;
        // −½t² alone is so much more in the middle.
        let own = (STEP * STEP / 8.0).exp();
        for k in 0..GRID - 1 {
            let right = density(k + 1);
            let bulge = bulge(heights, k);
            let middle = (left * right).sqrt() * own * (1.0 + bulge + 0.5 * bulge * bulge);
            // Simpson's rule.
            below[k + 1] = below[k] + STEP / 6.0 * (left + 4.0 * middle + right);
            bulges[k] = bulge;
            sum += right;
            left = right;
        }
        Some(Curve {
            heights: *heights,
            bulges,
            below,
            log_integral: top + (sum * STEP / TAU.sqrt()).ln(),
        })
    }

    /// A draw: a cell by its mass, then a point of it by rejection.
    pub(super) fn draw(&self, random: &mut Stream) -> f64 {
        let wanted = random.uniform() * self.below[GRID - 1];
        let above = self.below.partition_point(|below| *below < wanted);
        let cell = above.clamp(1, GRID - 1) - 1;
        let start = place(cell);
        let slope = (self.heights[cell + 1] - self.heights[cell]) / STEP;
        let bulge = self.bulges[cell];
        let line = |t: f64| slope * (t - start) - 0.5 * t * t;
        let top = line(slope.clamp(start, start + STEP)) + bulge.max(0.0);
        loop {
            let share = random.uniform();
            let t = start + STEP * share;
            let value = line(t) + 4.0 * bulge * share * (1.0 - share);
            if random.uniform() < (value - top).exp() {
                return t;
            }
        }
    }
}

/// What the cubic through the four points around a cell is in its middle, less the mean of its ends.
fn bulge(heights: &[f64; GRID], cell: usize) -> f64 {
    let first = cell.saturating_sub(1).min(GRID - 4);
    let weights = match cell - first {
        0 => [-0.1875, 0.4375, -0.3125, 0.0625],
        1 => [-0.0625, 0.0625, 0.0625, -0.0625],
        _ => [0.0625, -0.3125, 0.4375, -0.1875],
    };
    small::dot(&weights, &heights[first..first + 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_on_a_grid_have_the_moments_of_the_density() {
        // Skewed as a binary response makes it.
        let h = |t: f64| 1.4 * t - 0.9 * (2.0 * t).exp().ln_1p();
        let nodes = &Grids::new().all.nodes[0];
        let mut heights = [0.0; GRID];
        for (height, t) in heights.iter_mut().zip(nodes) {
            *height = h(*t);
        }
        let curve = Curve::new(&heights).unwrap();
        let mut random = Stream::new(3, "grid", 0);
        let draws: Vec<f64> = (0..40_000).map(|_| curve.draw(&mut random)).collect();
        let (mut mass, mut sums) = (0.0, [0.0; 2]);
        for k in 0..20_000 {
            let t = f64::from(k) * 1e-3 - 10.0;
            let density = (h(t) - 0.5 * t * t).exp() * 1e-3;
            mass += density;
            sums[0] += density * t;
            sums[1] += density * t * t;
        }
        let mean = sums[0] / mass;
        let sd = (sums[1] / mass - mean * mean).sqrt();
        let log_integral = (mass / TAU.sqrt()).ln();
        assert!((curve.log_integral - log_integral).abs() < 1e-6);
        let found = lehr_numeric::summary::mean(&draws);
        assert!((found - mean).abs() < 4.0 * sd / 200.0, "{found} {mean}");
        let found = lehr_numeric::summary::sd(&draws);
        assert!((found / sd - 1.0).abs() < 4.0 / 283.0, "{found} {sd}");
    }
    #[test]
    fn a_few_nodes_tell_a_smooth_integrand_and_not_a_rough_one() {
        let grids = Grids::new();
        let both = |h: &dyn Fn(f64) -> f64| {
            let at = |nodes: &[f64], k: usize| h(nodes[k]);
            let few: [f64; FEW] = std::array::from_fn(|k| at(&grids.few.nodes[0], k));
            let exact: [f64; GRID] = std::array::from_fn(|k| at(&grids.all.nodes[0], k));
            let mut close = [0.0; GRID];
            grids.between(&few, &mut close);
            (exact, close)
        };
        // Inside the outermost nodes polynomials of their degree are exact, and beyond them lines.
        let (exact, close) = both(&|t| 0.3 - t + 0.2 * t.powi(3) - 0.01 * t.powi(7));
        for k in (0..GRID).filter(|k| place(*k).abs() < 4.1) {
            assert!((exact[k] - close[k]).abs() < 1e-9, "{k}");
        }
        let (exact, close) = both(&|t| 0.3 - t);
        assert!((0..GRID).all(|k| (exact[k] - close[k]).abs() < 1e-12));
        let (exact, close) = both(&|t| 1.4 * t - 0.9 * (1.2 * t).exp().ln_1p());
        assert!(is_close(&exact, &close));
        let (exact, close) = both(&|t| 3.0 * t - 4.0 * (6.0 * t).exp().ln_1p());
        assert!(!is_close(&exact, &close));
    }
}
