//! The number of points of the hyperparameters: as many as their moments need.

use lehr_density::Support;
use lehr_numeric::pareto::Pareto;
use lehr_numeric::summary::WeightedSample;

use super::axes::Axes;
use super::collapsed::{Collapsed, ResponseRows};
use super::group_moments::Spared;
use super::mixed;
use super::option::{EVEN, Spreads, Wishes, refused};
use super::sample::{Drawn, Making, Proposed, Weighing, weights};
use super::search::Mode;
use crate::error::FitError;
use crate::estimate::Shape;
use crate::run::Run;

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

/// The kind of draws at points: without the largest block if its draws would be too many to keep
/// and moments can replace them.
pub(crate) fn making(collapsed: &Collapsed<'_>, run: &Run<'_>) -> Making {
    let density = collapsed.parts.density;
    let is_normal = matches!(collapsed.rows, ResponseRows::Normal(_));
    let numbers = run.draws * density.latents().size();
    let is_large = run.most_numbers.is_some_and(|most| numbers > most);
    let largest = density.latents().position(&collapsed.parts.blocks[0].name);
    let is_named = |site: usize| mixed::names(density, site);
    if is_normal && is_large && !largest.is_some_and(is_named) {
        Making::Kept
    } else {
        Making::Draws
    }
}

/// Weighs the default number of points for the dimension; twice as many if their weights are
/// uneven.
pub(crate) fn points(
    wishes: Wishes,
    collapsed: &Collapsed<'_>,
    found: (&Axes, &Mode),
    run: &Run<'_>,
) -> Result<Drawn, FitError> {
    let weighing = Weighing {
        collapsed,
        proposed: Proposed::Axes(found.0),
        near: &found.1.near,
        making: making(collapsed, run),
        seed: run.seed,
    };
    let usual = match collapsed.size() {
        0 => 1,
        1..=3 => 64,
        4..=6 => 128,
        _ => 256,
    };
    // If points are slow, their number grows only if they disagree.
    let usual = match weighing.making {
        Making::Draws => usual,
        Making::Kept => usual.min(FEW),
    };
    let count = wishes.points.unwrap_or(usual).max(1);
    let is_normal = matches!(collapsed.rows, ResponseRows::Normal(_));
    let is_roomy = run.draws * collapsed.parts.density.latents().size() <= Spared::LIMIT;
    // Extra draws, so that points can contribute in proportion to their weights; not if each draw
    // needs an iterative solve.
    let spares = is_normal && (is_roomy || weighing.making == Making::Kept);
    let spares = spares && !collapsed.design.large;
    let spare = 1 + usize::from(spares);
    // More draws than the default, but not more than the user requested.
    let more = match run.asked_draws {
        None if !is_normal && is_roomy => MOST_TIMES,
        _ => 1,
    };
    let each = |count: usize| {
        let usual = run.draws.div_ceil(count) * spare;
        (usual, usual * more)
    };
    let mut drawn = weighing.weigh(count, each(count));
    let most = match wishes.points {
        Some(count) => count,
        None if collapsed.is_quick() && is_normal => MOST_POINTS.max(count),
        None if collapsed.is_quick() => MOST_OF_ROWS.max(count),
        None => 8 * count,
    };
    let mut count = count;
    let is_short = |drawn: &Drawn| {
        // Chains, which would replace points that miss part of the density, need more slopes than
        // these need values.
        let is_missed = || is_missed(drawn) && wishes.spreads == Spreads::Chosen;
        let own = if is_normal {
            drawn.points.share() < EVEN || collapsed.is_quick() && is_missed()
        } else {
            is_missed()
        };
        own || !is_settled(drawn, collapsed)
    };
    while 2 * count <= most && is_short(&drawn) {
        count *= 2;
        drawn = weighing.twice(drawn);
    }
    let some = drawn
        .points
        .log_weights
        .iter()
        .any(|weight| weight.is_finite());
    let hint = "give the spreads proper priors";
    some.then_some(drawn)
        .ok_or_else(|| refused("the density is finite at no point", hint))
}

/// Whether both halves of the points agree on the mean and standard deviation of every
/// hyperparameter, on the model's scale: a long tail needs many points. Points count by the
/// collapsed density alone, because the draws of the effects only add noise that more points would
/// not remove.
pub(crate) fn is_settled(drawn: &Drawn, collapsed: &Collapsed<'_>) -> bool {
    let latents = collapsed.parts.density.latents();
    let (size, weights) = (collapsed.size(), weights(&drawn.heights));
    let half = weights.len() / 2;
    let weigh = |side: std::ops::Range<usize>| weights[side].iter().sum::<f64>() > 0.0;
    if !(weigh(0..half) && weigh(half..2 * half)) {
        return size == 0;
    }
    let is_same = |k: usize| {
        let owner = latents.site_of(collapsed.parts.hyper[k]);
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
pub(crate) fn is_missed(drawn: &Drawn) -> bool {
    let count = drawn.heights.len() as f64;
    // Weights that cannot be smoothed are finite at hardly any point.
    Pareto::new(&drawn.heights).map_or(true, |pareto| {
        let serves = matches!(Shape::of(&pareto), Shape::Alike | Shape::Light);
        !serves || pareto.effective_size < LEAST * count
    })
}
