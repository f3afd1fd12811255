//! The densities of groups with one effect on a grid: their integrals, and draws from them.
#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the dispatched function is compiled without its instructions"
)]

use std::f64::consts::TAU;

use lehr_graph::SimdLevel;
use lehr_graph::math::{exp, map};
use lehr_numeric::quadrature::Rule;
use lehr_numeric::stream::Stream;
use pulp::{Simd, WithSimd};

/// Points of a group's grid, in standard deviations of its Gaussian.
pub(crate) const GRID: usize = 24;
const REACH: f64 = 5.2;
const STEP: f64 = 2.0 * REACH / (GRID - 1) as f64;
/// Nodes from which the grid is interpolated if the integrand is smooth.
pub(crate) const FEW: usize = 8;
/// The largest error of the interpolated logarithm of an integrand at its maximum; it may be larger
/// in proportion where the integrand is smaller. Means of its draws are then wrong by less than
/// 0.003 standard deviations.
const CLOSE: f64 = 0.02;
/// Groups that are processed together.
pub(crate) const GROUPS: usize = 8;

/// One number of each of those groups.
pub(crate) type GroupLanes = [f64; GROUPS];

/// The grid, and the few nodes that may replace it.
pub(crate) struct GridNodes {
    /// Equal steps, which are exact to rounding for integrands this smooth.
    pub(crate) all: Rule,
    /// Gauss–Hermite nodes.
    pub(crate) few: Rule,
    /// The weight of each node in the interpolation at each grid point.
    shares: Vec<[f64; FEW]>,
}

fn place(k: usize) -> f64 {
    k as f64 * STEP - REACH
}

impl GridNodes {
    pub(crate) fn new() -> GridNodes {
        let points: Vec<f64> = (0..GRID).map(place).collect();
        let density = |t: &f64| STEP * (-0.5 * t * t).exp() / TAU.sqrt();
        let few = Rule::gauss_hermite(FEW);
        let nodes = &few.nodes[0];
        GridNodes {
            shares: points.iter().map(|t| shares(nodes, *t)).collect(),
            all: Rule {
                weights: points.iter().map(density).collect(),
                nodes: vec![points],
            },
            few,
        }
    }

    /// Interpolates to the grid by the polynomial through the few nodes, and by straight lines
    /// beyond them.
    #[inline(always)]
    fn interpolate(&self, few: &[GroupLanes; FEW], into: &mut [GroupLanes; GRID]) {
        for (values, shares) in into.iter_mut().zip(&self.shares) {
            let mut sums = [0.0; GROUPS];
            for (share, few) in shares.iter().zip(few) {
                let pairs = sums.iter_mut().zip(few);
                pairs.for_each(|(sum, value)| *sum += share * value);
            }
            *values = sums;
        }
    }
}

/// Lagrange polynomials of the nodes at a point; beyond the outermost nodes, their tangents there.
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

/// The densities e^{h(t) − ½t²} of some groups on their grids, where h is a parabola in each cell.
pub(crate) struct GroupDensityGrid {
    /// h
    heights: [GroupLanes; GRID],
    densities: [GroupLanes; GRID],
    /// The excess of h in the middle of each cell over the mean of its ends.
    bulges: [GroupLanes; GRID - 1],
    /// The mass below each point.
    below: [GroupLanes; GRID],
    /// ln ∫ N(t; 0, 1) e^{h(t)} dt
    pub(crate) log_integrals: GroupLanes,
}

/// The source of heights.
#[derive(Clone, Copy)]
pub(crate) enum LogHeights<'a> {
    /// Those at all points of the grid.
    All(&'a [GroupLanes; GRID]),
    /// The heights at a few nodes, interpolated to the grid.
    Few(&'a [GroupLanes; FEW], &'a GridNodes),
}

/// Fills curves with the vector instructions of the machine.
struct GridFill<'a> {
    curves: &'a mut GroupDensityGrid,
    heights: LogHeights<'a>,
}

impl WithSimd for GridFill<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let GridFill { curves, heights } = self;
        match heights {
            LogHeights::All(all) => curves.heights = *all,
            LogHeights::Few(few, grids) => grids.interpolate(few, &mut curves.heights),
        }
        let tops = curves.tops();
        let mut exponents = [[0.0; GROUPS]; GRID];
        for (k, own) in exponents.iter_mut().enumerate() {
            let t = place(k);
            for (g, exponent) in own.iter_mut().enumerate() {
                *exponent = curves.heights[k][g] - tops[g] - 0.5 * t * t;
            }
        }
        let into = curves.densities.as_flattened_mut();
        map(
            simd,
            exponents.as_flattened(),
            into,
            #[inline(always)]
            |simd, x| exp(simd, x),
        );
        curves.sum(&tops);
    }
}

impl GroupDensityGrid {
    pub(crate) fn new() -> Box<GroupDensityGrid> {
        let none = [[0.0; GROUPS]; GRID];
        Box::new(GroupDensityGrid {
            heights: none,
            densities: none,
            bulges: [[0.0; GROUPS]; GRID - 1],
            below: none,
            log_integrals: [0.0; GROUPS],
        })
    }

    /// Replaces the groups. The integral of a group without a finite height is NaN.
    pub(crate) fn fill(&mut self, heights: LogHeights<'_>) {
        SimdLevel::arch_of_process().dispatch(GridFill {
            curves: self,
            heights,
        });
    }

    #[inline(always)]
    fn tops(&self) -> GroupLanes {
        let mut tops = [f64::NEG_INFINITY; GROUPS];
        for own in &self.heights {
            let pairs = tops.iter_mut().zip(own);
            pairs.for_each(|(top, height)| *top = if *height > *top { *height } else { *top });
        }
        tops
    }

    /// Masses by Simpson's rule, and integrals by equal steps.
    #[inline(always)]
    fn sum(&mut self, tops: &GroupLanes) {
        // The excess of −½t² in the middle of a cell.
        let own = (STEP * STEP / 8.0).exp();
        let mut sums = self.densities[0];
        for k in 0..GRID - 1 {
            let first = k.saturating_sub(1).min(GRID - 4);
            let weights = bulge_weights(k - first);
            for (g, sum) in sums.iter_mut().enumerate() {
                let around = (0..4).map(|i| weights[i] * self.heights[first + i][g]);
                let bulge: f64 = around.sum();
                let (left, right) = (self.densities[k][g], self.densities[k + 1][g]);
                let middle = (left * right).sqrt() * own * (1.0 + bulge + 0.5 * bulge * bulge);
                self.bulges[k][g] = bulge;
                self.below[k + 1][g] =
                    self.below[k][g] + STEP / 6.0 * (left + 4.0 * middle + right);
                *sum += right;
            }
        }
        for (g, found) in self.log_integrals.iter_mut().enumerate() {
            *found = tops[g] + (sums[g] * STEP / TAU.sqrt()).ln();
        }
    }

    /// A draw of one of the groups: a cell by its mass, then a point of it by rejection.
    pub(crate) fn draw(&self, group: usize, random: &mut Stream) -> f64 {
        let wanted = random.uniform() * self.below[GRID - 1][group];
        let above = self.below.partition_point(|below| below[group] < wanted);
        let cell = above.clamp(1, GRID - 1) - 1;
        let start = place(cell);
        let slope = (self.heights[cell + 1][group] - self.heights[cell][group]) / STEP;
        let bulge = self.bulges[cell][group];
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

    /// Whether the interpolated values are accurate enough in each of the groups.
    pub(crate) fn are_close(&self, close: &GroupDensityGrid, groups: usize) -> bool {
        (0..groups).all(|g| {
            let log_density = |k: usize| self.heights[k][g] - 0.5 * place(k).powi(2);
            let top = (0..GRID).map(log_density).fold(f64::NEG_INFINITY, f64::max);
            (0..GRID).all(|k| {
                let off = (self.heights[k][g] - close.heights[k][g]).abs();
                off * (log_density(k) - top).exp() < CLOSE
            })
        })
    }
}

/// Weights of the cubic through four points in the middle of one of their cells, less the mean of
/// its ends.
#[inline(always)]
fn bulge_weights(cell: usize) -> [f64; 4] {
    match cell {
        0 => [-0.1875, 0.4375, -0.3125, 0.0625],
        1 => [-0.0625, 0.0625, 0.0625, -0.0625],
        _ => [0.0625, -0.3125, 0.4375, -0.1875],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same heights for every group.
    fn at<const N: usize>(nodes: &[f64], h: impl Fn(f64) -> f64) -> [GroupLanes; N] {
        std::array::from_fn(|k| [h(nodes[k]); GROUPS])
    }

    #[test]
    fn draws_on_a_grid_have_the_moments_of_the_density() {
        // Skewed as a binary response makes it.
        let h = |t: f64| 1.4 * t - 0.9 * (2.0 * t).exp().ln_1p();
        let mut curves = GroupDensityGrid::new();
        let mut heights = at(&GridNodes::new().all.nodes[0], h);
        // Other groups have no influence.
        for (k, own) in heights.iter_mut().enumerate() {
            own[0] = k as f64;
        }
        curves.fill(LogHeights::All(&heights));
        let mut random = Stream::new(3, "grid", 0);
        let draws: Vec<f64> = (0..40_000).map(|_| curves.draw(5, &mut random)).collect();
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
        assert!((curves.log_integrals[5] - log_integral).abs() < 1e-6);
        let found = lehr_numeric::summary::mean(&draws);
        assert!((found - mean).abs() < 4.0 * sd / 200.0, "{found} {mean}");
        let found = lehr_numeric::summary::sd(&draws);
        assert!((found / sd - 1.0).abs() < 4.0 / 283.0, "{found} {sd}");
    }

    #[test]
    fn a_height_that_is_not_a_number_has_no_integral() {
        let mut curves = GroupDensityGrid::new();
        let mut heights = [[0.0; GROUPS]; GRID];
        heights[7][2] = f64::NAN;
        for own in &mut heights {
            own[3] = f64::NEG_INFINITY;
        }
        curves.fill(LogHeights::All(&heights));
        for (g, found) in curves.log_integrals.iter().enumerate() {
            assert_eq!(found.is_finite(), g != 2 && g != 3, "{g}");
        }
    }

    #[test]
    fn a_few_nodes_tell_a_smooth_integrand_and_not_a_rough_one() {
        let grids = GridNodes::new();
        let both = |h: &dyn Fn(f64) -> f64| {
            let (mut exact, mut close) = (GroupDensityGrid::new(), GroupDensityGrid::new());
            exact.fill(LogHeights::All(&at(&grids.all.nodes[0], h)));
            close.fill(LogHeights::Few(&at(&grids.few.nodes[0], h), &grids));
            (exact, close)
        };
        let off = |(exact, close): (Box<GroupDensityGrid>, Box<GroupDensityGrid>), reach: f64| {
            let warm_start = (0..GRID).filter(|k| place(*k).abs() < reach);
            let off = warm_start.map(|k| (exact.heights[k][1] - close.heights[k][1]).abs());
            off.fold(0.0, f64::max)
        };
        // Between the outermost nodes polynomials of their degree are exact, and lines are exact
        // beyond them.
        let polynomial = both(&|t| 0.3 - t + 0.2 * t.powi(3) - 0.01 * t.powi(7));
        assert!(off(polynomial, 4.1) < 1e-9);
        assert!(off(both(&|t| 0.3 - t), f64::INFINITY) < 1e-12);
        let (exact, close) = both(&|t| 1.4 * t - 0.9 * (1.2 * t).exp().ln_1p());
        assert!(exact.are_close(&close, GROUPS));
        let (exact, close) = both(&|t| 3.0 * t - 4.0 * (6.0 * t).exp().ln_1p());
        assert!(!exact.are_close(&close, GROUPS));
    }
}
