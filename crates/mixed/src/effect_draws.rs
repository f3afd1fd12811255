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
use crate::variational_gaussian::ThetaPrior;
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

/// A θ that has just been evaluated.
pub(crate) struct EffectSampler<'a> {
    pub(crate) marginal: &'a MarginalDensity<'a>,
    pub(crate) theta: &'a [f64],
    pub(crate) at: &'a MarginalPoint,
}

impl EffectSampler<'_> {
    /// Draws of z with the workspace that evaluated θ; `None` if a number is not finite.
    pub(crate) fn draw(
        &self,
        how: (ProposalKind, usize),
        random: &mut Stream,
        work: &mut MixedWorkspace,
    ) -> Option<PointDraws> {
        let (marginal, (kind, count)) = (self.marginal, how);
        let ResponseRows::Other(rows) = &marginal.rows else {
            return Some(PointDraws {
                z: self.draw_normal(count, random, work)?,
                log_weights: vec![self.at.value; count],
                prior: None,
            });
        };
        let target = EffectTarget {
            problem: marginal.problem(rows),
            at: self.point(),
            mean: &self.at.mean,
            group_rows: &rows.largest,
            grids: &rows.grids,
        };
        let mut draws = PointDraws::default();
        for one in target.draw(kind, count, random, work)? {
            draws.z.extend(marginal.latents(self.point(), &one.effects));
            draws.log_weights.push(one.log_weight);
        }
        Some(draws)
    }

    fn point(&self) -> ThetaPrior<'_> {
        ThetaPrior {
            theta: self.theta,
            prior: &self.at.prior,
        }
    }

    /// The same without the largest block.
    pub(crate) fn draw_kept(
        &self,
        count: usize,
        random: &mut Stream,
        work: &MixedWorkspace,
    ) -> Option<PointDraws> {
        let others = draw_rest(self.marginal, self.at, (count, random), work)?;
        let kept = |one: &Vec<f64>| self.marginal.kept_latents(self.point(), one);
        Some(PointDraws {
            z: others.iter().flat_map(kept).collect(),
            log_weights: vec![self.at.value; count],
            prior: Some(prior_at(self.marginal, self.at)?),
        })
    }

    fn draw_normal(
        &self,
        count: usize,
        random: &mut Stream,
        work: &MixedWorkspace,
    ) -> Option<Vec<f64>> {
        let marginal = self.marginal;
        let mut draws = Vec::with_capacity(count * marginal.model.density.latents().size());
        for first in (0..count).step_by(TOGETHER) {
            let mut noise = vec![Effects::zero(&marginal.order); TOGETHER.min(count - first)];
            for one in &mut noise {
                random.fill_normal(&mut one.own);
                random.fill_normal(&mut one.others);
            }
            work.factor.colour_effects(&mut noise)?;
            for effects in &mut noise {
                effects.add(1.0, &self.at.mean);
                draws.extend(marginal.latents(self.point(), effects));
            }
        }
        Some(draws)
    }
}

/// Draws of all effects other than the largest block at an evaluated θ.
pub(crate) fn draw_rest(
    marginal: &MarginalDensity<'_>,
    at: &MarginalPoint,
    (count, random): (usize, &mut Stream),
    work: &MixedWorkspace,
) -> Option<Vec<Vec<f64>>> {
    let mut others = vec![vec![0.0; marginal.order.rest]; count];
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
pub(crate) fn prior_at(marginal: &MarginalDensity<'_>, at: &MarginalPoint) -> Option<PointPrior> {
    let blocks = marginal.model.blocks.iter().zip(&at.prior.blocks);
    let maps = (blocks.skip(1)).map(|(block, prior)| prior.inverse.invert(block.width));
    let mut maps: Vec<Vec<f64>> = maps.collect::<Option<_>>()?;
    maps.push(Vec::new());
    let own = &at.prior.blocks[0];
    Some(PointPrior {
        scale: gaussian_response::noise_precision(&at.prior),
        precision: own.precision.clone(),
        linear: own.linear.clone(),
        inverse: own.inverse.matrix(marginal.order.width),
        maps,
    })
}
