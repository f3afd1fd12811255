//! Draws of the random effects and the fixed effects at one θ.

use lehr_numeric::dense::small;
use lehr_numeric::stream::Stream;

use crate::cross_products::Effects;
use crate::effect_target::EffectTarget;
use crate::gaussian_response;
use crate::group_moments::PointPrior;
use crate::marginal::{MarginalDensity, ResponseRows};
use crate::marginal_point::MarginalPoint;
use crate::proposal::ProposalKind;
use crate::workspace::MixedWorkspace;

/// Draws that are solved for together.
const TOGETHER: usize = 16;

/// The draws at one point.
#[derive(Default)]
pub(crate) struct PointDraws {
    /// z, draw after draw.
    pub(crate) z: Vec<f64>,
    /// One log weight per draw.
    pub(crate) log_weights: Vec<f64>,
    /// The conditional prior from which a block that was not drawn can be drawn later.
    pub(crate) prior: Option<PointPrior>,
}

/// The number of draws, and the way in which they are made.
#[derive(Clone, Copy, Default)]
pub(crate) struct DrawPlan {
    pub(crate) kind: ProposalKind,
    pub(crate) count: usize,
}

impl MarginalDensity<'_> {
    /// Draws of z with the workspace that evaluated θ; `None` if a number is not finite.
    pub(crate) fn draw_effects(
        &self,
        at: &MarginalPoint,
        how: DrawPlan,
        random: &mut Stream,
        work: &mut MixedWorkspace,
    ) -> Option<PointDraws> {
        let DrawPlan { kind, count } = how;
        let ResponseRows::Other(rows) = &self.rows else {
            return Some(PointDraws {
                z: self.draw_normal(at, count, random, work)?,
                log_weights: vec![at.value; count],
                prior: None,
            });
        };
        let target = EffectTarget {
            problem: self.problem(rows),
            at: at.theta_prior(),
            mean: &at.mean,
            group_rows: &rows.largest,
            grids: &rows.grids,
        };
        let mut draws = PointDraws::default();
        for one in target.draw(kind, count, random, work)? {
            draws.z.extend(self.latents(at.theta_prior(), &one.effects));
            draws.log_weights.push(one.log_weight);
        }
        Some(draws)
    }

    /// The same without the largest block.
    pub(crate) fn draw_kept(
        &self,
        at: &MarginalPoint,
        count: usize,
        random: &mut Stream,
        work: &MixedWorkspace,
    ) -> Option<PointDraws> {
        let others = self.draw_rest(at, count, random, work)?;
        let kept = |one: &Vec<f64>| self.kept_latents(at.theta_prior(), one);
        Some(PointDraws {
            z: others.iter().flat_map(kept).collect(),
            log_weights: vec![at.value; count],
            prior: Some(self.point_prior(at)?),
        })
    }

    fn draw_normal(
        &self,
        at: &MarginalPoint,
        count: usize,
        random: &mut Stream,
        work: &MixedWorkspace,
    ) -> Option<Vec<f64>> {
        let mut draws = Vec::with_capacity(count * self.model.density.latents().size());
        for first in (0..count).step_by(TOGETHER) {
            let mut noise = vec![Effects::zero(&self.order); TOGETHER.min(count - first)];
            for one in &mut noise {
                random.fill_normal(&mut one.own);
                random.fill_normal(&mut one.others);
            }
            work.factor.colour_effects(&mut noise)?;
            for effects in &mut noise {
                effects.add(1.0, &at.mean);
                draws.extend(self.latents(at.theta_prior(), effects));
            }
        }
        Some(draws)
    }

    /// Draws of all effects other than the largest block at an evaluated θ.
    pub(crate) fn draw_rest(
        &self,
        at: &MarginalPoint,
        count: usize,
        random: &mut Stream,
        work: &MixedWorkspace,
    ) -> Option<Vec<Vec<f64>>> {
        let mut others = vec![vec![0.0; self.order.rest]; count];
        let mut all: Vec<&mut [f64]> = others.iter_mut().map(Vec::as_mut_slice).collect();
        for one in &mut all {
            random.fill_normal(one);
        }
        work.factor.colour_rest(&mut all)?;
        for one in &mut others {
            small::add(one, 1.0, &at.mean.others);
        }
        Some(others)
    }

    /// The conditional prior at an evaluated θ.
    fn point_prior(&self, at: &MarginalPoint) -> Option<PointPrior> {
        let blocks = self.model.blocks.iter().zip(&at.prior.blocks);
        let maps = (blocks.skip(1)).map(|(block, prior)| prior.inverse.invert(block.width));
        let mut maps: Vec<Vec<f64>> = maps.collect::<Option<_>>()?;
        maps.push(Vec::new());
        let own = &at.prior.blocks[0];
        Some(PointPrior {
            scale: gaussian_response::noise_precision(&at.prior),
            precision: own.precision.clone(),
            linear: own.linear.clone(),
            inverse: own.inverse.matrix(self.order.width),
            maps,
        })
    }
}
