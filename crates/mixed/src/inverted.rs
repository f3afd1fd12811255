//! Inverse-CDF draws of groups with one effect from their own integrands on a grid, which is
//! interpolated from a few nodes if that is accurate enough.

use std::f64::consts::TAU;

use lehr_numeric::stream::Stream;

use crate::cross::Effects;
use crate::curve::{Curves, Each, FEW, GRID, GROUPS, Heights};
use crate::drawing::{Drawing, Roots, Weighed};
use crate::likelihood::{Block, Job, LANES};
use crate::workspace::MixedWorkspace;

/// Sums of the rows' values that are in memory at a time.
const MOST_SUMS: usize = 1 << 21;

/// The integrands of all groups of A.
pub(crate) struct Inverted<'a> {
    drawing: &'a Drawing<'a>,
    roots: &'a Roots,
    /// The change of each row's predictor per standard deviation of its group: z F.
    along: Vec<f64>,
}

/// The nodes at which integrands are evaluated.
#[derive(Clone, Copy, PartialEq)]
enum Nodes {
    /// At all points of the grid.
    All,
    /// At a few nodes.
    Few,
}

/// The groups' means given the other effects, and the sums of their rows' values, one node after
/// another.
struct Integrands<'a> {
    centres: &'a [f64],
    sums: &'a [f64],
}

impl<'a> Inverted<'a> {
    pub(crate) fn new(drawing: &'a Drawing<'a>, roots: &'a Roots) -> Inverted<'a> {
        let rows = drawing.local.codes.iter().zip(&drawing.problem.design.own);
        let along = rows.map(|(code, z)| z * roots.values[*code as usize]);
        Inverted {
            drawing,
            roots,
            along: along.collect(),
        }
    }

    /// Draws each group given the other effects of each draw, and adds Σ ln Z to its weight.
    pub(crate) fn draw(
        &self,
        drawn: &mut [Weighed],
        random: &mut Stream,
        bench: &mut MixedWorkspace,
    ) -> Option<()> {
        let groups = self.drawing.local.groups;
        let (nodes, lacking) = self.nodes(bench)?;
        let constant = self.roots.volume + lacking + 0.5 * groups as f64 * TAU.ln();
        let mut curves = Curves::new();
        let size = groups * self.places(nodes).len();
        for some in drawn.chunks_mut((MOST_SUMS / size).max(1)) {
            let effects: Vec<&Effects> = some.iter().map(|one| &one.effects).collect();
            let sums = self.sums(&effects, nodes, bench)?;
            for (one, sums) in some.iter_mut().zip(sums.chunks_exact(size)) {
                let mut effects = one.effects.own.clone();
                let of = Integrands {
                    centres: &one.effects.own,
                    sums,
                };
                let total = self.each(&of, nodes, &mut curves, |curves, groups| {
                    for (k, group) in groups.enumerate() {
                        effects[group] += self.roots.values[group] * curves.draw(k, random);
                    }
                });
                one.effects.own = effects;
                one.log_weight += constant + total?;
            }
        }
        Some(())
    }

    /// Few nodes, unless they are inaccurate for any group with all other effects at their means,
    /// and their error there in Σ ln Z. The remaining error is of second order.
    fn nodes(&self, bench: &mut MixedWorkspace) -> Option<(Nodes, f64)> {
        let mean = self.drawing.mean;
        let [all, few] = [Nodes::All, Nodes::Few].map(|nodes| self.sums(&[mean], nodes, bench));
        let (all, few) = (all?, few?);
        let of = |sums| Integrands {
            centres: &mean.own,
            sums,
        };
        let (mut curves, mut close) = (Curves::new(), Curves::new());
        let (mut serve, mut approximate) = (true, 0.0);
        let exact = self.each(&of(&all), Nodes::All, &mut curves, |curves, groups| {
            self.fill(&of(&few), Nodes::Few, groups.clone(), &mut close);
            serve &= curves.are_close(&close, groups.len());
            approximate += close.log_integrals[..groups.len()].iter().sum::<f64>();
        })?;
        Some(if serve {
            (Nodes::Few, exact - approximate)
        } else {
            (Nodes::All, 0.0)
        })
    }

    /// Passes on the curves of some groups after others; returns the sum of their log integrals.
    fn each(
        &self,
        of: &Integrands<'_>,
        nodes: Nodes,
        curves: &mut Curves,
        mut see: impl FnMut(&Curves, std::ops::Range<usize>),
    ) -> Option<f64> {
        let groups = self.drawing.local.groups;
        let mut total = 0.0;
        for first in (0..groups).step_by(GROUPS) {
            let some = first..(first + GROUPS).min(groups);
            self.fill(of, nodes, some.clone(), curves);
            let sum: f64 = curves.log_integrals[..some.len()].iter().sum();
            if !sum.is_finite() {
                return None;
            }
            total += sum;
            see(curves, some);
        }
        Some(total)
    }

    fn fill(
        &self,
        of: &Integrands<'_>,
        nodes: Nodes,
        groups: std::ops::Range<usize>,
        curves: &mut Curves,
    ) {
        let grids = self.drawing.grids;
        match nodes {
            Nodes::All => curves.fill(Heights::All(&self.heights::<GRID>(of, nodes, groups))),
            Nodes::Few => {
                let few = self.heights::<FEW>(of, nodes, groups);
                curves.fill(Heights::Few(&few, grids));
            }
        }
    }

    /// h of some groups at all nodes, up to a constant; missing ones up to [`GROUPS`] repeat the
    /// last.
    fn heights<const N: usize>(
        &self,
        of: &Integrands<'_>,
        nodes: Nodes,
        groups: std::ops::Range<usize>,
    ) -> [Each; N] {
        let prior = &self.drawing.at.given.blocks[0];
        let (precision, linear) = (prior.precision[0], prior.linear[0]);
        let (places, count) = (self.places(nodes), self.drawing.local.groups);
        let mut found = [[0.0; GROUPS]; N];
        for (k, own) in found.iter_mut().enumerate() {
            let t = places[k];
            for (g, height) in own.iter_mut().enumerate() {
                let group = (groups.start + g).min(groups.end - 1);
                let v = of.centres[group] + self.roots.values[group] * t;
                let prior = v * (linear - 0.5 * precision * v);
                *height = of.sums[k * count + group] + prior + 0.5 * t * t;
            }
        }
        found
    }

    fn places(&self, nodes: Nodes) -> &'a [f64] {
        let grids = self.drawing.grids;
        match nodes {
            Nodes::All => &grids.all.nodes[0],
            Nodes::Few => &grids.few.nodes[0],
        }
    }

    /// The sums of the rows' values at the nodes of their groups around these effects, one set of
    /// effects after another.
    fn sums(
        &self,
        effects: &[&Effects],
        nodes: Nodes,
        bench: &mut MixedWorkspace,
    ) -> Option<Vec<f64>> {
        let places = self.places(nodes);
        let groups = self.drawing.local.groups;
        let mut job = Summed {
            inverted: self,
            places,
            effects,
            sums: vec![0.0; effects.len() * places.len() * groups],
        };
        let (problem, theta) = (&self.drawing.problem, self.drawing.at.theta);
        let desk = bench.desk()?;
        problem
            .likelihood
            .values(problem.parts, theta, desk, &mut job);
        Some(job.sums)
    }
}

/// Sums values by set of effects, node and group.
struct Summed<'a> {
    inverted: &'a Inverted<'a>,
    places: &'a [f64],
    effects: &'a [&'a Effects],
    sums: Vec<f64>,
}

impl Job for Summed<'_> {
    fn rounds(&self) -> usize {
        self.effects.len() * self.places.len() / LANES
    }

    fn predictors(&mut self, block: &Block, into: &mut [f64]) {
        let first = block.round * LANES;
        let effects = self.effects[first / self.places.len()];
        let (centres, others) = into.split_at_mut(block.stride);
        let centres = &mut centres[..block.range.len()];
        let problem = &self.inverted.drawing.problem;
        problem.predict(effects, block.range.clone(), centres);
        let along = &self.inverted.along[block.range.clone()];
        let places = &self.places[first % self.places.len()..][..LANES];
        for (own, t) in others.chunks_exact_mut(block.stride).zip(&places[1..]) {
            let rows = centres.iter().zip(along);
            for (predictor, (centre, along)) in own.iter_mut().zip(rows) {
                *predictor = centre + along * t;
            }
        }
        let rows = centres.iter_mut().zip(along);
        rows.for_each(|(centre, along)| *centre += along * places[0]);
    }

    /// The rows of a group of A are contiguous.
    fn visit(&mut self, block: &Block, found: &[f64]) {
        let drawing = self.inverted.drawing;
        let (groups, ends) = (drawing.local.groups, &drawing.problem.design.first[1..]);
        let first = drawing.problem.design.group_of(block.range.start);
        let sums = self.sums[block.round * LANES * groups..].chunks_exact_mut(groups);
        for (sums, found) in sums.zip(found.chunks_exact(block.stride)).take(LANES) {
            let (mut group, mut row) = (first, block.range.start);
            while row < block.range.end {
                let end = ends[group].min(block.range.end);
                let own = &found[row - block.range.start..end - block.range.start];
                sums[group] += own.iter().sum::<f64>();
                (group, row) = (group + 1, end);
            }
        }
    }
}
