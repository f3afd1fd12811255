//! Points of the hyperparameters with importance weights, and draws of the effects at each of them.

use std::ops::Range;

use lehr_density::Density;
use lehr_numeric::pareto::{Pareto, log_mean};
use lehr_numeric::sobol;
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

use crate::axis_proposal::AxisProposal;
use crate::dependence;
use crate::effect_draws::{DrawPlan, PointDraws};
use crate::group_integral::Accuracy;
use crate::marginal::{MarginalDensity, ResponseRows};
use crate::option::{EVEN, MixedError, MixedOptions};
use crate::proposal::{ProposalKind, values_of_a_row};
use crate::warm_start::WarmStart;
use crate::workspace::MixedWorkspace;

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
    pub(crate) kind: ProposalKind,
}

/// Draws of z, with the points at which they were made.
pub struct WeightedDraws {
    /// The points.
    pub points: HyperparameterPoints,
    /// Whether the points are draws of chains, of which neighbours are correlated. The first of other
    /// points are spread like all of them.
    pub(crate) from_chains: bool,
    /// The draws of each point in turn.
    pub(crate) draws: Vec<PointDraws>,
    pub(crate) factors: usize,
    /// The log weights of the points by the marginal density alone.
    pub(crate) heights: Vec<f64>,
    /// ½ ln |S| at each point by each probe, if probes are used.
    pub(crate) halves: Vec<Vec<f64>>,
}

impl WeightedDraws {
    /// Draws at each point.
    pub fn each(&self) -> usize {
        self.draws[0].log_weights.len()
    }

    fn add(&mut self, points: Vec<WeightedPoint>) {
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
struct WeightedPoint {
    theta: Vec<f64>,
    /// The log marginal density less that of the proposal.
    height: f64,
    draws: PointDraws,
    halves: Vec<f64>,
    factors: usize,
}

/// The setting in which points are weighed.
#[derive(Clone, Copy)]
pub(crate) struct PointSampler<'a> {
    pub(crate) marginal: &'a MarginalDensity<'a>,
    pub(crate) proposed: PointSource<'a>,
    pub(crate) warm_start: &'a WarmStart,
    pub(crate) draw_contents: DrawContents,
    pub(crate) seed: u64,
    /// The draws at each point.
    pub(crate) how: DrawPlan,
}

/// The kind of draws at each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrawContents {
    /// Draws of all effects.
    All,
    /// Draws without the largest block: its draws would be too many to keep, and for a normal
    /// response they do not affect the weights.
    WithoutLargest,
}

/// The source of points.
#[derive(Clone, Copy)]
pub(crate) enum PointSource<'a> {
    /// Sobol points through the quantiles of a density along axes.
    Axes(&'a AxisProposal),
    /// Draws of the marginal density itself, θ after θ.
    Chains(&'a [f64]),
}

impl PointSource<'_> {
    /// The k-th θ, and the log density of the proposal, unless that is the marginal density.
    fn theta(self, k: usize, cube: &[f64], size: usize) -> (Vec<f64>, Option<f64>) {
        match self {
            PointSource::Axes(axes) => {
                let (theta, log_density) = axes.draw(&cube[k * size..(k + 1) * size]);
                (theta, Some(log_density))
            }
            PointSource::Chains(thetas) => (thetas[k * size..(k + 1) * size].to_vec(), None),
        }
    }

    /// Values at draws of chains must be as accurate as those on which the chains moved.
    fn accuracy(self) -> Accuracy {
        match self {
            PointSource::Axes(_) => Accuracy::Value,
            PointSource::Chains(_) => Accuracy::Slope,
        }
    }

    fn cube(self, count: usize, size: usize, seed: u64) -> Vec<f64> {
        match self {
            PointSource::Axes(_) => sobol::sobol_points(count, size, seed),
            PointSource::Chains(_) => Vec::new(),
        }
    }
}

impl MarginalDensity<'_> {
    /// The kind of draws at points: without the largest block if its draws would be too many to
    /// keep and moments can replace them.
    pub(crate) fn draw_contents(&self, options: &MixedOptions) -> DrawContents {
        let density = self.model.density;
        let numbers = options.draws * density.latents().size();
        let is_large = options.most_numbers.is_some_and(|most| numbers > most);
        let is_named = || dependence::quantity_reads_site(density, self.model.blocks[0].site);
        if self.is_normal() && is_large && !is_named() {
            DrawContents::WithoutLargest
        } else {
            DrawContents::All
        }
    }
}

impl PointSampler<'_> {
    /// The size of a draw.
    fn size(&self) -> usize {
        match self.draw_contents {
            DrawContents::All => self.marginal.model.density.latents().size(),
            DrawContents::WithoutLargest => self.marginal.kept_size(),
        }
    }

    /// Weighs points and draws the effects `each` times at every point, or up to `most` times if
    /// the weights leave few effective draws. A quarter of the points determines that, and whether
    /// the Gaussian approximation suffices for all effects.
    pub(crate) fn weigh(mut self, count: usize, (each, most): (usize, usize)) -> WeightedDraws {
        let cube = (self.proposed).cube(count, self.marginal.size(), self.seed);
        let pilot = match self.marginal.rows {
            ResponseRows::Normal(_) => count,
            ResponseRows::Other(_) => count.div_ceil(PILOT),
        };
        self.how.count = each;
        let mut factors = 0;
        let mut found = self.points(&cube, 0..pilot, &mut factors);
        if self.is_heavy(&relative_log_weights(&found), count * each) {
            self.how.kind = ProposalKind::Exact;
            found = self.points(&cube, 0..pilot, &mut factors);
        }
        self.how.count = draws_needed(&found, count).clamp(each, most.max(each));
        if self.how.count > each {
            found = self.points(&cube, 0..pilot, &mut factors);
        }
        found.extend(self.points(&cube, pilot..count, &mut factors));
        if self.how.kind == ProposalKind::Gaussian
            && pilot < count
            && self.is_heavy(&relative_log_weights(&found), count * self.how.count)
        {
            self.how.kind = ProposalKind::Exact;
            found = self.points(&cube, 0..count, &mut factors);
        }
        self.gathered(found, factors)
    }

    /// Twice as many points, of which the present ones remain the first half, with equally many
    /// draws in all.
    pub(crate) fn double(mut self, mut drawn: WeightedDraws) -> WeightedDraws {
        let half = drawn.points.len();
        let cube = (self.proposed).cube(2 * half, self.marginal.size(), self.seed);
        self.how = DrawPlan {
            kind: drawn.points.kind,
            count: drawn.each().div_ceil(2),
        };
        for own in &mut drawn.draws {
            own.z.truncate(self.how.count * self.size());
            own.log_weights.truncate(self.how.count);
        }
        let found = self.points(&cube, half..2 * half, &mut drawn.factors);
        drawn.add(found);
        let pairs = drawn.draws.iter().zip(&drawn.heights);
        let weights = pairs.flat_map(|(own, height)| relative_to(&own.log_weights, *height));
        let weights: Vec<f64> = weights.collect();
        if self.how.kind == ProposalKind::Gaussian && self.is_heavy(&weights, weights.len()) {
            self.how.kind = ProposalKind::Exact;
            let found = self.points(&cube, 0..2 * half, &mut drawn.factors);
            return self.gathered(found, drawn.factors);
        }
        drawn
    }

    /// Whether the weights of draws that are all Gaussian vary too much, apart from the weights of
    /// their points: their tail is heavy, or so many exact draws take no time and the weights are
    /// not nearly equal. The weights of a normal response do not depend on the effects.
    fn is_heavy(&self, weights: &[f64], draws: usize) -> bool {
        if matches!(self.marginal.rows, ResponseRows::Normal(_)) {
            return false;
        }
        let rows = self.marginal.order.rows.len();
        let is_quick = draws * rows * values_of_a_row(self.marginal.order.width) <= QUICK;
        let is_even = |pareto: &Pareto| pareto.effective_size >= EVEN * weights.len() as f64;
        Pareto::new(weights).map_or(true, |pareto| {
            pareto.shape >= HEAVY || is_quick && !is_even(&pareto)
        })
    }

    fn gathered(&self, points: Vec<WeightedPoint>, factors: usize) -> WeightedDraws {
        let mut drawn = WeightedDraws {
            points: HyperparameterPoints {
                kind: self.how.kind,
                ..HyperparameterPoints::default()
            },
            from_chains: matches!(self.proposed, PointSource::Chains(_)),
            draws: Vec::with_capacity(points.len()),
            heights: Vec::with_capacity(points.len()),
            halves: Vec::with_capacity(points.len()),
            factors,
        };
        drawn.add(points);
        drawn
    }

    /// These points; adds the number of their factorisations.
    fn points(&self, cube: &[f64], range: Range<usize>, factors: &mut usize) -> Vec<WeightedPoint> {
        let found = (self.marginal).in_parallel(range, |work, k| self.point(k, cube, work));
        *factors += found.iter().map(|point| point.factors).sum::<usize>();
        found
    }

    /// The k-th point, with its draws.
    fn point(&self, k: usize, cube: &[f64], work: &mut MixedWorkspace) -> WeightedPoint {
        let (marginal, proposed, before) = (self.marginal, self.proposed, work.factors);
        let (theta, log_density) = proposed.theta(k, cube, marginal.size());
        let mut random = Stream::new(self.seed, "effects", k as u64);
        let at = marginal.evaluate(&theta, self.warm_start, proposed.accuracy(), work);
        let value = at.as_ref().map_or(f64::NEG_INFINITY, |at| at.value);
        let iterative = work.factor.iterative.as_ref();
        let halves = iterative.map_or_else(Vec::new, |iterative| iterative.halves.clone());
        let log_density = log_density.unwrap_or(value);
        let (how, random) = (self.how, &mut random);
        let drawn = at.and_then(|at| match self.draw_contents {
            DrawContents::All => marginal.draw_effects(&at, how, random, work),
            DrawContents::WithoutLargest => marginal.draw_kept(&at, self.how.count, random, work),
        });
        let mut draws = drawn.unwrap_or_else(|| PointDraws {
            z: vec![0.0; self.how.count * self.size()],
            log_weights: vec![f64::NEG_INFINITY; self.how.count],
            prior: None,
        });
        let weights = draws.log_weights.iter_mut();
        weights.for_each(|weight| *weight -= log_density);
        WeightedPoint {
            theta,
            height: value - log_density,
            draws,
            halves,
            factors: work.factors - before,
        }
    }
}

/// The number of draws at each point that leaves [`ENOUGH`] effective ones, estimated from some of
/// the points.
fn draws_needed(points: &[WeightedPoint], count: usize) -> usize {
    let weights = log_weights(points);
    // More draws do not help if the weights cannot be smoothed.
    let share = Pareto::new(&weights).map_or(1.0, |pareto| pareto.effective_size);
    let share = share / weights.len() as f64;
    (ENOUGH / (share * count as f64)).ceil() as usize
}

/// One log weight per draw.
fn log_weights(points: &[WeightedPoint]) -> Vec<f64> {
    let each = points.iter().map(|point| &point.draws.log_weights);
    each.flatten().copied().collect()
}

/// The same less the weight of each point, which does not depend on how effects are drawn.
fn relative_log_weights(points: &[WeightedPoint]) -> Vec<f64> {
    let each = points.iter();
    each.flat_map(|point| relative_to(&point.draws.log_weights, point.height))
        .collect()
}

/// Log weights less that of their point; draws of a point without weight have none.
fn relative_to(log_weights: &[f64], height: f64) -> impl Iterator<Item = f64> + '_ {
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
        let mut allotted = 0;
        let mut below = 0.0;
        let allot = |weight: f64| {
            below += weight;
            let up_to = ((below * draws as f64 + 0.5).floor() as usize).min(draws);
            let own = up_to - allotted;
            allotted = up_to;
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
        let marginal = MarginalDensity::new(density).map_err(|error| refused(error.to_string()))?;
        if marginal.size() * self.len() != self.thetas.len() {
            let problem = "the model has other hyperparameters than the fit's";
            return Err(refused(problem.into()));
        }
        let drawn = self.draw_from(&marginal, count, seed);
        drawn.ok_or_else(|| refused("the density is not finite at the fit's points".into()))
    }

    fn draw_from(
        &self,
        marginal: &MarginalDensity<'_>,
        count: usize,
        seed: u64,
    ) -> Option<Vec<f64>> {
        let size = marginal.size();
        let counts = self.allotment(count);
        let theta = |k: usize| &self.thetas[k * size..(k + 1) * size];
        let likely = (0..self.len()).max_by_key(|k| counts[*k])?;
        let (none, work) = (WarmStart::default(), &mut marginal.workspace());
        let first = marginal.evaluate(theta(likely), &none, Accuracy::Slope, work)?;
        let warm_start = WarmStart::of(&first);
        let parts = marginal.in_parallel(0..self.len(), |work, k| {
            if counts[k] == 0 {
                return Some(Vec::new());
            }
            let mut random = Stream::new(seed, "effects again", k as u64);
            let at = &marginal.evaluate(theta(k), &warm_start, Accuracy::Value, work)?;
            let how = DrawPlan {
                kind: self.kind,
                count: counts[k],
            };
            let draws = marginal.draw_effects(at, how, &mut random, work)?;
            Some(draws.z)
        });
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
            kind: ProposalKind::Gaussian,
        };
        assert_eq!(points.allotment(100), [40, 30, 20, 10]);
        assert_eq!(points.allotment(7).iter().sum::<usize>(), 7);
        let share = 1.0 / (4.0 * (0.16 + 0.09 + 0.04 + 0.01));
        assert!((points.share() - share).abs() < 1e-12);
    }
}
