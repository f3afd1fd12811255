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
//! drawn by inversion on a grid, whose values a few nodes tell where that is close enough. Groups of several are drawn from candidates, whose mean ratio is an
//! unbiased Z_g.

use std::f64::consts::TAU;

use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use super::best::{Problem, Theta};
use super::collapsed::Bench;
use super::cross::Effects;
use super::curve::{Curve, FEW, GRID, Grids, is_close};
use super::gap::{Local, Tiles, inverse_root};
use super::likelihood::{Block, Job, LANES};
use super::small;

/// How effects are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Way {
    /// All from the Gaussian.
    #[default]
    Gaussian,
    /// Groups of A from their own integrands.
    Exact,
}

/// Rounds of candidates of a group of several effects.
const ROUNDS: usize = 8;

/// Values of each row that an exact draw of groups of so many effects asks for.
pub(super) fn values_of_a_row(width: usize) -> usize {
    if width == 1 { FEW } else { ROUNDS * LANES }
}

/// Where effects are drawn: a θ, the mean there, and the block A.
pub(super) struct Drawing<'a> {
    pub(super) problem: Problem<'a>,
    pub(super) at: Theta<'a>,
    pub(super) mean: &'a Effects,
    pub(super) local: &'a Local,
    pub(super) grids: &'a Grids,
}

/// F = L_g⁻ᵀ of every group of A.
#[derive(Default)]
struct Roots {
    values: Vec<f64>,
    /// Σ ln |F|, and what the nodes miss.
    volume: f64,
    nodes: Nodes,
}

/// The means of all groups given the other effects, and the rows' predictors there.
#[derive(Clone, Copy)]
struct Centred<'a> {
    centres: &'a [f64],
    predictors: &'a [f64],
}

/// Where the integrands of groups of one effect are evaluated.
#[derive(Clone, Copy, Default, PartialEq)]
enum Nodes {
    /// At all points of the grid.
    #[default]
    All,
    /// At a few nodes, the grid between them by interpolation.
    Few,
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
            Way::Exact => self.roots(bench)?,
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
        bench.factor.coloured_all(design, &mut drawn)?;
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

    fn roots(&self, bench: &mut Bench) -> Option<Roots> {
        let design = self.problem.design;
        let width = design.width;
        let mut roots = Roots::default();
        for group in 0..self.local.groups {
            let factor = bench.factor.own_factor(design, group);
            roots.values.extend(inverse_root(factor, width));
            roots.volume -= small::log_diagonal(factor, width);
        }
        if width == 1 {
            let (nodes, lacking) = self.nodes(&roots, bench)?;
            roots.nodes = nodes;
            roots.volume += lacking;
        }
        Some(roots)
    }

    /// Few nodes unless they miss much of any group with all other effects at their means, and what they miss there
    /// of Σ ln Z. The rest of what they miss is of second order.
    fn nodes(&self, roots: &Roots, bench: &mut Bench) -> Option<(Nodes, f64)> {
        let around = Centred {
            centres: &self.mean.own,
            predictors: &self.problem.predictors(self.mean),
        };
        let all = self.tiles(around, roots, Nodes::All, bench)?;
        let few = self.tiles(around, roots, Nodes::Few, bench)?;
        let (mut exact, mut close) = ([0.0; GRID], [0.0; GRID]);
        let mut lacking = 0.0;
        for group in 0..self.local.groups {
            self.heights(&all, group, Nodes::All, &mut exact);
            self.heights(&few, group, Nodes::Few, &mut close);
            if !is_close(&exact, &close) {
                return Some((Nodes::All, 0.0));
            }
            lacking += Curve::new(&exact)?.log_integral - Curve::new(&close)?.log_integral;
        }
        Some((Nodes::Few, lacking))
    }

    /// The values of the rows at the nodes of every group.
    fn tiles<'t>(
        &'t self,
        around: Centred<'t>,
        roots: &Roots,
        nodes: Nodes,
        bench: &mut Bench,
    ) -> Option<Tiles<'t>> {
        let mut tiles = Tiles {
            local: self.local,
            rule: match nodes {
                Nodes::All => &self.grids.all,
                Nodes::Few => &self.grids.few,
            },
            prior: &self.at.given.blocks[0],
            means: around.centres,
            centres: around.centres.to_vec(),
            roots: roots.values.clone(),
            sums: Vec::new(),
        };
        tiles.values(&self.problem, self.at, around.predictors, bench)?;
        Some(tiles)
    }

    /// h of a group on the grid.
    fn heights(&self, tiles: &Tiles<'_>, group: usize, nodes: Nodes, into: &mut [f64; GRID]) {
        match nodes {
            Nodes::All => tiles.heights(group, into),
            Nodes::Few => {
                let mut few = [0.0; FEW];
                tiles.heights(group, &mut few);
                self.grids.between(&few, into);
            }
        }
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
        let around = Centred {
            centres: &centres,
            predictors: &self.problem.predictors(effects),
        };
        let tiles = self.tiles(around, roots, roots.nodes, bench)?;
        let mut heights = [0.0; GRID];
        let mut total = roots.volume + 0.5 * self.local.groups as f64 * TAU.ln();
        for (group, effect) in effects.own.iter_mut().enumerate() {
            self.heights(&tiles, group, roots.nodes, &mut heights);
            let curve = Curve::new(&heights)?;
            total += curve.log_integral;
            *effect += roots.values[group] * curve.draw(random);
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
