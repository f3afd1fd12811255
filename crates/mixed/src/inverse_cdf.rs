//! Draws of groups with one effect by the inverse of their distribution function on a grid. The grid
//! is interpolated from a few nodes if that is accurate enough.

use std::f64::consts::TAU;
use std::ops::Range;

use lehr_numeric::stream::Stream;

use crate::cross_products::Effects;
use crate::effect_target::{EffectTarget, GroupRoots, WeightedEffects};
use crate::group_grid::{FEW, GRID, GROUPS, GroupDensityGrid, GroupLanes, LogHeights};
use crate::row_averages::{LANES, PredictorJob, RowBatch};
use crate::workspace::MixedWorkspace;

/// Sums of the rows' values that are in memory at a time.
const MOST_SUMS: usize = 1 << 21;

/// The integrands of all groups of A.
pub(crate) struct InverseCdfDraws<'a> {
    target: &'a EffectTarget<'a>,
    roots: &'a GroupRoots,
    /// The change of each row's predictor per standard deviation of its group: z F.
    along: Vec<f64>,
}

/// The groups' means given the other effects, and the sums of their rows' values, one node after
/// another.
struct GroupIntegrands<'a> {
    nodes: &'a [f64],
    centres: &'a [f64],
    sums: &'a [f64],
}

impl<'a> InverseCdfDraws<'a> {
    pub(crate) fn new(target: &'a EffectTarget<'a>, roots: &'a GroupRoots) -> InverseCdfDraws<'a> {
        let rows = (target.group_rows.codes.iter()).zip(&target.problem.order.own);
        let along = rows.map(|(code, z)| z * roots.values[*code as usize]);
        InverseCdfDraws {
            target,
            roots,
            along: along.collect(),
        }
    }

    /// Draws each group given the other effects of each draw, and adds Σ ln Z to its weight.
    pub(crate) fn draw(
        &self,
        drawn: &mut [WeightedEffects],
        random: &mut Stream,
        work: &mut MixedWorkspace,
    ) -> Option<()> {
        let groups = self.target.group_rows.groups;
        let (nodes, lacking) = self.choose_nodes(work)?;
        let constant = self.roots.volume + lacking + 0.5 * groups as f64 * TAU.ln();
        let mut curves = GroupDensityGrid::new();
        let size = groups * nodes.len();
        for some in drawn.chunks_mut((MOST_SUMS / size).max(1)) {
            let effects: Vec<&Effects> = some.iter().map(|one| &one.effects).collect();
            let sums = self.sums(&effects, nodes, work)?;
            for (one, sums) in some.iter_mut().zip(sums.chunks_exact(size)) {
                let mut effects = one.effects.own.clone();
                let of = GroupIntegrands {
                    nodes,
                    centres: &one.effects.own,
                    sums,
                };
                let total = self.each(&of, &mut curves, |curves, groups| {
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
    fn choose_nodes(&self, work: &mut MixedWorkspace) -> Option<(&'a [f64], f64)> {
        let (mean, grids) = (self.target.mean, self.target.grids);
        let (all, few) = (&grids.all.nodes[0][..], &grids.few.nodes[0][..]);
        let [at_all, at_few] = [all, few].map(|nodes| self.sums(&[mean], nodes, work));
        let (at_all, at_few) = (at_all?, at_few?);
        let [exact, interpolated] =
            [(all, &at_all), (few, &at_few)].map(|(nodes, sums)| GroupIntegrands {
                nodes,
                centres: &mean.own,
                sums,
            });
        let (mut curves, mut close) = (GroupDensityGrid::new(), GroupDensityGrid::new());
        let (mut serve, mut approximate) = (true, 0.0);
        let exact = self.each(&exact, &mut curves, |curves, groups| {
            self.fill(&interpolated, groups.clone(), &mut close);
            serve &= curves.are_close(&close, groups.len());
            approximate += close.log_integrals[..groups.len()].iter().sum::<f64>();
        })?;
        Some(if serve {
            (few, exact - approximate)
        } else {
            (all, 0.0)
        })
    }

    /// Passes on the curves of some groups after others; returns the sum of their log integrals.
    fn each(
        &self,
        of: &GroupIntegrands<'_>,
        curves: &mut GroupDensityGrid,
        mut see: impl FnMut(&GroupDensityGrid, Range<usize>),
    ) -> Option<f64> {
        let groups = self.target.group_rows.groups;
        let mut total = 0.0;
        for first in (0..groups).step_by(GROUPS) {
            let some = first..(first + GROUPS).min(groups);
            self.fill(of, some.clone(), curves);
            let sum: f64 = curves.log_integrals[..some.len()].iter().sum();
            if !sum.is_finite() {
                return None;
            }
            total += sum;
            see(curves, some);
        }
        Some(total)
    }

    fn fill(&self, of: &GroupIntegrands<'_>, groups: Range<usize>, curves: &mut GroupDensityGrid) {
        if of.nodes.len() == FEW {
            let few = self.heights::<FEW>(of, groups);
            return curves.fill(LogHeights::Few(&few, self.target.grids));
        }
        curves.fill(LogHeights::All(&self.heights::<GRID>(of, groups)));
    }

    /// h of some groups at all nodes, up to a constant; missing ones up to [`GROUPS`] repeat the
    /// last.
    fn heights<const N: usize>(
        &self,
        of: &GroupIntegrands<'_>,
        groups: Range<usize>,
    ) -> [GroupLanes; N] {
        let prior = &self.target.at.prior.blocks[0];
        let (precision, linear) = (prior.precision[0], prior.linear[0]);
        let count = self.target.group_rows.groups;
        let mut found = [[0.0; GROUPS]; N];
        for (k, (own, t)) in found.iter_mut().zip(of.nodes).enumerate() {
            for (g, height) in own.iter_mut().enumerate() {
                let group = (groups.start + g).min(groups.end - 1);
                let v = of.centres[group] + self.roots.values[group] * t;
                let prior = v * (linear - 0.5 * precision * v);
                *height = of.sums[k * count + group] + prior + 0.5 * t * t;
            }
        }
        found
    }

    /// The sums of the rows' values at the nodes of their groups around these effects, one set of
    /// effects after another.
    fn sums(
        &self,
        effects: &[&Effects],
        nodes: &[f64],
        work: &mut MixedWorkspace,
    ) -> Option<Vec<f64>> {
        let groups = self.target.group_rows.groups;
        let mut job = IntegrandSums {
            draws: self,
            nodes,
            effects,
            sums: vec![0.0; effects.len() * nodes.len() * groups],
        };
        (self.target.problem).evaluate_rows(self.target.at.theta, work, &mut job)?;
        Some(job.sums)
    }
}

/// Sums values by set of effects, node and group.
struct IntegrandSums<'a> {
    draws: &'a InverseCdfDraws<'a>,
    nodes: &'a [f64],
    effects: &'a [&'a Effects],
    sums: Vec<f64>,
}

impl PredictorJob for IntegrandSums<'_> {
    fn rounds(&self) -> usize {
        self.effects.len() * self.nodes.len() / LANES
    }

    fn write_predictors(&mut self, block: &RowBatch, into: &mut [f64]) {
        let first = block.round * LANES;
        let effects = self.effects[first / self.nodes.len()];
        let (centres, others) = into.split_at_mut(block.stride);
        let centres = &mut centres[..block.range.len()];
        let problem = &self.draws.target.problem;
        problem.predict(effects, block.range.clone(), centres);
        let along = &self.draws.along[block.range.clone()];
        let nodes = &self.nodes[first % self.nodes.len()..][..LANES];
        for (own, t) in others.chunks_exact_mut(block.stride).zip(&nodes[1..]) {
            let rows = centres.iter().zip(along);
            for (predictor, (centre, along)) in own.iter_mut().zip(rows) {
                *predictor = centre + along * t;
            }
        }
        let rows = centres.iter_mut().zip(along);
        rows.for_each(|(centre, along)| *centre += along * nodes[0]);
    }

    /// The rows of a group of A are contiguous.
    fn add(&mut self, block: &RowBatch, found: &[f64]) {
        let target = self.draws.target;
        let (groups, ends) = (target.group_rows.groups, &target.problem.order.first[1..]);
        let first = target.problem.order.group_of(block.range.start);
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
