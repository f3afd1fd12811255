//! What is kept of points where the largest block has too many numbers for its draws: draws of everything
//! else, the moments of each group, and the sums over its rows.
//!
//! Given θ the effects of a normal response are Gaussian, so that their moments need no draws:
//!
//! ```text
//! E u_g = Σ_k w_k û_g(θ_k),   cov u_g = Σ_k w_k (cov_g(θ_k) + û_g û_gᵀ) − E u_g E u_gᵀ
//! ```

use lehr_density::{Layout, Site};
use lehr_numeric::stream::Stream;
use rayon::prelude::*;

use super::best::Theta;
use super::collapsed::{Bench, Collapsed, Detail, Evaluated, ResponseRows};
use super::cross::Effects;
use super::gap::Care;
use super::near::Near;
use super::normal;
use super::sample::{Drawn, allotted};
use super::small;
use crate::spared::{GroupSums, Others, PriorAt, Spared};

/// Points whose moments are held at the same time.
const TOGETHER: usize = 2;

/// What is left of weighed points.
pub(super) struct Harvest {
    /// z without the largest block, draw after draw.
    pub(super) draws: Vec<f64>,
    pub(super) log_weights: Vec<f64>,
    /// What stands for the draws of the largest block where they are not kept.
    pub(super) spared: Option<Spared>,
}

/// The sites without the largest block.
pub(super) fn kept_layout(collapsed: &Collapsed<'_>) -> Layout {
    let latents = collapsed.parts.density.latents();
    let position = position(collapsed);
    let sites = latents.sites().iter().enumerate();
    let kept: Vec<Site> = sites
        .filter(|(place, _)| *place != position)
        .map(|(_, site)| site.clone())
        .collect();
    Layout::new(kept).expect("some sites of a layout are one")
}

fn position(collapsed: &Collapsed<'_>) -> usize {
    let latents = collapsed.parts.density.latents();
    let found = latents.position(&collapsed.parts.blocks[0].name);
    found.expect("a block is a site")
}

/// One point's share of everything.
struct Reaped {
    draws: Vec<f64>,
    means: Vec<f64>,
    /// Covariances and products of means.
    squares: Vec<f64>,
    prior: PriorAt,
}

/// Draws what is kept at weighed points, as many as their weights say, and sums up what is not; `None` if a number
/// is not finite.
pub(super) fn harvest(
    collapsed: &Collapsed<'_>,
    drawn: &Drawn,
    count: usize,
    seed: u64,
) -> Option<Harvest> {
    let points = &drawn.points;
    let (counts, allotted) = allotted(points, count);
    let firsts: Vec<usize> = (0..counts.len())
        .map(|k| counts[..k].iter().sum())
        .collect();
    // Without a factor the moments are those of the draws, and what has none of those has no part in them.
    let weights = if collapsed.design.large {
        super::sample::weights(&log_weights_of(&counts, &allotted))
    } else {
        points.weights()
    };
    let (design, size) = (&collapsed.design, collapsed.size());
    let width = design.width;
    let mut means = vec![0.0; design.groups() * width];
    let mut squares = vec![0.0; means.len() * width];
    let (mut draws, mut log_weights) = (Vec::new(), Vec::with_capacity(count));
    let (mut priors, mut of_draw) = (Vec::new(), Vec::with_capacity(count));
    let wanted: Vec<usize> = (0..points.len()).filter(|k| weights[*k] > 0.0).collect();
    // What each bench holds is large; sums are in the order of the points, however many are looked at together.
    let together = TOGETHER.min(rayon::current_num_threads());
    let mut benches: Vec<Bench> = (0..together).map(|_| collapsed.bench()).collect();
    for some in wanted.chunks(together) {
        let reap = |(&k, bench): (&usize, &mut Bench)| {
            let theta = &points.thetas[k * size..(k + 1) * size];
            let mut random = Stream::new(seed, "kept effects", k as u64);
            reap(collapsed, theta, (counts[k], &mut random), bench)
        };
        let pairs = some.par_iter().zip(&mut benches);
        let found: Vec<Option<Reaped>> = pairs.map(reap).collect();
        for (reaped, k) in found.into_iter().zip(some) {
            let reaped = reaped?;
            add(&mut means, weights[*k], &reaped.means);
            add(&mut squares, weights[*k], &reaped.squares);
            draws.extend(reaped.draws);
            // A point without weight gives no draws.
            log_weights.extend_from_slice(&allotted[firsts[*k]..][..counts[*k]]);
            of_draw.extend(vec![priors.len() as u32; counts[*k]]);
            priors.push(reaped.prior);
        }
    }
    centre(&mut squares, &means, width);
    let empty = without_groups(collapsed, seed)?;
    let spared = Spared {
        means,
        covariances: squares,
        priors,
        points: of_draw,
        ..empty
    };
    Some(Harvest {
        draws,
        log_weights,
        spared: Some(spared),
    })
}

/// What is known of the largest block before any point was looked at.
fn without_groups(collapsed: &Collapsed<'_>, seed: u64) -> Option<Spared> {
    Some(Spared {
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

/// The log weight of all draws of each point together.
fn log_weights_of(counts: &[usize], log_weights: &[f64]) -> Vec<f64> {
    let mut first = 0;
    let each = counts.iter().map(|count| {
        let own = log_weights.get(first).filter(|_| *count > 0);
        first += count;
        own.map_or(f64::NEG_INFINITY, |own| own + (*count as f64).ln())
    });
    each.collect()
}

fn add(into: &mut [f64], share: f64, more: &[f64]) {
    let pairs = into.iter_mut().zip(more);
    pairs.for_each(|(sum, more)| *sum += share * more);
}

/// Second moments around 0 as covariances.
fn centre(squares: &mut [f64], means: &[f64], width: usize) {
    let groups = squares.chunks_exact_mut(width * width);
    for (square, mean) in groups.zip(means.chunks_exact(width)) {
        for (k, entry) in square.iter_mut().enumerate() {
            *entry -= mean[k / width] * mean[k % width];
        }
    }
}

fn reap(
    collapsed: &Collapsed<'_>,
    theta: &[f64],
    (count, random): (usize, &mut Stream),
    bench: &mut Bench,
) -> Option<Reaped> {
    let at = collapsed.at(theta, &Near::default(), Care::Value, bench)?;
    let mut others = vec![vec![0.0; collapsed.design.rest]; count];
    let mut all: Vec<&mut [f64]> = others.iter_mut().map(Vec::as_mut_slice).collect();
    for one in &mut all {
        random.fill_normal(one);
    }
    bench.factor.colour_rest(&collapsed.design, &mut all)?;
    let mut draws = Vec::new();
    for one in &mut others {
        add(one, 1.0, &at.mean.others);
        let given = &at.given;
        draws.extend(collapsed.kept(Theta { theta, given }, one));
    }
    let prior = prior_at(collapsed, &at)?;
    let (means, squares) = match bench.factor.loose {
        None => exact_moments(collapsed, at, bench)?,
        Some(_) => drawn_moments(collapsed, &at, &others, bench)?,
    };
    Some(Reaped {
        draws,
        means,
        squares,
        prior,
    })
}

/// The means of the groups' effects and their second moments at an evaluated θ.
fn exact_moments(
    collapsed: &Collapsed<'_>,
    at: Evaluated,
    bench: &mut Bench,
) -> Option<(Vec<f64>, Vec<f64>)> {
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
    Some((at.mean.own, squares))
}

/// The same where S⁻¹ is not known: exact given the other effects, over the draws of those.
fn drawn_moments(
    collapsed: &Collapsed<'_>,
    at: &Evaluated,
    others: &[Vec<f64>],
    bench: &Bench,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let (design, width) = (&collapsed.design, collapsed.design.width);
    let Detail::Normal(solution) = &at.detail else {
        return None;
    };
    let mut means = vec![0.0; design.groups() * width];
    let mut squares = vec![0.0; means.len() * width];
    let share = (others.len() as f64).recip();
    for one in others {
        let mut given = Effects {
            own: solution.whitened.clone(),
            others: one.clone(),
        };
        bench.factor.colour_own(design, &mut given);
        add(&mut means, share, &given.own);
        let groups = given.own.chunks_exact(width);
        for (mean, square) in groups.zip(squares.chunks_exact_mut(width * width)) {
            for (k, entry) in square.iter_mut().enumerate() {
                *entry += share * mean[k / width] * mean[k % width];
            }
        }
    }
    for (group, square) in squares.chunks_exact_mut(width * width).enumerate() {
        let own = small::inverse_of_factor(bench.factor.own_factor(design, group), width);
        add(square, 1.0, &own);
    }
    Some((means, squares))
}

fn prior_at(collapsed: &Collapsed<'_>, at: &Evaluated) -> Option<PriorAt> {
    let blocks = collapsed.parts.blocks.iter().zip(&at.given.blocks);
    let turns = blocks.skip(1).map(|(block, prior)| match block.pivots {
        Some(_) => small::inverse(&prior.inverse, block.width).map(|found| found.0),
        None => Some(Vec::new()),
    });
    let mut turns: Vec<Vec<f64>> = turns.collect::<Option<_>>()?;
    turns.push(Vec::new());
    let own = &at.given.blocks[0];
    Some(PriorAt {
        scale: normal::precision(&at.given),
        precision: own.precision.clone(),
        linear: own.linear.clone(),
        inverse: own.inverse.clone(),
        turns,
    })
}

/// Where the other effects stand in a kept draw: those of blocks, and those that all rows share.
fn others(collapsed: &Collapsed<'_>) -> Vec<Others> {
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

fn sums(collapsed: &Collapsed<'_>) -> Option<GroupSums> {
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
