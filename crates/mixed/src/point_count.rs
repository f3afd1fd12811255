//! The number of points of the hyperparameters: as many as their moments need.

use lehr_density::Support;
use lehr_numeric::pareto::{Pareto, TailShape};
use lehr_numeric::summary::WeightedSample;

use crate::group_moments::GroupMoments;
use crate::integration_points::{DrawContents, PointSource, WeightedDraws, weights};
use crate::marginal::MarginalDensity;
use crate::mixed_search::MixedSearch;
use crate::moment_draws::kept_layout;
use crate::option::{EVEN, HyperparameterMethod, MixedError, MixedOptions};

/// The number of points if they are slow.
const FEW: usize = 64;
/// The most points if they are fast.
const MOST_POINTS: usize = 1024;
/// The most points if a slope needs passes over the rows, because chains would need tens of
/// thousands of those.
const MOST_OF_ROWS: usize = 4096;
/// Halves of the points may differ by this many standard deviations in a mean, and by this share in
/// a standard deviation. The error of all points is about half of that.
const SAME: (f64, f64) = (0.1, 0.06);
/// The most draws, in multiples of the default, if their weights leave few effective ones.
const MOST_TIMES: usize = 4;
/// Below this effective share the points miss part of the density, whatever the tail of their
/// weights.
const LEAST: f64 = 0.5;

/// The fewest draws if each has many numbers.
const FEWEST_DRAWS: usize = 128;

impl MarginalDensity<'_> {
    /// The number of draws: the default is reduced if the kept numbers outside the largest block
    /// would be too many.
    pub fn limit_draws(&self, options: &MixedOptions) -> usize {
        if options.asked_draws.is_some() || self.draw_contents(options) == DrawContents::All {
            return options.draws;
        }
        let kept = kept_layout(self).size().max(1);
        (options.draws).min((GroupMoments::LIMIT / kept).max(FEWEST_DRAWS))
    }
}

impl MixedSearch<'_> {
    /// Weighs the default number of points for the dimension; twice as many if their weights are
    /// uneven.
    pub(crate) fn next_points(&self) -> Result<WeightedDraws, MixedError> {
        let (marginal, options) = (self.marginal, &self.options);
        let weighing = self.weighing(PointSource::Axes(&self.axes));
        let count = self.first_count(weighing.draw_contents);
        let is_normal = marginal.is_normal();
        let mut drawn = weighing.weigh(count, self.draws_at_each(count, weighing.draw_contents));
        let most = match options.points {
            Some(count) => count,
            None if marginal.is_quick() && is_normal => MOST_POINTS.max(count),
            None if marginal.is_quick() => MOST_OF_ROWS.max(count),
            None => 8 * count,
        };
        let mut count = count;
        while 2 * count <= most && self.needs_points(&drawn) {
            count *= 2;
            drawn = weighing.double(drawn);
        }
        let mut weights = drawn.points.log_weights.iter();
        let some = weights.any(|weight| weight.is_finite());
        some.then_some(drawn)
            .ok_or_else(|| MixedError::improper("the density is finite at no point"))
    }

    /// The number of points at first.
    fn first_count(&self, draw_contents: DrawContents) -> usize {
        let usual = match self.marginal.size() {
            0 => 1,
            1..=3 => 64,
            4..=6 => 128,
            _ => 256,
        };
        // If points are slow, their number grows only if they disagree.
        let usual = match draw_contents {
            DrawContents::All => usual,
            DrawContents::WithoutLargest => usual.min(FEW),
        };
        self.options.points.unwrap_or(usual).max(1)
    }

    /// The number of draws at each of `count` points, and the most of them.
    fn draws_at_each(&self, count: usize, draw_contents: DrawContents) -> (usize, usize) {
        let (marginal, options) = (self.marginal, &self.options);
        let is_normal = marginal.is_normal();
        let numbers = options.draws * marginal.model.density.latents().size();
        let is_roomy = numbers <= GroupMoments::LIMIT;
        // Extra draws, so that points can contribute in proportion to their weights; not if each
        // draw needs an iterative solve.
        let spares = is_normal && (is_roomy || draw_contents == DrawContents::WithoutLargest);
        let spares = spares && !marginal.order.large;
        let usual = options.draws.div_ceil(count) * (1 + usize::from(spares));
        // More draws than the default, but not more than the user requested.
        let more = match options.asked_draws {
            None if !is_normal && is_roomy => MOST_TIMES,
            _ => 1,
        };
        (usual, usual * more)
    }

    /// Whether the points do not determine the moments.
    fn needs_points(&self, drawn: &WeightedDraws) -> bool {
        let marginal = self.marginal;
        // Chains, which would replace points that miss part of the density, need more slopes than
        // these need values.
        let chosen = self.options.hyperparameters == HyperparameterMethod::Chosen;
        let misses_mass = || misses_mass(drawn) && chosen;
        let own = if marginal.is_normal() {
            drawn.points.share() < EVEN || marginal.is_quick() && misses_mass()
        } else {
            misses_mass()
        };
        own || !has_converged(drawn, marginal)
    }
}

/// Whether both halves of the points agree on the mean and standard deviation of every
/// hyperparameter, on the model's scale: a long tail needs many points. Points count by the
/// marginal density alone, because the draws of the effects only add noise that more points would
/// not remove.
pub(crate) fn has_converged(drawn: &WeightedDraws, marginal: &MarginalDensity<'_>) -> bool {
    let latents = marginal.model.density.latents();
    let (size, weights) = (marginal.size(), weights(&drawn.heights));
    let half = weights.len() / 2;
    let weigh = |side: std::ops::Range<usize>| weights[side].iter().sum::<f64>() > 0.0;
    if !(weigh(0..half) && weigh(half..2 * half)) {
        return size == 0;
    }
    let is_same = |k: usize| {
        let owner = latents.site_of(marginal.model.hyper[k]);
        let is_positive = owner.is_some_and(|site| site.support == Support::Positive);
        let value = |theta: &f64| if is_positive { theta.exp() } else { *theta };
        let own = drawn.points.thetas.iter().skip(k).step_by(size).map(value);
        let own: Vec<f64> = own.collect();
        let [one, other] = [0..half, half..2 * half]
            .map(|side| WeightedSample::new(&own[side.clone()], &weights[side]));
        let (shift, ratio) = (one.mean() - other.mean(), one.sd() / other.sd());
        shift.abs() < SAME.0 * other.sd() && ratio.ln().abs() < SAME.1
    };
    (0..size).all(is_same)
}

/// Whether the points miss part of the density.
pub(crate) fn misses_mass(drawn: &WeightedDraws) -> bool {
    let count = drawn.heights.len() as f64;
    // Weights that cannot be smoothed are finite at hardly any point.
    Pareto::new(&drawn.heights).map_or(true, |pareto| {
        !TailShape::of(&pareto).serves() || pareto.effective_size < LEAST * count
    })
}
