//! What is kept if the largest block has too many numbers for its draws: draws of all other sites, the
//! moments of each group, and the sums over its rows.
//!
//! Given θ, the effects of a Gaussian response are Gaussian, so their moments need no draws:
//!
//! ```text
//! E u_g = Σ_k w_k û_g(θ_k),   cov u_g = Σ_k w_k (cov_g(θ_k) + û_g û_gᵀ) − E u_g E u_gᵀ
//! ```

use lehr_density::Layout;
use lehr_numeric::dense::small;
use lehr_numeric::stream::Stream;
use rayon::prelude::*;

use crate::cross_products::Effects;
use crate::effect_structure::RandomEffectBlock;
use crate::group_integral::Accuracy;
use crate::group_moments::{EffectSums, GroupMoments, OtherEffects, PointPrior, without_site};
use crate::integration_points::WeightedDraws;
use crate::marginal::{MarginalDensity, ResponseRows};
use crate::marginal_point::MarginalPoint;
use crate::option::EVEN;
use crate::warm_start::WarmStart;
use crate::workspace::MixedWorkspace;

/// Points whose moments are in memory at the same time.
const TOGETHER: usize = 2;
/// The fewest points at which moments are computed.
const FEWEST: usize = 16;
/// Numbers of moments that take a negligible time.
const QUICK: usize = 1 << 22;
/// Draws of the other effects at each point, if moments are not available in closed form.
const DRAWS: usize = 8;

/// The kept results of weighted points.
pub(crate) struct MomentDraws {
    /// The kept numbers of z, draw after draw.
    pub(crate) draws: Vec<f64>,
    pub(crate) log_weights: Vec<f64>,
    /// The point of each draw.
    points: Vec<usize>,
}

impl MomentDraws {
    /// `count` draws of `size` numbers. If the points of a normal response have nearly equal
    /// weights, each contributes draws in proportion to its weight.
    pub(crate) fn of(drawn: &WeightedDraws, count: usize, size: usize) -> MomentDraws {
        let points = &drawn.points;
        let even = count.div_ceil(points.len());
        let made = drawn.each();
        let counts = if points.share() >= EVEN && made > even {
            points.allotment(count)
        } else {
            let at = |k: usize| count.min((k + 1) * even) - count.min(k * even);
            (0..points.len()).map(at).collect()
        };
        let mut found = MomentDraws {
            draws: Vec::with_capacity(count * size),
            log_weights: Vec::with_capacity(count),
            points: Vec::with_capacity(count),
        };
        for (k, (own, wanted)) in drawn.draws.iter().zip(&counts).enumerate() {
            let taken = (*wanted).min(made);
            found.draws.extend_from_slice(&own.z[..taken * size]);
            let share = (even as f64 / taken.max(1) as f64).ln();
            let weights = own.log_weights[..taken].iter();
            found
                .log_weights
                .extend(weights.map(|weight| weight + share));
            found.points.extend(vec![k; taken]);
        }
        found
    }
}

/// The sites without the largest block.
pub(crate) fn kept_layout(marginal: &MarginalDensity<'_>) -> Layout {
    let model = &marginal.model;
    without_site(model.density.latents(), model.blocks[0].site)
}

/// The points at which moments are computed. With very many groups the effects hardly change with
/// θ, so some of the points may represent all, if their weights are nearly equal.
fn chosen(marginal: &MarginalDensity<'_>, drawn: &WeightedDraws) -> Vec<usize> {
    let (points, weights) = (&drawn.points, drawn.points.weights());
    let square = marginal.order.width.pow(2);
    let quick = QUICK / (marginal.order.groups() * square).max(1);
    let count = quick.clamp(FEWEST, points.len().max(FEWEST));
    let all = (0..points.len()).filter(|k| weights[*k] > 0.0);
    if points.share() < EVEN {
        return all.collect();
    }
    let step = if drawn.from_chains {
        points.len().div_ceil(count)
    } else {
        1
    };
    all.step_by(step).take(count).collect()
}

/// The moments of the groups' effects at a point: means, and covariances plus the products of
/// means.
struct EffectMoments {
    means: Vec<f64>,
    squares: Vec<f64>,
}

/// The moments that replace the draws of the largest block; `None` if a number is not finite.
pub(crate) fn group_moments(
    marginal: &MarginalDensity<'_>,
    drawn: &WeightedDraws,
    kept: &MomentDraws,
    seed: u64,
) -> Option<GroupMoments> {
    let (order, size) = (&marginal.order, marginal.size());
    let width = order.width;
    let mut means = vec![0.0; order.groups() * width];
    let mut squares = vec![0.0; means.len() * width];
    let chosen = chosen(marginal, drawn);
    let weights = drawn.points.weights();
    let total: f64 = chosen.iter().map(|k| weights[*k]).sum();
    // Each workspace is large. Sums are in the order of the points, however many are processed
    // together.
    let together = TOGETHER.min(rayon::current_num_threads());
    let mut works: Vec<MixedWorkspace> = (0..together).map(|_| marginal.workspace()).collect();
    for some in chosen.chunks(together) {
        let of = |(&k, work): (&usize, &mut MixedWorkspace)| {
            let theta = &drawn.points.thetas[k * size..(k + 1) * size];
            let mut random = Stream::new(seed, "kept effects", k as u64);
            moments(marginal, theta, &mut random, work)
        };
        let pairs = some.par_iter().zip(&mut works);
        let found: Vec<Option<EffectMoments>> = pairs.map(of).collect();
        for (own, k) in found.into_iter().zip(some) {
            let own = own?;
            small::add(&mut means, weights[*k] / total, &own.means);
            small::add(&mut squares, weights[*k] / total, &own.squares);
        }
    }
    // Second moments around 0 become covariances.
    let groups = squares.chunks_exact_mut(width * width);
    for (square, mean) in groups.zip(means.chunks_exact(width)) {
        small::add_outer(square, -1.0, mean, mean);
    }
    let (priors, points) = priors(drawn, kept);
    Some(GroupMoments {
        latents: marginal.model.density.latents().clone(),
        position: marginal.model.blocks[0].site,
        width,
        means,
        covariances: squares,
        sums: effect_sums(marginal)?,
        others: others(marginal),
        priors,
        points,
        seed,
    })
}

/// The priors at the points that have one, and the point of each draw.
fn priors(drawn: &WeightedDraws, kept: &MomentDraws) -> (Vec<PointPrior>, Vec<u32>) {
    let mut found = Vec::with_capacity(drawn.draws.len());
    let place = |own: &crate::effect_draws::PointDraws| {
        let place = found.len() as u32;
        found.extend(own.prior.clone());
        place
    };
    let places: Vec<u32> = drawn.draws.iter().map(place).collect();
    let last = found.len().saturating_sub(1) as u32;
    let points = kept.points.iter().map(|k| places[*k].min(last)).collect();
    (found, points)
}

fn moments(
    marginal: &MarginalDensity<'_>,
    theta: &[f64],
    random: &mut Stream,
    work: &mut MixedWorkspace,
) -> Option<EffectMoments> {
    let at = marginal.evaluate(theta, &WarmStart::default(), Accuracy::Value, work)?;
    if work.factor.iterative.is_none() {
        return exact_moments(marginal, at, work);
    }
    let others = marginal.draw_rest(&at, DRAWS, random, work)?;
    drawn_moments(marginal, &at, &others, work)
}

/// The means of the groups' effects and their second moments at an evaluated θ.
fn exact_moments(
    marginal: &MarginalDensity<'_>,
    at: MarginalPoint,
    work: &mut MixedWorkspace,
) -> Option<EffectMoments> {
    let (order, width) = (&marginal.order, marginal.order.width);
    work.inverses += 1;
    work.factor.invert()?;
    let mut squares = vec![0.0; order.groups() * width * width];
    for (group, square) in squares.chunks_exact_mut(width * width).enumerate() {
        work.factor.group_covariance(group, square);
        let mean = &at.mean.own[group * width..][..width];
        small::add_outer(square, 1.0, mean, mean);
    }
    Some(EffectMoments {
        means: at.mean.own,
        squares,
    })
}

/// The same if S⁻¹ is not available: exact given the other effects, averaged over draws of those.
fn drawn_moments(
    marginal: &MarginalDensity<'_>,
    at: &MarginalPoint,
    others: &[Vec<f64>],
    work: &MixedWorkspace,
) -> Option<EffectMoments> {
    let (order, width) = (&marginal.order, marginal.order.width);
    let ResponseRows::Normal(rows) = &marginal.rows else {
        return None;
    };
    let mut right = rows.right_side(order, &marginal.model, &at.prior);
    work.factor.whiten_groups(&mut right);
    let mut means = vec![0.0; order.groups() * width];
    let mut squares = vec![0.0; means.len() * width];
    let share = (others.len() as f64).recip();
    for one in others {
        let mut given = Effects {
            own: right.own.clone(),
            others: one.clone(),
        };
        work.factor.colour_groups(&mut given);
        small::add(&mut means, share, &given.own);
        let groups = given.own.chunks_exact(width);
        for (mean, square) in groups.zip(squares.chunks_exact_mut(width * width)) {
            small::add_outer(square, share, mean, mean);
        }
    }
    for (group, square) in squares.chunks_exact_mut(width * width).enumerate() {
        let own = small::inverse_of_factor(work.factor.own_factor(group), width);
        small::add(square, 1.0, &own);
    }
    Some(EffectMoments { means, squares })
}

/// The places of the other effects in a kept draw: those of blocks, and the common ones.
fn others(marginal: &MarginalDensity<'_>) -> Vec<OtherEffects> {
    let model = &marginal.model;
    let places = |places: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
        places.map(|place| model.kept_place(place)).collect()
    };
    let block = |block: &RandomEffectBlock| OtherEffects {
        places: places(&mut block.places.clone()),
        width: block.width,
    };
    let mut found: Vec<OtherEffects> = model.blocks[1..].iter().map(block).collect();
    found.push(OtherEffects {
        places: places(&mut model.common.places.iter().copied()),
        width: 1,
    });
    found
}

fn effect_sums(marginal: &MarginalDensity<'_>) -> Option<EffectSums> {
    let ResponseRows::Normal(rows) = &marginal.rows else {
        return None;
    };
    let order = &marginal.order;
    Some(EffectSums {
        own: rows.cross.own.clone(),
        pulled: rows.pulled.own.clone(),
        met: order.met.clone(),
        columns: order.columns.clone(),
        mixed: rows.cross.mixed.clone(),
    })
}
