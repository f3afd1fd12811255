//! Draws of the effects where the response is not normal, with their weights.
//!
//! All of them may come from the best Gaussian:
//!
//! ```text
//! ln w = log p(D, u, θ) − ln N(u; m, Λ⁻¹)
//! ```
//!
//! or only those of R, and each group of A from its own integrand, whose integral is then part of the weight:
//!
//! ```text
//! ln w = Σ_g ln Z_g(u_R, θ) + ln p(u_R, θ) − ln N(u_R; m_R, S⁻¹)
//! ```
//!
//! so that thousands of small departures of A from a Gaussian have no part in it. Groups of one effect are
//! drawn by inversion on a grid. Groups of several are drawn from candidates, whose mean ratio is an
//! unbiased Z_g.

use std::f64::consts::TAU;

use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use super::best::{Problem, Theta};
use super::collapsed::Bench;
use super::cross::Effects;
use super::gap::{Local, Tiles, inverse_root};
use super::likelihood::{Block, Job, LANES};
use super::small;
use crate::start::quadrature::Rule;

/// How effects are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Way {
    /// All from the Gaussian.
    #[default]
    Gaussian,
    /// Groups of A from their own integrands.
    Exact,
}

/// Points of the grid of a group, in deviations of its Gaussian.
const GRID: usize = 24;
const REACH: f64 = 5.2;
const STEP: f64 = 2.0 * REACH / (GRID - 1) as f64;
/// Rounds of candidates of a group of several effects.
const ROUNDS: usize = 8;

/// The grid as a rule: equal steps are exact to rounding for integrands this smooth.
pub(super) fn grid() -> Rule {
    let nodes: Vec<f64> = (0..GRID).map(|k| k as f64 * STEP - REACH).collect();
    let density = |t: &f64| STEP * (-0.5 * t * t).exp() / TAU.sqrt();
    Rule {
        weights: nodes.iter().map(density).collect(),
        nodes: vec![nodes],
    }
}

/// Where effects are drawn: a θ, the mean there, and the block A.
pub(super) struct Drawing<'a> {
    pub(super) problem: Problem<'a>,
    pub(super) at: Theta<'a>,
    pub(super) mean: &'a Effects,
    pub(super) local: &'a Local,
}

/// F = L_g⁻ᵀ of every group of A, and Σ ln |F|.
#[derive(Default)]
struct Roots {
    values: Vec<f64>,
    volume: f64,
}

/// Effects with the log of their weight, but for that of θ.
pub(super) struct Weighed {
    pub(super) effects: Effects,
    pub(super) log_weight: f64,
}

/// Values at one set of effects per lane, summed over all rows.
struct Totals<'a> {
    predictors: &'a [Vec<f64>],
    sums: [f64; LANES],
}

impl Job for Totals<'_> {
    fn rounds(&self) -> usize {
        1
    }

    fn predictors(&mut self, block: &Block, into: &mut [f64]) {
        for (lane, own) in self.predictors.iter().enumerate() {
            into[lane * block.stride..][..block.range.len()]
                .copy_from_slice(&own[block.range.clone()]);
        }
    }

    fn visit(&mut self, block: &Block, found: &[f64]) {
        for lane in 0..self.predictors.len() {
            let own = &found[lane * block.stride..][..block.range.len()];
            self.sums[lane] += own.iter().sum::<f64>();
        }
    }
}

impl Drawing<'_> {
    /// So many draws. The bench holds the factor of the Gaussian.
    pub(super) fn draw(
        &self,
        way: Way,
        count: usize,
        random: &mut Stream,
        bench: &mut Bench,
    ) -> Option<Vec<Weighed>> {
        let mut found = Vec::with_capacity(count);
        let roots = match way {
            Way::Gaussian => Roots::default(),
            Way::Exact => self.roots(bench),
        };
        while found.len() < count {
            match way {
                Way::Gaussian => {
                    let some = LANES.min(count - found.len());
                    found.extend(self.gaussian(some, random, bench)?);
                }
                Way::Exact => found.push(self.exact(&roots, random, bench)?),
            }
        }
        Some(found)
    }

    /// At most [`LANES`] draws of the Gaussian.
    fn gaussian(
        &self,
        count: usize,
        random: &mut Stream,
        bench: &mut Bench,
    ) -> Option<Vec<Weighed>> {
        let design = self.problem.design;
        let mut drawn = vec![Effects::zero(design); count];
        let mut squares = Vec::with_capacity(count);
        for one in &mut drawn {
            random.fill_normal(&mut one.own);
            random.fill_normal(&mut one.others);
            squares.push(one.dot(one));
        }
        bench.factor.coloured_all(design, &mut drawn);
        for one in &mut drawn {
            one.add(1.0, self.mean);
        }
        let predictors: Vec<Vec<f64>> = drawn
            .iter()
            .map(|one| self.problem.predictors(one))
            .collect();
        let mut totals = Totals {
            predictors: &predictors,
            sums: [0.0; LANES],
        };
        let log_det = bench.factor.log_det;
        let likelihood = self.problem.likelihood;
        likelihood.values(
            self.problem.parts,
            self.at.theta,
            bench.desk()?,
            &mut totals,
        );
        let sums = totals.sums;
        let weigh = |(k, effects): (usize, Effects)| {
            let prior = self.problem.log_prior(self.at.given, &effects);
            let own = 0.5 * (log_det - squares[k] - effects.len() as f64 * TAU.ln());
            Weighed {
                log_weight: sums[k] + prior - own,
                effects,
            }
        };
        Some(drawn.into_iter().enumerate().map(weigh).collect())
    }

    /// One draw with A from its own integrands.
    fn exact(&self, roots: &Roots, random: &mut Stream, bench: &mut Bench) -> Option<Weighed> {
        let design = self.problem.design;
        let mut drawn = Effects::zero(design);
        random.fill_normal(&mut drawn.others);
        let square = small::dot(&drawn.others, &drawn.others);
        let own = bench.factor.log_rest(design) - 0.5 * (square + design.rest as f64 * TAU.ln());
        // With no noise of its own, a group is at its mean given R.
        let mut effects = bench.factor.coloured(design, &drawn);
        effects.add(1.0, self.mean);
        let mut rest = effects.clone();
        rest.own.fill(0.0);
        let prior = self.problem.log_prior(self.at.given, &rest);
        let log_integrals = if design.width == 1 {
            self.invert(roots, &mut effects, random, bench)?
        } else {
            self.choose(roots, &mut effects, random, bench)?
        };
        Some(Weighed {
            effects,
            log_weight: log_integrals + prior - own,
        })
    }

    fn roots(&self, bench: &Bench) -> Roots {
        let design = self.problem.design;
        let width = design.width;
        let mut values = Vec::with_capacity(self.local.groups * width * width);
        let mut volume = 0.0;
        for group in 0..self.local.groups {
            let factor = bench.factor.own_factor(design, group);
            values.extend(inverse_root(factor, width));
            volume -= small::log_diagonal(factor, width);
        }
        Roots { values, volume }
    }

    /// Draws each group, of one effect, by inversion; returns Σ ln Z.
    fn invert(
        &self,
        roots: &Roots,
        effects: &mut Effects,
        random: &mut Stream,
        bench: &mut Bench,
    ) -> Option<f64> {
        let centres = effects.own.clone();
        let predictors = self.problem.predictors(effects);
        let mut tiles = Tiles {
            local: self.local,
            prior: &self.at.given.blocks[0],
            means: &centres,
            centres: centres.clone(),
            roots: roots.values.clone(),
            sums: Vec::new(),
        };
        tiles.values(&self.problem, self.at, &predictors, bench)?;
        let mut heights = [0.0; GRID];
        let mut total = roots.volume + 0.5 * self.local.groups as f64 * TAU.ln();
        for (group, effect) in effects.own.iter_mut().enumerate() {
            tiles.heights(group, &mut heights);
            let curve = Curve::new(&heights)?;
            total += curve.log_integral;
            *effect += tiles.roots[group] * curve.draw(random);
        }
        Some(total)
    }

    /// Draws each group from candidates of its Gaussian; returns Σ ln of their mean ratio.
    fn choose(
        &self,
        roots: &Roots,
        effects: &mut Effects,
        random: &mut Stream,
        bench: &mut Bench,
    ) -> Option<f64> {
        let width = self.problem.design.width;
        let centres = effects.own.clone();
        let predictors = self.problem.predictors(effects);
        let groups = self.local.groups;
        let mut sums = vec![f64::NEG_INFINITY; groups];
        for _ in 0..ROUNDS {
            let mut candidates = Candidates::new(self, &predictors, &roots.values, random);
            let likelihood = self.problem.likelihood;
            likelihood.values(
                self.problem.parts,
                self.at.theta,
                bench.desk()?,
                &mut candidates,
            );
            for (group, sum) in sums.iter_mut().enumerate() {
                for lane in 0..LANES {
                    let moved = candidates.moved(group, lane);
                    let centre = &centres[group * width..][..width];
                    let v: Vec<f64> = centre.iter().zip(moved).map(|(c, m)| c + m).collect();
                    let ratio = candidates.ratio(group, lane, &v);
                    let both = log_sum(*sum, ratio);
                    if both > f64::NEG_INFINITY && random.uniform() < (ratio - both).exp() {
                        effects.own[group * width..][..width].copy_from_slice(&v);
                    }
                    *sum = both;
                }
            }
        }
        let count = ((ROUNDS * LANES) as f64).ln();
        let constant = roots.volume + 0.5 * (groups * width) as f64 * TAU.ln();
        Some(sums.iter().sum::<f64>() - groups as f64 * count + constant)
    }
}

/// ln(eᵃ + eᵇ)
fn log_sum(a: f64, b: f64) -> f64 {
    let top = a.max(b);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + ((a - top).exp() + (b - top).exp()).ln()
}

/// [`LANES`] candidates of each group, and the sums of their rows' values.
struct Candidates<'a> {
    drawing: &'a Drawing<'a>,
    predictors: &'a [f64],
    width: usize,
    /// Standard normals, lane after lane of each group.
    normals: Vec<f64>,
    /// F times those.
    moves: Vec<f64>,
    sums: Vec<f64>,
}

impl<'a> Candidates<'a> {
    fn new(
        drawing: &'a Drawing<'a>,
        predictors: &'a [f64],
        roots: &[f64],
        random: &mut Stream,
    ) -> Candidates<'a> {
        let width = drawing.problem.design.width;
        let mut normals = vec![0.0; drawing.local.groups * LANES * width];
        random.fill_normal(&mut normals);
        let mut moves = Vec::with_capacity(normals.len());
        let groups = normals.chunks_exact(LANES * width);
        for (own, root) in groups.zip(roots.chunks_exact(width * width)) {
            for t in own.chunks_exact(width) {
                moves.extend(small::apply(root, t));
            }
        }
        Candidates {
            drawing,
            predictors,
            width,
            normals,
            moves,
            sums: vec![0.0; drawing.local.groups * LANES],
        }
    }

    fn moved(&self, group: usize, lane: usize) -> &[f64] {
        &self.moves[(group * LANES + lane) * self.width..][..self.width]
    }

    /// ln of integrand over proposal, up to a constant.
    fn ratio(&self, group: usize, lane: usize, v: &[f64]) -> f64 {
        let prior = &self.drawing.at.given.blocks[0];
        let t = &self.normals[(group * LANES + lane) * self.width..][..self.width];
        self.sums[group * LANES + lane] - 0.5 * small::form(&prior.precision, v)
            + small::dot(&prior.linear, v)
            + 0.5 * small::dot(t, t)
    }
}

impl Job for Candidates<'_> {
    fn rounds(&self) -> usize {
        1
    }

    fn predictors(&mut self, block: &Block, into: &mut [f64]) {
        let design = self.drawing.problem.design;
        for (k, row) in block.range.clone().enumerate() {
            let group = self.drawing.local.codes[row] as usize;
            let z = &design.own[row * self.width..][..self.width];
            for lane in 0..LANES {
                into[lane * block.stride + k] =
                    self.predictors[row] + small::dot(z, self.moved(group, lane));
            }
        }
    }

    fn visit(&mut self, block: &Block, found: &[f64]) {
        for (k, row) in block.range.clone().enumerate() {
            let group = self.drawing.local.codes[row] as usize;
            for (lane, sum) in self.sums[group * LANES..][..LANES].iter_mut().enumerate() {
                *sum += found[lane * block.stride + k];
            }
        }
    }
}

/// The density e^{h(t) − ½t²} of a group on its grid, h a parabola in each cell.
struct Curve {
    heights: [f64; GRID],
    /// What h is in the middle of each cell beyond the mean of its ends.
    bulges: [f64; GRID - 1],
    /// The mass below each point.
    below: [f64; GRID],
    /// ln ∫ N(t; 0, 1) e^{h(t)} dt
    log_integral: f64,
}

impl Curve {
    fn new(heights: &[f64; GRID]) -> Option<Curve> {
        let top = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return None;
        }
        let density = |k: usize| {
            let t = k as f64 * STEP - REACH;
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
    fn draw(&self, random: &mut Stream) -> f64 {
        let wanted = random.uniform() * self.below[GRID - 1];
        let above = self.below.partition_point(|below| *below < wanted);
        let cell = above.clamp(1, GRID - 1) - 1;
        let start = cell as f64 * STEP - REACH;
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
        let nodes = &grid().nodes[0];
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
}
