//! Points of the hyperparameters, their importance weights, and draws of the effects at each of
//! them.

use lehr_density::Density;
use lehr_numeric::pareto::{Pareto, log_mean};
use lehr_numeric::sobol;
use lehr_numeric::stream::Stream;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::axes::AxisProposal;
use crate::collapsed::{MarginalDensity, ResponseRows};
use crate::effect_draws::{Draws, Place};
use crate::exact::{Way, values_of_a_row};
use crate::gap::Accuracy;
use crate::mixed;
use crate::near::WarmStart;
use crate::option::{EVEN, MixedError, MixedOptions};

/// k̂ above which the largest block is drawn from its own integrands.
const HEAVY: f64 = 0.5;
/// Values of rows that take about a second.
const QUICK: usize = 50_000_000;
/// The share of the points that determines how effects are drawn.
const PILOT: usize = 4;
/// The wanted number of effective draws: a verdict needs 400, and the pilot points estimate the
/// share with error.
const ENOUGH: f64 = 600.0;

/// Points of θ with their log importance weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HyperparameterPoints {
    /// θ, point after point.
    pub thetas: Vec<f64>,
    /// log p(D, θ) − log q(θ), or its estimate from the draws there.
    pub log_weights: Vec<f64>,
    /// The way in which effects are drawn.
    pub(crate) way: Way,
}

/// Draws of z, with the points at which they were made.
pub struct WeightedDraws {
    /// The points.
    pub points: HyperparameterPoints,
    /// The order of the points.
    pub(crate) order: Order,
    /// The draws of each point in turn.
    pub(crate) draws: Vec<Draws>,
    pub(crate) factors: usize,
    /// The log weights of the points by the collapsed density alone.
    pub(crate) heights: Vec<f64>,
    /// ½ ln |S| at each point by each probe, if probes are used.
    pub(crate) halves: Vec<Vec<f64>>,
}

impl WeightedDraws {
    /// Draws at each point.
    pub fn each(&self) -> usize {
        self.draws[0].log_weights.len()
    }

    fn add(&mut self, points: Vec<Point>) {
        for point in points {
            self.points.thetas.extend(point.theta);
            let (log_weight, _) = log_mean(&point.draws.log_weights);
            self.points.log_weights.push(log_weight);
            self.heights.push(point.height);
            self.halves.push(point.halves);
            self.draws.push(point.draws);
        }
    }
}

/// One point of the posterior.
struct Point {
    theta: Vec<f64>,
    /// The collapsed log density less that of the proposal.
    height: f64,
    draws: Draws,
    halves: Vec<f64>,
    factors: usize,
}

/// The setting in which points are weighed.
#[derive(Clone, Copy)]
pub(crate) struct Weighing<'a> {
    pub(crate) collapsed: &'a MarginalDensity<'a>,
    pub(crate) proposed: Proposed<'a>,
    pub(crate) near: &'a WarmStart,
    pub(crate) making: Making,
    pub(crate) seed: u64,
}

/// The kind of draws at each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Making {
    /// Draws of all effects.
    Draws,
    /// Draws without the largest block: its draws would be too many to keep, and for a normal
    /// response they do not affect the weights.
    Kept,
}

/// The order of points.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Order {
    /// The first points are spread like all of them.
    Sobol,
    /// Neighbouring points are correlated.
    Chains,
}

/// The source of points.
#[derive(Clone, Copy)]
pub(crate) enum Proposed<'a> {
    /// Sobol points through the quantiles of a density along axes.
    Axes(&'a AxisProposal),
    /// Draws of the collapsed density itself, θ after θ.
    Draws(&'a [f64]),
}

impl Proposed<'_> {
    /// The k-th θ, and the log density of the proposal, unless that is the collapsed density.
    fn theta(self, k: usize, cube: &[f64], size: usize) -> (Vec<f64>, Option<f64>) {
        match self {
            Proposed::Axes(axes) => {
                let (theta, log_density) = axes.draw(&cube[k * size..(k + 1) * size]);
                (theta, Some(log_density))
            }
            Proposed::Draws(thetas) => (thetas[k * size..(k + 1) * size].to_vec(), None),
        }
    }

    /// Values at draws of chains must be as accurate as those on which the chains moved.
    fn care(self) -> Accuracy {
        match self {
            Proposed::Axes(_) => Accuracy::Value,
            Proposed::Draws(_) => Accuracy::Slope,
        }
    }

    fn order(self) -> Order {
        match self {
            Proposed::Axes(_) => Order::Sobol,
            Proposed::Draws(_) => Order::Chains,
        }
    }

    fn cube(self, count: usize, size: usize, seed: u64) -> Vec<f64> {
        match self {
            Proposed::Axes(_) => sobol::sobol_points(count, size, seed),
            Proposed::Draws(_) => Vec::new(),
        }
    }
}

impl MarginalDensity<'_> {
    /// The kind of draws at points: without the largest block if its draws would be too many to
    /// keep and moments can replace them.
    pub(crate) fn making(&self, options: &MixedOptions) -> Making {
        let density = self.parts.density;
        let numbers = options.draws * density.latents().size();
        let is_large = options.most_numbers.is_some_and(|most| numbers > most);
        let largest = density.latents().position(&self.parts.blocks[0].name);
        let is_named = |site: usize| mixed::names(density, site);
        if self.is_normal() && is_large && !largest.is_some_and(is_named) {
            Making::Kept
        } else {
            Making::Draws
        }
    }
}

impl Weighing<'_> {
    /// The size of a draw.
    fn size(&self) -> usize {
        match self.making {
            Making::Draws => self.collapsed.parts.density.latents().size(),
            Making::Kept => self.collapsed.kept_size(),
        }
    }

    /// Weighs points and draws the effects `each` times at every point, or up to `most` times if
    /// the weights leave few effective draws. A quarter of the points determines that, and whether
    /// the Gaussian approximation suffices for all effects.
    pub(crate) fn weigh(&self, count: usize, (each, most): (usize, usize)) -> WeightedDraws {
        let cube = (self.proposed).cube(count, self.collapsed.size(), self.seed);
        let pilot = match self.collapsed.rows {
            ResponseRows::Normal(_) => count,
            ResponseRows::Other(_) => count.div_ceil(PILOT),
        };
        let mut way = Way::Gaussian;
        let mut found = self.points(&cube, (0..pilot, each), way);
        let mut factors = factors_of(&found);
        if self.is_heavy(&own_weights(&found), count * each) {
            way = Way::Exact;
            found = self.points(&cube, (0..pilot, each), way);
            factors += factors_of(&found);
        }
        let wanted = enough(&found, count).clamp(each, most.max(each));
        if wanted > each {
            found = self.points(&cube, (0..pilot, wanted), way);
            factors += factors_of(&found);
        }
        let each = wanted;
        let rest = self.points(&cube, (pilot..count, each), way);
        factors += factors_of(&rest);
        found.extend(rest);
        if way == Way::Gaussian
            && pilot < count
            && self.is_heavy(&own_weights(&found), count * each)
        {
            way = Way::Exact;
            found = self.points(&cube, (0..count, each), way);
            factors += factors_of(&found);
        }
        self.gathered(found, way, factors)
    }

    /// Twice as many points, of which the present ones remain the first half, with equally many
    /// draws in all.
    pub(crate) fn twice(&self, mut drawn: WeightedDraws) -> WeightedDraws {
        let (half, each) = (drawn.points.len(), drawn.each().div_ceil(2));
        let cube = (self.proposed).cube(2 * half, self.collapsed.size(), self.seed);
        let way = drawn.points.way;
        let size = self.size();
        for own in &mut drawn.draws {
            own.z.truncate(each * size);
            own.log_weights.truncate(each);
        }
        let found = self.points(&cube, (half..2 * half, each), way);
        drawn.factors += factors_of(&found);
        drawn.add(found);
        let pairs = drawn.draws.iter().zip(&drawn.heights);
        let weights = pairs.flat_map(|(own, height)| less(&own.log_weights, *height));
        let weights: Vec<f64> = weights.collect();
        if way == Way::Gaussian && self.is_heavy(&weights, weights.len()) {
            let found = self.points(&cube, (0..2 * half, each), Way::Exact);
            let factors = drawn.factors + factors_of(&found);
            return self.gathered(found, Way::Exact, factors);
        }
        drawn
    }

    /// Whether the weights of draws that are all Gaussian vary too much, apart from the weights of
    /// their points: their tail is heavy, or so many exact draws take no time and the weights are
    /// not nearly equal. The weights of a normal response do not depend on the effects.
    fn is_heavy(&self, weights: &[f64], draws: usize) -> bool {
        if matches!(self.collapsed.rows, ResponseRows::Normal(_)) {
            return false;
        }
        let rows = self.collapsed.design.order.len();
        let is_quick = draws * rows * values_of_a_row(self.collapsed.design.width) <= QUICK;
        let is_even = |pareto: &Pareto| pareto.effective_size >= EVEN * weights.len() as f64;
        Pareto::new(weights).map_or(true, |pareto| {
            pareto.shape >= HEAVY || is_quick && !is_even(&pareto)
        })
    }

    fn gathered(&self, points: Vec<Point>, way: Way, factors: usize) -> WeightedDraws {
        let mut drawn = WeightedDraws {
            points: HyperparameterPoints {
                way,
                ..HyperparameterPoints::default()
            },
            order: self.proposed.order(),
            draws: Vec::with_capacity(points.len()),
            heights: Vec::with_capacity(points.len()),
            halves: Vec::with_capacity(points.len()),
            factors,
        };
        drawn.add(points);
        drawn
    }

    fn points(&self, cube: &[f64], which: (std::ops::Range<usize>, usize), way: Way) -> Vec<Point> {
        let Weighing {
            collapsed,
            proposed,
            near,
            making,
            seed,
        } = *self;
        let (range, each) = which;
        let (size, numbers) = (collapsed.size(), each * self.size());
        range
            .into_par_iter()
            .map_init(
                || collapsed.bench(),
                |bench, k| {
                    let before = bench.factors;
                    let (theta, log_density) = proposed.theta(k, cube, size);
                    let mut random = Stream::new(seed, "effects", k as u64);
                    let at = collapsed.at(&theta, near, proposed.care(), bench);
                    let value = at.as_ref().map_or(f64::NEG_INFINITY, |at| at.value);
                    let loose = bench.factor.loose.as_ref();
                    let halves = loose.map_or_else(Vec::new, |loose| loose.halves.clone());
                    let log_density = log_density.unwrap_or(value);
                    let drawn = at.and_then(|at| {
                        let place = Place {
                            collapsed,
                            theta: &theta,
                            at: &at,
                        };
                        match making {
                            Making::Draws => place.draw((way, each), &mut random, bench),
                            Making::Kept => place.draw_kept(each, &mut random, bench),
                        }
                    });
                    let mut draws = drawn.unwrap_or_else(|| Draws {
                        z: vec![0.0; numbers],
                        log_weights: vec![f64::NEG_INFINITY; each],
                        prior: None,
                    });
                    let weights = draws.log_weights.iter_mut();
                    weights.for_each(|weight| *weight -= log_density);
                    Point {
                        theta,
                        height: value - log_density,
                        draws,
                        halves,
                        factors: bench.factors - before,
                    }
                },
            )
            .collect()
    }
}

/// The number of draws at each point that leaves [`ENOUGH`] effective ones, estimated from some of
/// the points.
fn enough(points: &[Point], count: usize) -> usize {
    let weights = log_weights(points);
    // More draws do not help if the weights cannot be smoothed.
    let share = Pareto::new(&weights).map_or(1.0, |pareto| pareto.effective_size);
    let share = share / weights.len() as f64;
    (ENOUGH / (share * count as f64)).ceil() as usize
}

/// How many factorisations the points needed.
fn factors_of(points: &[Point]) -> usize {
    points.iter().map(|point| point.factors).sum()
}

/// One log weight per draw.
fn log_weights(points: &[Point]) -> Vec<f64> {
    let each = points.iter().map(|point| &point.draws.log_weights);
    each.flatten().copied().collect()
}

/// The same less the weight of each point, which does not depend on how effects are drawn.
fn own_weights(points: &[Point]) -> Vec<f64> {
    let each = points.iter();
    each.flat_map(|point| less(&point.draws.log_weights, point.height))
        .collect()
}

/// Log weights less that of their point; draws of a point without weight have none.
fn less(log_weights: &[f64], height: f64) -> impl Iterator<Item = f64> + '_ {
    let own = move |weight: &f64| {
        if height.is_finite() {
            weight - height
        } else {
            *weight
        }
    };
    log_weights.iter().map(own)
}

/// Weights that sum to one, from their logarithms.
pub(crate) fn weights(logs: &[f64]) -> Vec<f64> {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raw: Vec<f64> = logs.iter().map(|w| (w - top).exp()).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|w| w / sum).collect()
}

impl HyperparameterPoints {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.log_weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.log_weights.is_empty()
    }

    /// The weights, summing to one.
    pub fn weights(&self) -> Vec<f64> {
        weights(&self.log_weights)
    }

    /// (Σw)²/Σw² as a share of the points.
    pub fn share(&self) -> f64 {
        let weights = self.weights();
        let squares: f64 = weights.iter().map(|w| w * w).sum();
        (squares * weights.len() as f64).recip()
    }

    /// The number of draws from each point: its share of the weight, rounded such that the total is
    /// `draws`.
    pub(crate) fn allotment(&self, draws: usize) -> Vec<usize> {
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

    /// Draws of z at these points on the rows that a density is bound to, in proportion to the
    /// weights.
    ///
    /// # Errors
    /// If it is another density than that of the points.
    pub fn draw_again(
        &self,
        density: &dyn Density,
        count: usize,
        seed: u64,
    ) -> Result<Vec<f64>, MixedError> {
        const HINT: &str = "bind the model to the table that was fitted";
        let refused = |why: String| MixedError::new(why, HINT);
        let collapsed = MarginalDensity::new(density).map_err(refused)?;
        if collapsed.size() * self.len() != self.thetas.len() {
            let problem = "the model has other hyperparameters than the fit's";
            return Err(refused(problem.into()));
        }
        let drawn = self.draw_from(&collapsed, count, seed);
        drawn.ok_or_else(|| refused("the density is not finite at the fit's points".into()))
    }

    fn draw_from(
        &self,
        collapsed: &MarginalDensity<'_>,
        count: usize,
        seed: u64,
    ) -> Option<Vec<f64>> {
        let size = collapsed.size();
        let counts = self.allotment(count);
        let theta = |k: usize| &self.thetas[k * size..(k + 1) * size];
        let likely = (0..self.len()).max_by_key(|k| counts[*k])?;
        let first = collapsed.at(
            theta(likely),
            &WarmStart::default(),
            Accuracy::Slope,
            &mut collapsed.bench(),
        )?;
        let near = WarmStart::of(theta(likely), &first);
        let parts: Vec<Option<Vec<f64>>> = (0..self.len())
            .into_par_iter()
            .filter(|k| counts[*k] > 0)
            .map_init(
                || collapsed.bench(),
                |bench, k| {
                    let theta = theta(k);
                    let mut random = Stream::new(seed, "effects again", k as u64);
                    let at = &collapsed.at(theta, &near, Accuracy::Value, bench)?;
                    let place = Place {
                        collapsed,
                        theta,
                        at,
                    };
                    let draws = place.draw((self.way, counts[k]), &mut random, bench)?;
                    Some(draws.z)
                },
            )
            .collect();
        let parts: Option<Vec<Vec<f64>>> = parts.into_iter().collect();
        Some(parts?.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_allotted_by_weight_and_all_given_out() {
        let points = HyperparameterPoints {
            thetas: vec![0.0; 4],
            log_weights: [0.4_f64, 0.3, 0.2, 0.1].map(f64::ln).to_vec(),
            way: Way::Gaussian,
        };
        assert_eq!(points.allotment(100), [40, 30, 20, 10]);
        assert_eq!(points.allotment(7).iter().sum::<usize>(), 7);
        let share = 1.0 / (4.0 * (0.16 + 0.09 + 0.04 + 0.01));
        assert!((points.share() - share).abs() < 1e-12);
    }
}
