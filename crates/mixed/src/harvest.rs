//! The results that are kept if the largest block has too many numbers for its draws: draws of
//! everything else, the moments of each group, and the sums over its rows.
//!
//! Given θ the effects of a normal response are Gaussian, so that their moments need no draws:
//!
//! ```text
//! E u_g = Σ_k w_k û_g(θ_k),   cov u_g = Σ_k w_k (cov_g(θ_k) + û_g û_gᵀ) − E u_g E u_gᵀ
//! ```

use lehr_density::{Layout, Site};
use lehr_numeric::dense::small;
use lehr_numeric::stream::Stream;
use rayon::prelude::*;

use crate::collapsed::{MarginalDensity, ResponseRows};
use crate::cross::Effects;
use crate::effect_draws::rest;
use crate::gap::Accuracy;
use crate::group_moments::{GroupMoments, GroupSums, Others, PriorAt};
use crate::marginal_point::MarginalPoint;
use crate::near::WarmStart;
use crate::option::EVEN;
use crate::sample::{Order, WeightedDraws};
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
pub(crate) struct Harvest {
    /// The kept numbers of z, draw after draw.
    pub(crate) draws: Vec<f64>,
    pub(crate) log_weights: Vec<f64>,
    /// The point of each draw.
    points: Vec<usize>,
}

impl Harvest {
    /// `count` draws of `size` numbers. If the points of a normal response have nearly equal
    /// weights, each contributes draws in proportion to its weight.
    pub(crate) fn of(drawn: &WeightedDraws, count: usize, size: usize) -> Harvest {
        let points = &drawn.points;
        let even = count.div_ceil(points.len());
        let made = drawn.each();
        let counts = if points.share() >= EVEN && made > even {
            points.allotment(count)
        } else {
            let at = |k: usize| count.min((k + 1) * even) - count.min(k * even);
            (0..points.len()).map(at).collect()
        };
        let mut found = Harvest {
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
pub(crate) fn kept_layout(collapsed: &MarginalDensity<'_>) -> Layout {
    let latents = collapsed.parts.density.latents();
    let position = position(collapsed);
    let sites = latents.sites().iter().enumerate();
    let kept: Vec<Site> = sites
        .filter(|(place, _)| *place != position)
        .map(|(_, site)| site.clone())
        .collect();
    Layout::new(kept).expect("some sites of a layout are one")
}

fn position(collapsed: &MarginalDensity<'_>) -> usize {
    let latents = collapsed.parts.density.latents();
    let found = latents.position(&collapsed.parts.blocks[0].name);
    found.expect("a block is a site")
}

/// The points at which moments are computed. With very many groups the effects hardly change with
/// θ, so some of the points may represent all, if their weights are nearly equal.
fn chosen(collapsed: &MarginalDensity<'_>, drawn: &WeightedDraws) -> Vec<usize> {
    let (points, weights) = (&drawn.points, drawn.points.weights());
    let square = collapsed.design.width.pow(2);
    let quick = QUICK / (collapsed.design.groups() * square).max(1);
    let count = quick.clamp(FEWEST, points.len().max(FEWEST));
    let all = (0..points.len()).filter(|k| weights[*k] > 0.0);
    if points.share() < EVEN {
        return all.collect();
    }
    let step = match drawn.order {
        Order::Sobol => 1,
        Order::Chains => points.len().div_ceil(count),
    };
    all.step_by(step).take(count).collect()
}

/// The moments of the groups' effects at a point: means, and covariances plus the products of
/// means.
struct Moments {
    means: Vec<f64>,
    squares: Vec<f64>,
}

/// The moments that replace the draws of the largest block; `None` if a number is not finite.
pub(crate) fn group_moments(
    collapsed: &MarginalDensity<'_>,
    drawn: &WeightedDraws,
    kept: &Harvest,
    seed: u64,
) -> Option<GroupMoments> {
    let (design, size) = (&collapsed.design, collapsed.size());
    let width = design.width;
    let mut means = vec![0.0; design.groups() * width];
    let mut squares = vec![0.0; means.len() * width];
    let chosen = chosen(collapsed, drawn);
    let weights = drawn.points.weights();
    let total: f64 = chosen.iter().map(|k| weights[*k]).sum();
    // Each workspace is large. Sums are in the order of the points, however many are processed
    // together.
    let together = TOGETHER.min(rayon::current_num_threads());
    let mut benches: Vec<MixedWorkspace> = (0..together).map(|_| collapsed.bench()).collect();
    for some in chosen.chunks(together) {
        let of = |(&k, bench): (&usize, &mut MixedWorkspace)| {
            let theta = &drawn.points.thetas[k * size..(k + 1) * size];
            let mut random = Stream::new(seed, "kept effects", k as u64);
            moments(collapsed, theta, &mut random, bench)
        };
        let pairs = some.par_iter().zip(&mut benches);
        let found: Vec<Option<Moments>> = pairs.map(of).collect();
        for (own, k) in found.into_iter().zip(some) {
            let own = own?;
            small::add(&mut means, weights[*k] / total, &own.means);
            small::add(&mut squares, weights[*k] / total, &own.squares);
        }
    }
    centre(&mut squares, &means, width);
    let (priors, points) = priors(drawn, kept);
    Some(GroupMoments {
        means,
        covariances: squares,
        priors,
        points,
        ..without_groups(collapsed, seed)?
    })
}

/// The priors at the points that have one, and the point of each draw.
fn priors(drawn: &WeightedDraws, kept: &Harvest) -> (Vec<PriorAt>, Vec<u32>) {
    let mut found = Vec::with_capacity(drawn.draws.len());
    let place = |own: &crate::effect_draws::Draws| {
        let place = found.len() as u32;
        found.extend(own.prior.clone());
        place
    };
    let places: Vec<u32> = drawn.draws.iter().map(place).collect();
    let last = found.len().saturating_sub(1) as u32;
    let points = kept.points.iter().map(|k| places[*k].min(last)).collect();
    (found, points)
}

/// The largest block before any point is processed.
fn without_groups(collapsed: &MarginalDensity<'_>, seed: u64) -> Option<GroupMoments> {
    Some(GroupMoments {
        latents: collapsed.parts.density.latents().clone(),
        position: position(collapsed),
        width: collapsed.design.width,
        means: Vec::new(),
        covariances: Vec::new(),
        sums: sums(collapsed)?,
        others: others(collapsed),
        priors: Vec::new(),
        points: Vec::new(),
        seed,
    })
}

/// Converts second moments around 0 to covariances.
fn centre(squares: &mut [f64], means: &[f64], width: usize) {
    let groups = squares.chunks_exact_mut(width * width);
    for (square, mean) in groups.zip(means.chunks_exact(width)) {
        for (k, entry) in square.iter_mut().enumerate() {
            *entry -= mean[k / width] * mean[k % width];
        }
    }
}

fn moments(
    collapsed: &MarginalDensity<'_>,
    theta: &[f64],
    random: &mut Stream,
    bench: &mut MixedWorkspace,
) -> Option<Moments> {
    let at = collapsed.at(theta, &WarmStart::default(), Accuracy::Value, bench)?;
    if bench.factor.loose.is_none() {
        return exact_moments(collapsed, at, bench);
    }
    let others = rest(collapsed, &at, (DRAWS, random), bench)?;
    drawn_moments(collapsed, &at, &others, bench)
}

/// The means of the groups' effects and their second moments at an evaluated θ.
fn exact_moments(
    collapsed: &MarginalDensity<'_>,
    at: MarginalPoint,
    bench: &mut MixedWorkspace,
) -> Option<Moments> {
    let (design, width) = (&collapsed.design, collapsed.design.width);
    bench.inverses += 1;
    bench.factor.invert(design)?;
    let mut squares = vec![0.0; design.groups() * width * width];
    for (group, square) in squares.chunks_exact_mut(width * width).enumerate() {
        bench.factor.group_covariance(design, group, square);
        let mean = &at.mean.own[group * width..][..width];
        for (k, entry) in square.iter_mut().enumerate() {
            *entry += mean[k / width] * mean[k % width];
        }
    }
    Some(Moments {
        means: at.mean.own,
        squares,
    })
}

/// The same if S⁻¹ is not available: exact given the other effects, averaged over draws of those.
fn drawn_moments(
    collapsed: &MarginalDensity<'_>,
    at: &MarginalPoint,
    others: &[Vec<f64>],
    bench: &MixedWorkspace,
) -> Option<Moments> {
    let (design, width) = (&collapsed.design, collapsed.design.width);
    let ResponseRows::Normal(rows) = &collapsed.rows else {
        return None;
    };
    let mut right = rows.right(design, &at.given, &collapsed.parts.common.linear);
    bench.factor.whiten_own(design, &mut right);
    let mut means = vec![0.0; design.groups() * width];
    let mut squares = vec![0.0; means.len() * width];
    let share = (others.len() as f64).recip();
    for one in others {
        let mut given = Effects {
            own: right.own.clone(),
            others: one.clone(),
        };
        bench.factor.colour_own(design, &mut given);
        small::add(&mut means, share, &given.own);
        let groups = given.own.chunks_exact(width);
        for (mean, square) in groups.zip(squares.chunks_exact_mut(width * width)) {
            for (k, entry) in square.iter_mut().enumerate() {
                *entry += share * mean[k / width] * mean[k % width];
            }
        }
    }
    for (group, square) in squares.chunks_exact_mut(width * width).enumerate() {
        let own = small::inverse_of_factor(bench.factor.own_factor(design, group), width);
        small::add(square, 1.0, &own);
    }
    Some(Moments { means, squares })
}

/// The places of the other effects in a kept draw: those of blocks, and the common ones.
fn others(collapsed: &MarginalDensity<'_>) -> Vec<Others> {
    let parts = &collapsed.parts;
    let mut found: Vec<Others> = (parts.blocks[1..].iter())
        .map(|block| Others {
            places: block.places.clone().map(|at| parts.kept(at)).collect(),
            width: block.width,
        })
        .collect();
    let common = parts.common.places.iter();
    found.push(Others {
        places: common.map(|at| parts.kept(*at)).collect(),
        width: 1,
    });
    found
}

fn sums(collapsed: &MarginalDensity<'_>) -> Option<GroupSums> {
    let ResponseRows::Normal(rows) = &collapsed.rows else {
        return None;
    };
    let design = &collapsed.design;
    Some(GroupSums {
        own: rows.cross.own.clone(),
        pulled: rows.pulled.own.clone(),
        met: design.met.clone(),
        columns: design.columns.clone(),
        mixed: rows.cross.mixed.clone(),
    })
}
