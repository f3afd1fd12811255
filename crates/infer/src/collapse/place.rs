//! Draws of the effects at one θ.

use lehr_numeric::stream::Stream;

use super::best::Theta;
use super::collapsed::{Bench, Collapsed, Evaluated, ResponseRows};
use super::cross::Effects;
use super::exact::{Drawing, Way};
use super::harvest::{prior_at, rest};
use super::sample::Draws;

/// Draws that are solved for together.
const TOGETHER: usize = 16;

/// A θ that was just evaluated.
pub(super) struct Place<'a> {
    pub(super) collapsed: &'a Collapsed<'a>,
    pub(super) theta: &'a [f64],
    pub(super) at: &'a Evaluated,
}

impl Place<'_> {
    /// So many draws of z on the bench that evaluated θ; `None` if a number is not finite.
    pub(super) fn draw(
        &self,
        how: (Way, usize),
        random: &mut Stream,
        bench: &mut Bench,
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
    pub(super) fn draw_kept(
        &self,
        count: usize,
        random: &mut Stream,
        bench: &Bench,
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

    fn draw_normal(&self, count: usize, random: &mut Stream, bench: &Bench) -> Option<Vec<f64>> {
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
