//! Draws of the effects with importance weights, if the response is not Gaussian. All effects may be
//! drawn from the Gaussian variational approximation:
//!
//! ```text
//! ln w = log p(D, u, θ) − ln N(u; m, Λ⁻¹)
//! ```
//!
//! Or only those of R are, and each group of A is drawn from its own integrand. The integral of that
//! is then part of the weight:
//!
//! ```text
//! ln w = Σ_g ln Z_g(u_R, θ) + ln p(u_R, θ) − ln N(u_R; m_R, S⁻¹)
//! ```
//!
//! Thousands of small departures of A from a Gaussian then do not affect the weight. Groups of one
//! effect are drawn by [`crate::inverse_cdf`]. Groups of several effects are drawn from candidates,
//! and the mean ratio of these is an unbiased estimate of Z_g.

use std::f64::consts::TAU;

use lehr_numeric::dense::small;
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use crate::cross_products::Effects;
use crate::effect_target::{EffectTarget, GroupRoots, WeightedEffects};
use crate::group_grid::FEW;
use crate::group_integral::inverse_root;
use crate::inverse_cdf::InverseCdfDraws;
use crate::row_averages::{LANES, PredictorJob, RowBatch};
use crate::variational_gaussian::EffectProblem;
use crate::workspace::MixedWorkspace;

/// The way in which effects are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ProposalKind {
    /// All from the Gaussian.
    #[default]
    Gaussian,
    /// Groups of A from their own integrands, the rest from the Gaussian.
    Exact,
}

/// Rounds of candidates for a group of several effects.
const ROUNDS: usize = 8;

/// How many values of each row an exact draw of groups of this width needs.
pub(crate) fn values_of_a_row(width: usize) -> usize {
    if width == 1 { FEW } else { ROUNDS * LANES }
}

/// Values at several sets of effects, summed over all rows.
struct RowTotals<'a> {
    problem: EffectProblem<'a>,
    effects: &'a [Effects],
    sums: Vec<f64>,
}

impl RowTotals<'_> {
    /// The sets of effects in the lanes of a round.
    fn lanes(&self, block: &RowBatch) -> std::ops::Range<usize> {
        let first = block.round * LANES;
        first..(first + LANES).min(self.effects.len())
    }
}

impl PredictorJob for RowTotals<'_> {
    fn rounds(&self) -> usize {
        self.effects.len().div_ceil(LANES)
    }

    fn write_predictors(&mut self, block: &RowBatch, into: &mut [f64]) {
        let effects = &self.effects[self.lanes(block)];
        for (own, into) in effects.iter().zip(into.chunks_exact_mut(block.stride)) {
            let into = &mut into[..block.range.len()];
            self.problem.predict(own, block.range.clone(), into);
        }
    }

    fn add(&mut self, block: &RowBatch, found: &[f64]) {
        let lanes = self.lanes(block);
        for (sum, found) in self.sums[lanes]
            .iter_mut()
            .zip(found.chunks_exact(block.stride))
        {
            *sum += found[..block.range.len()].iter().sum::<f64>();
        }
    }
}

impl EffectTarget<'_> {
    /// Draws effects. The workspace holds the factor of the Gaussian.
    pub(crate) fn draw(
        &self,
        kind: ProposalKind,
        count: usize,
        random: &mut Stream,
        work: &mut MixedWorkspace,
    ) -> Option<Vec<WeightedEffects>> {
        match kind {
            ProposalKind::Gaussian => self.gaussian(count, random, work),
            ProposalKind::Exact => self.exact(count, random, work),
        }
    }

    /// Draws of the Gaussian.
    fn gaussian(
        &self,
        count: usize,
        random: &mut Stream,
        work: &mut MixedWorkspace,
    ) -> Option<Vec<WeightedEffects>> {
        let problem = self.problem;
        let (drawn, squares) = self.draw_gaussian(true, count, random, work)?;
        let mut totals = RowTotals {
            problem,
            effects: &drawn,
            sums: vec![0.0; count],
        };
        let log_det = work.factor.log_det;
        problem.evaluate_rows(self.at.theta, work, &mut totals)?;
        let sums = totals.sums;
        let weigh = |(k, effects): (usize, Effects)| {
            let prior = problem.log_prior(self.at.prior, &effects);
            let own = 0.5 * (log_det - squares[k] - effects.len() as f64 * TAU.ln());
            WeightedEffects {
                log_weight: sums[k] + prior - own,
                effects,
            }
        };
        Some(drawn.into_iter().enumerate().map(weigh).collect())
    }

    /// Draws of the Gaussian, with the squared norms of their standard normals. Those of A may be 0.
    fn draw_gaussian(
        &self,
        with_groups: bool,
        count: usize,
        random: &mut Stream,
        work: &MixedWorkspace,
    ) -> Option<(Vec<Effects>, Vec<f64>)> {
        let mut drawn = vec![Effects::zero(self.problem.order); count];
        for one in &mut drawn {
            if with_groups {
                random.fill_normal(&mut one.own);
            }
            random.fill_normal(&mut one.others);
        }
        let squares = drawn.iter().map(|one| one.dot(one)).collect();
        work.factor.colour_effects(&mut drawn)?;
        for one in &mut drawn {
            one.add(1.0, self.mean);
        }
        Some((drawn, squares))
    }

    /// Draws with A from its own integrands.
    fn exact(
        &self,
        count: usize,
        random: &mut Stream,
        work: &mut MixedWorkspace,
    ) -> Option<Vec<WeightedEffects>> {
        let roots = self.roots(work);
        let mut found = self.rest(count, random, work)?;
        if self.problem.order.width == 1 {
            InverseCdfDraws::new(self, &roots).draw(&mut found, random, work)?;
        } else {
            for one in &mut found {
                one.log_weight += self.choose(&roots, &mut one.effects, random, work)?;
            }
        }
        Some(found)
    }

    /// Draws of R from the Gaussian, with the groups of A at their means given R, which gives the
    /// weight of R alone.
    fn rest(
        &self,
        count: usize,
        random: &mut Stream,
        work: &mut MixedWorkspace,
    ) -> Option<Vec<WeightedEffects>> {
        let (drawn, squares) = self.draw_gaussian(false, count, random, work)?;
        let volume = work.factor.log_rest() - 0.5 * self.problem.order.rest as f64 * TAU.ln();
        let weigh = |(effects, square): (Effects, f64)| {
            let mut rest = effects.clone();
            rest.own.fill(0.0);
            let prior = self.problem.log_prior(self.at.prior, &rest);
            WeightedEffects {
                effects,
                log_weight: prior - (volume - 0.5 * square),
            }
        };
        Some(drawn.into_iter().zip(squares).map(weigh).collect())
    }

    fn roots(&self, work: &MixedWorkspace) -> GroupRoots {
        let order = self.problem.order;
        let width = order.width;
        let mut roots = GroupRoots {
            values: Vec::with_capacity(self.group_rows.groups * width * width),
            volume: 0.0,
        };
        for group in 0..self.group_rows.groups {
            let factor = work.factor.own_factor(group);
            roots.values.extend(inverse_root(factor, width));
            roots.volume -= small::log_diagonal(factor, width);
        }
        roots
    }

    /// Draws each group from candidates of its Gaussian; returns Σ ln of their mean ratio.
    fn choose(
        &self,
        roots: &GroupRoots,
        effects: &mut Effects,
        random: &mut Stream,
        work: &mut MixedWorkspace,
    ) -> Option<f64> {
        let width = self.problem.order.width;
        let centres = effects.own.clone();
        let predictors = self.problem.predictors(effects);
        let groups = self.group_rows.groups;
        let mut sums = vec![f64::NEG_INFINITY; groups];
        for _ in 0..ROUNDS {
            let mut candidates = GroupCandidates::new(self, &predictors, &roots.values, random);
            (self.problem).evaluate_rows(self.at.theta, work, &mut candidates)?;
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
struct GroupCandidates<'a> {
    target: &'a EffectTarget<'a>,
    predictors: &'a [f64],
    width: usize,
    /// Standard normals, lane after lane of each group.
    normals: Vec<f64>,
    /// F times those.
    moves: Vec<f64>,
    sums: Vec<f64>,
}

impl<'a> GroupCandidates<'a> {
    fn new(
        target: &'a EffectTarget<'a>,
        predictors: &'a [f64],
        roots: &[f64],
        random: &mut Stream,
    ) -> GroupCandidates<'a> {
        let width = target.problem.order.width;
        let mut normals = vec![0.0; target.group_rows.groups * LANES * width];
        random.fill_normal(&mut normals);
        let mut moves = Vec::with_capacity(normals.len());
        let groups = normals.chunks_exact(LANES * width);
        for (own, root) in groups.zip(roots.chunks_exact(width * width)) {
            for t in own.chunks_exact(width) {
                moves.extend(small::apply(root, t));
            }
        }
        GroupCandidates {
            target,
            predictors,
            width,
            normals,
            moves,
            sums: vec![0.0; target.group_rows.groups * LANES],
        }
    }

    fn moved(&self, group: usize, lane: usize) -> &[f64] {
        &self.moves[(group * LANES + lane) * self.width..][..self.width]
    }

    /// The logarithm of integrand over proposal, up to a constant.
    fn ratio(&self, group: usize, lane: usize, v: &[f64]) -> f64 {
        let prior = &self.target.at.prior.blocks[0];
        let t = &self.normals[(group * LANES + lane) * self.width..][..self.width];
        self.sums[group * LANES + lane] - 0.5 * small::quadratic_form(&prior.precision, v)
            + small::dot(&prior.linear, v)
            + 0.5 * small::dot(t, t)
    }
}

impl PredictorJob for GroupCandidates<'_> {
    fn rounds(&self) -> usize {
        1
    }

    fn write_predictors(&mut self, block: &RowBatch, into: &mut [f64]) {
        let order = self.target.problem.order;
        for (k, row) in block.range.clone().enumerate() {
            let group = self.target.group_rows.codes[row] as usize;
            let z = order.own_of(row);
            for lane in 0..LANES {
                into[lane * block.stride + k] =
                    self.predictors[row] + small::dot(z, self.moved(group, lane));
            }
        }
    }

    fn add(&mut self, block: &RowBatch, found: &[f64]) {
        let codes = &self.target.group_rows.codes;
        block.add_by_group(codes, (&mut self.sums, LANES), found);
    }
}
