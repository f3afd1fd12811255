//! How many points of the hyperparameters are weighed: as many as tell their moments.

use lehr_density::Support;
use lehr_numeric::pareto::Pareto;
use lehr_numeric::summary::Weighted;

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

/// Points where they take long.
const FEW: usize = 64;
/// The most points where they take no time.
const MOST_POINTS: usize = 1024;
/// The most of them where a slope takes passes over the rows: chains would take tens of thousands of those.
const MOST_OF_ROWS: usize = 4096;
/// Halves of the points may differ by so many standard deviations in a mean, and by this share in a standard
/// deviation. All of them are then off by about half of that.
const SAME: (f64, f64) = (0.1, 0.06);
/// So many times the usual draws are made where their weights leave few.
const MOST_TIMES: usize = 4;
/// Below this share of effective points some of the density is missed, whatever the tail of their weights.
const LEAST: f64 = 0.5;

/// What is made at points: no draws of the largest block where there are too many to keep, and moments may take their
/// place.
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

/// Weighs as many points as the dimension asks for; twice as many where they turn out uneven.
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
    // Where points take long, there are more of them only if those differ.
    let usual = match weighing.making {
        Making::Draws => usual,
        Making::Kept => usual.min(FEW),
    };
    let count = wishes.points.unwrap_or(usual).max(1);
    let is_normal = matches!(collapsed.rows, ResponseRows::Normal(_));
    let is_roomy = run.draws * collapsed.parts.density.latents().size() <= Spared::LIMIT;
    // More draws than are kept, so that points may give as many as they weigh; not where a draw is a search.
    let spares = is_normal && (is_roomy || weighing.making == Making::Kept);
    let spares = spares && !collapsed.design.large;
    let spare = 1 + usize::from(spares);
    // More draws than usual, but not than were asked for.
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
        // Chains, which would take the place of points that miss something, take more slopes than these are values.
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

/// Whether either half of the points tells the same mean and standard deviation of every hyperparameter,
/// as the model has it: a long tail takes many points. They count by the collapsed density alone: what the draws of
/// the effects say of it is the same but for chance, which more points do not take away.
pub(crate) fn is_settled(drawn: &Drawn, collapsed: &Collapsed<'_>) -> bool {
    let latents = collapsed.parts.density.latents();
    let (size, weights) = (collapsed.size(), weights(&drawn.heights));
    let half = weights.len() / 2;
    let weigh = |side: std::ops::Range<usize>| weights[side].iter().sum::<f64>() > 0.0;
    if !(weigh(0..half) && weigh(half..2 * half)) {
        return size == 0;
    }
    let is_same = |k: usize| {
        let owner = latents.owner(collapsed.parts.hyper[k]);
        let is_positive = owner.is_some_and(|site| site.support == Support::Positive);
        let value = |theta: &f64| if is_positive { theta.exp() } else { *theta };
        let own = drawn.points.thetas.iter().skip(k).step_by(size).map(value);
        let own: Vec<f64> = own.collect();
        let [one, other] =
            [0..half, half..2 * half].map(|side| Weighted::new(&own[side.clone()], &weights[side]));
        let (shift, ratio) = (one.mean() - other.mean(), one.sd() / other.sd());
        shift.abs() < SAME.0 * other.sd() && ratio.ln().abs() < SAME.1
    };
    (0..size).all(is_same)
}

/// Whether the points miss some of the density that they were to follow.
pub(crate) fn is_missed(drawn: &Drawn) -> bool {
    let count = drawn.heights.len() as f64;
    // What cannot be smoothed has a finite weight at hardly any point.
    Pareto::new(&drawn.heights).map_or(true, |pareto| {
        let serves = matches!(Shape::of(&pareto), Shape::Alike | Shape::Light);
        !serves || pareto.effective_size < LEAST * count
    })
}
