//! Points of the hyperparameters, their weights, and draws of the effects at each of them.

use lehr_numeric::sobol;
use lehr_numeric::stream::Stream;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::axes::Axes;
use super::collapsed::{Bench, Collapsed, Evaluated};
use super::cross::Effects;

/// Draws that are solved for together.
const TOGETHER: usize = 16;

/// Points of θ with the log weights of the posterior there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Points {
    /// θ, point after point.
    pub(super) thetas: Vec<f64>,
    /// log p(D, θ) − log q(θ)
    pub(super) log_weights: Vec<f64>,
}

/// Draws of z and where they come from.
pub(super) struct Drawn {
    pub(super) points: Points,
    /// z, draw after draw, of each point in turn.
    pub(super) draws: Vec<Vec<f64>>,
    pub(super) factors: usize,
}

/// One point of the posterior.
struct Point {
    theta: Vec<f64>,
    log_weight: f64,
    draws: Vec<f64>,
}

/// Weighs points and draws the effects `each` times at every one of them.
pub(super) fn weigh(
    collapsed: &Collapsed<'_>,
    axes: &Axes,
    (count, each): (usize, usize),
    seed: u64,
) -> Drawn {
    let size = collapsed.size();
    let cube = sobol::points(count, size, seed);
    let found: Vec<Point> = (0..count)
        .into_par_iter()
        .map_init(
            || collapsed.bench(),
            |bench, k| {
                let (theta, log_density) = axes.draw(&cube[k * size..(k + 1) * size]);
                let at = collapsed.at(&theta, bench);
                let log_weight = at
                    .as_ref()
                    .map_or(f64::NEG_INFINITY, |at| at.value - log_density);
                let mut random = Stream::new(seed, "effects", k as u64);
                let draws = at.map_or_else(
                    || vec![0.0; each * collapsed.parts.density.latents().size()],
                    |at| {
                        let place = Place {
                            collapsed,
                            theta: &theta,
                            at: &at,
                            bench,
                        };
                        place.draw(each, &mut random)
                    },
                );
                Point {
                    theta,
                    log_weight,
                    draws,
                }
            },
        )
        .collect();
    let mut drawn = Drawn {
        points: Points::default(),
        draws: Vec::with_capacity(count),
        factors: count,
    };
    for point in found {
        drawn.points.thetas.extend(point.theta);
        drawn.points.log_weights.push(point.log_weight);
        drawn.draws.push(point.draws);
    }
    drawn
}

/// A θ that was just evaluated on this bench.
struct Place<'a> {
    collapsed: &'a Collapsed<'a>,
    theta: &'a [f64],
    at: &'a Evaluated,
    bench: &'a Bench,
}

impl Place<'_> {
    /// So many draws of z.
    fn draw(&self, count: usize, random: &mut Stream) -> Vec<f64> {
        let Place {
            collapsed,
            theta,
            at,
            bench,
        } = *self;
        let whitened = &at.solution.whitened;
        let add = |into: &mut [f64], more: &[f64]| {
            into.iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more);
        };
        let mut draws = Vec::with_capacity(count * collapsed.parts.density.latents().size());
        let mut left = count;
        while left > 0 {
            let some = left.min(TOGETHER);
            let mut noise = vec![Effects::zero(&collapsed.design); some];
            for one in &mut noise {
                random.fill_normal(&mut one.own);
                random.fill_normal(&mut one.others);
                add(&mut one.own, &whitened.own);
                add(&mut one.others, &whitened.others);
            }
            bench.factor.coloured_all(&collapsed.design, &mut noise);
            for effects in &noise {
                draws.extend(collapsed.latents(theta, &at.given, effects));
            }
            left -= some;
        }
        draws
    }
}

impl Points {
    pub(super) fn len(&self) -> usize {
        self.log_weights.len()
    }

    /// The weights, summing to one.
    pub(super) fn weights(&self) -> Vec<f64> {
        let top = self
            .log_weights
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = self.log_weights.iter().map(|w| (w - top).exp()).collect();
        let sum: f64 = raw.iter().sum();
        raw.iter().map(|w| w / sum).collect()
    }

    /// (Σw)²/Σw² as a share of the points.
    pub(super) fn share(&self) -> f64 {
        let weights = self.weights();
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        (squares * weights.len() as f64).recip()
    }

    /// How many of so many draws each point gets: its weight's share, rounded so that all are given
    /// out.
    pub(super) fn allotment(&self, draws: usize) -> Vec<usize> {
        let mut given = 0;
        let mut below = 0.0;
        let allot = |weight: f64| {
            below += weight;
            let up_to = ((below * draws as f64 + 0.5).floor() as usize).min(draws);
            let own = up_to - given;
            given = up_to;
            own
        };
        self.weights().into_iter().map(allot).collect()
    }

    /// Draws of z at these points on the rows of a density, as many at each as its weight says.
    pub(super) fn draw_again(
        &self,
        collapsed: &Collapsed<'_>,
        count: usize,
        seed: u64,
    ) -> Vec<f64> {
        let size = collapsed.size();
        let counts = self.allotment(count);
        let parts: Vec<Vec<f64>> = (0..self.len())
            .into_par_iter()
            .map_init(
                || collapsed.bench(),
                |bench, k| {
                    let theta = &self.thetas[k * size..(k + 1) * size];
                    let mut random = Stream::new(seed, "effects again", k as u64);
                    let at = (counts[k] > 0)
                        .then(|| collapsed.at(theta, bench))
                        .flatten();
                    at.map_or_else(Vec::new, |at| {
                        let at = &at;
                        let place = Place {
                            collapsed,
                            theta,
                            at,
                            bench,
                        };
                        place.draw(counts[k], &mut random)
                    })
                },
            )
            .collect();
        parts.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_allotted_by_weight_and_all_given_out() {
        let points = Points {
            thetas: vec![0.0; 4],
            log_weights: [0.4_f64, 0.3, 0.2, 0.1].map(f64::ln).to_vec(),
        };
        assert_eq!(points.allotment(100), [40, 30, 20, 10]);
        assert_eq!(points.allotment(7).iter().sum::<usize>(), 7);
        let share = 1.0 / (4.0 * (0.16 + 0.09 + 0.04 + 0.01));
        assert!((points.share() - share).abs() < 1e-12);
    }
}
