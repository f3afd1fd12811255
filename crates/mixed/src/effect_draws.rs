//! Draws of the effects at one θ.

use lehr_numeric::dense::small;
use lehr_numeric::stream::Stream;

use crate::best::Theta;
use crate::collapsed::{MarginalDensity, ResponseRows};
use crate::cross::Effects;
use crate::drawing::Drawing;
use crate::exact::Way;
use crate::group_moments::PriorAt;
use crate::marginal_point::MarginalPoint;
use crate::normal;
use crate::workspace::MixedWorkspace;

/// Draws that are solved for together.
const TOGETHER: usize = 16;

/// The draws at one point.
#[derive(Default)]
pub(crate) struct Draws {
    /// z, draw after draw.
    pub(crate) z: Vec<f64>,
    /// One log weight per draw.
    pub(crate) log_weights: Vec<f64>,
    /// The conditional prior from which a block that was not drawn can be drawn later.
    pub(crate) prior: Option<PriorAt>,
}

/// A θ that has just been evaluated.
pub(crate) struct Place<'a> {
    pub(crate) collapsed: &'a MarginalDensity<'a>,
    pub(crate) theta: &'a [f64],
    pub(crate) at: &'a MarginalPoint,
}

impl Place<'_> {
    /// Draws of z with the workspace that evaluated θ; `None` if a number is not finite.
    pub(crate) fn draw(
        &self,
        how: (Way, usize),
        random: &mut Stream,
        bench: &mut MixedWorkspace,
    ) -> Option<Draws> {
        let Place {
            collapsed,
            theta,
            at,
        } = *self;
        let (way, count) = how;
        let ResponseRows::Other(rows) = &collapsed.rows else {
            return Some(Draws {
                z: self.draw_normal(count, random, bench)?,
                log_weights: vec![at.value; count],
                prior: None,
            });
        };
        let drawing = Drawing {
            problem: collapsed.problem(rows),
            at: Theta {
                theta,
                given: &at.given,
            },
            mean: &at.mean,
            local: &rows.largest,
            grids: &rows.grids,
        };
        let mut draws = Draws::default();
        for one in drawing.draw(way, count, random, bench)? {
            draws
                .z
                .extend(collapsed.latents(theta, &at.given, &one.effects));
            draws.log_weights.push(one.log_weight);
        }
        Some(draws)
    }

    /// The same without the largest block.
    pub(crate) fn draw_kept(
        &self,
        count: usize,
        random: &mut Stream,
        bench: &MixedWorkspace,
    ) -> Option<Draws> {
        let Place {
            collapsed,
            theta,
            at,
        } = *self;
        let given = &at.given;
        let others = rest(collapsed, at, (count, random), bench)?;
        let z = others
            .iter()
            .flat_map(|one| collapsed.kept(Theta { theta, given }, one));
        Some(Draws {
            z: z.collect(),
            log_weights: vec![at.value; count],
            prior: Some(prior_at(collapsed, at)?),
        })
    }

    fn draw_normal(
        &self,
        count: usize,
        random: &mut Stream,
        bench: &MixedWorkspace,
    ) -> Option<Vec<f64>> {
        let Place {
            collapsed,
            theta,
            at,
        } = *self;
        let mut draws = Vec::with_capacity(count * collapsed.parts.density.latents().size());
        let mut left = count;
        while left > 0 {
            let some = left.min(TOGETHER);
            let mut noise = vec![Effects::zero(&collapsed.design); some];
            for one in &mut noise {
                random.fill_normal(&mut one.own);
                random.fill_normal(&mut one.others);
            }
            bench.factor.coloured_all(&collapsed.design, &mut noise)?;
            for effects in &mut noise {
                effects.add(1.0, &at.mean);
                draws.extend(collapsed.latents(theta, &at.given, effects));
            }
            left -= some;
        }
        Some(draws)
    }
}

/// Draws of all effects other than the largest block at an evaluated θ.
pub(crate) fn rest(
    collapsed: &MarginalDensity<'_>,
    at: &MarginalPoint,
    (count, random): (usize, &mut Stream),
    bench: &MixedWorkspace,
) -> Option<Vec<Vec<f64>>> {
    let mut others = vec![vec![0.0; collapsed.design.rest]; count];
    let mut all: Vec<&mut [f64]> = others.iter_mut().map(Vec::as_mut_slice).collect();
    for one in &mut all {
        random.fill_normal(one);
    }
    bench.factor.colour_rest(&collapsed.design, &mut all)?;
    for one in &mut others {
        small::add(one, 1.0, &at.mean.others);
    }
    Some(others)
}

/// The conditional prior at an evaluated θ.
pub(crate) fn prior_at(collapsed: &MarginalDensity<'_>, at: &MarginalPoint) -> Option<PriorAt> {
    let blocks = collapsed.parts.blocks.iter().zip(&at.given.blocks);
    let turns = (blocks.skip(1)).map(|(block, prior)| prior.inverse.turn(block.width));
    let mut turns: Vec<Vec<f64>> = turns.collect::<Option<_>>()?;
    turns.push(Vec::new());
    let own = &at.given.blocks[0];
    Some(PriorAt {
        scale: normal::precision(&at.given),
        precision: own.precision.clone(),
        linear: own.linear.clone(),
        inverse: own.inverse.matrix(collapsed.design.width),
        turns,
    })
}
