//! The density of the hyperparameters alone, with all random effects integrated out.

use std::sync::Arc;

use lehr_density::{Density, probe_rows};
use lehr_graph::Graph;
use lehr_numeric::lanczos::Probes;

use crate::best::{Problem, Theta};
use crate::cross::Effects;
use crate::curve::Grids;
use crate::design::Design;
use crate::factor::{Factor, Precision};
use crate::gap::{Accuracy, Around, Gaps, Local};
use crate::given::{Conditional, Given, Scratch};
use crate::likelihood::Likelihood;
use crate::marginal_point::{Detail, MarginalPoint, OtherAt, Shortfall};
use crate::near::WarmStart;
use crate::normal::{self, NormalRows};
use crate::parts::{Block, MOST_AXES, MOST_DENSE, Parts, reference};
use crate::pieces::BlockPrior;
use crate::sight::Sight;
use crate::workspace::MixedWorkspace;

/// log p(D, θ) of a density with collapsed effects: exact for a normal response, else by the
/// Gaussian variational approximation of the effects and the variational gaps of their groups.
pub struct MarginalDensity<'d> {
    pub(crate) parts: Parts<'d>,
    pub(crate) design: Design,
    pub(crate) conditional: Conditional,
    pub(crate) rows: ResponseRows,
    /// The Hutchinson probes, if R is too large to factorise.
    pub(crate) probes: Option<Arc<Probes>>,
    /// Pairs of blocks that assign the rows to the same groups: only the sums of their effects are
    /// identified.
    pub(crate) confounded: Vec<(String, String)>,
}

/// The sufficient statistics or data of the rows.
pub(crate) enum ResponseRows {
    Normal(NormalRows),
    Other(Box<OtherRows>),
}

/// Rows that are not normal.
pub(crate) struct OtherRows {
    pub(crate) likelihood: Likelihood,
    pub(crate) gaps: Gaps,
    /// The largest block, and the grids on which its groups are drawn.
    pub(crate) largest: Local,
    pub(crate) grids: Grids,
    /// The predictors of the sorted rows without effects.
    pub(crate) offsets: Vec<f64>,
}

/// The most numbers in a slope for which thousands of slopes take seconds.
const QUICK: usize = 3_000_000;

/// The search for the effects at a θ.
#[derive(Clone, Copy)]
struct Search<'a> {
    near: &'a WarmStart,
    care: Accuracy,
}

/// Nats that the last step of the variational iteration may promise if a value is wanted: the value
/// is then corrected by a parabola.
const ROUGH: f64 = 1.0;
/// The same if a slope is wanted.
const CLOSE: f64 = 1e-4;
impl<'d> MarginalDensity<'d> {
    /// Collapses a density.
    ///
    /// # Errors
    /// If that is not possible: the reason, as a clause.
    pub fn new(density: &'d dyn Density) -> Result<MarginalDensity<'d>, String> {
        let density = stacked(density);
        if density.elsewhere().is_some() {
            return MarginalDensity::tallied(Parts::of(density)?, Sight::Exact);
        }
        if density.n_rows() > LONG && is_normal(density)? {
            let seen = Parts::seen(density, Some(LONG)).ok();
            let narrow = seen.filter(|parts| parts.entries() <= NARROW);
            // If some rows do not show how all are read, all rows are examined.
            let tallied =
                narrow.and_then(|parts| MarginalDensity::tallied(parts, Sight::Exact).ok());
            if let Some(collapsed) = tallied {
                return Ok(collapsed);
            }
        }
        MarginalDensity::seen(density, Sight::Exact)
    }

    /// The same, with the rows examined in this way.
    pub(crate) fn seen(
        density: &'d dyn Density,
        sight: Sight,
    ) -> Result<MarginalDensity<'d>, String> {
        let mut parts = Parts::of(density)?;
        let conditional = Conditional::new(&parts);
        let mut scratch = conditional.scratch(&parts);
        let given = parts.given_at(&conditional, &reference(density), &mut scratch)?;
        let offsets = normal::offsets(&parts)
            .ok_or("latents that are not Gaussian given the others move the predictor")?;
        let noise = given.noise.filter(|_| sight.has_sums());
        let joined = match noise {
            // Rows that are summed need no joining.
            Some(_) => None,
            None => parts.join_rows(&offsets),
        };
        let offsets = joined.unwrap_or(offsets);
        let mut design = Design::new(&parts);
        design.large |= sight.is_loose();
        let confounded = parts.confounded();
        let rows = match noise {
            Some(noise) => {
                parts.forget_rows();
                ResponseRows::Normal(NormalRows::new(&parts, &design, noise))
            }
            None if design.large => {
                parts.check_rest(design.rest, MOST_DENSE)?;
                return Err("rows one by one need a dense matrix".into());
            }
            None => ResponseRows::Other(Box::new(OtherRows {
                likelihood: Likelihood::new(&parts, &design.order),
                gaps: Gaps::new(&parts, &design),
                largest: Local::new(&parts, &design, 0),
                grids: Grids::new(),
                offsets: design.sorted(&offsets),
            })),
        };
        if let ResponseRows::Normal(_) = rows {
            // From here on only their sums are needed.
            design.forget_rows();
        }
        MarginalDensity {
            confounded,
            probes: None,
            parts,
            design,
            conditional,
            rows,
        }
        .ready(sight)
    }

    /// Adds probes if they are needed.
    pub(crate) fn ready(mut self, sight: Sight) -> Result<MarginalDensity<'d>, String> {
        let probes = || Arc::new(sight.probes(self.design.common));
        self.probes = self.design.large.then(probes);
        let size = self.size();
        if size > MOST_AXES && !self.is_quick() {
            return Err(format!(
                "{size} numbers are not Gaussian given the others, and on a table of this size at \
                 most {MOST_AXES} can be searched"
            ));
        }
        Ok(self)
    }

    /// Whether chains over the hyperparameters take seconds only.
    pub fn is_quick(&self) -> bool {
        let design = &self.design;
        // The cost of a factor and an inverse.
        let rest = design.rest.pow(3) / 4;
        let square = design.width * design.width;
        let own = design.groups() * square * (8 * (1 + design.entries) + design.width);
        let rows = match self.rows {
            ResponseRows::Normal(_) => 0,
            // Three passes over the nodes of each block, and the products of each row's
            // coefficients.
            ResponseRows::Other(_) => {
                let products = square + design.entries.pow(2);
                design.order.len() * (32 * self.parts.blocks.len() + products)
            }
        };
        rest + own + rows <= QUICK
    }

    /// Whether the response is normal.
    pub fn is_normal(&self) -> bool {
        matches!(self.rows, ResponseRows::Normal(_))
    }

    /// The density, with one response per row.
    pub fn density(&self) -> &'d dyn Density {
        self.parts.density
    }

    /// d, the number of hyperparameters.
    pub fn size(&self) -> usize {
        self.parts.hyper.len()
    }

    /// A workspace for evaluations.
    pub fn bench(&self) -> MixedWorkspace {
        let desk = match &self.rows {
            ResponseRows::Normal(_) => None,
            ResponseRows::Other(rows) => Some(rows.likelihood.desk()),
        };
        let factor = Factor::new(self.probes.clone());
        MixedWorkspace::new(self.conditional.scratch(&self.parts), factor, desk)
    }

    /// The rows that are not normal, with their parts.
    pub(crate) fn problem<'a>(&'a self, rows: &'a OtherRows) -> Problem<'a> {
        Problem {
            parts: &self.parts,
            design: &self.design,
            likelihood: &rows.likelihood,
            offsets: &rows.offsets,
        }
    }

    /// The prior of the effects at θ.
    pub(crate) fn given(&self, theta: &[f64], bench: &mut MixedWorkspace) -> Option<Given> {
        let sound = theta.iter().all(|entry| entry.abs() < 700.0);
        let found = || self.conditional.at(&self.parts, theta, &mut bench.scratch);
        sound.then(found).flatten()
    }

    /// log p(D, θ) and the effects given θ; `None` if it is not finite.
    pub fn at(
        &self,
        theta: &[f64],
        near: &WarmStart,
        care: Accuracy,
        bench: &mut MixedWorkspace,
    ) -> Option<MarginalPoint> {
        let given = self.given(theta, bench)?;
        match &self.rows {
            ResponseRows::Normal(rows) => self.normal_at(rows, given, bench),
            ResponseRows::Other(rows) => {
                let at = Theta {
                    theta,
                    given: &given,
                };
                let (value, mean, other) = self.other_at(rows, at, Search { near, care }, bench)?;
                Some(MarginalPoint {
                    value,
                    given,
                    mean,
                    detail: Detail::Other(Box::new(other)),
                })
            }
        }
    }

    fn normal_at(
        &self,
        rows: &NormalRows,
        given: Given,
        bench: &mut MixedWorkspace,
    ) -> Option<MarginalPoint> {
        let common = &self.parts.common;
        let precision = Precision {
            cross: &rows.cross,
            scale: normal::precision(&given),
            given: &given,
            common,
        };
        bench.factors += 1;
        bench.factor.refill(&self.design, &precision)?;
        let right = rows.right(&self.design, &given, &common.linear);
        let solution = bench.factor.solve(&self.design, right);
        let value = rows.value(&given, solution.fitted, bench.factor.log_det);
        value.is_finite().then_some(MarginalPoint {
            value,
            given,
            mean: solution.effects,
            detail: Detail::Normal(solution.fitted),
        })
    }

    fn other_at(
        &self,
        rows: &OtherRows,
        at: Theta<'_>,
        search: Search<'_>,
        bench: &mut MixedWorkspace,
    ) -> Option<(f64, Effects, OtherAt)> {
        let Search { near, care } = search;
        let problem = self.problem(rows);
        let close = match care {
            Accuracy::Value => ROUGH,
            Accuracy::Slope => CLOSE,
        };
        let (warm, told) = near
            .start(at.theta)
            .map_or((None, None), |start| (Some(start.state), start.gap));
        let mut found = warm.and_then(|state| problem.climb(at, state, close, bench));
        if found.is_none() {
            // The nearby effects were too far away.
            let state = problem.mode(at, bench)?;
            found = problem.climb(at, state, close, bench);
        }
        let (state, step) = found?;
        let around = Around {
            at,
            mean: &step.mean,
            curves: &step.averages.curves,
        };
        let gaps = match told {
            // Draws are weighted by the rows themselves, so a gap only affects the proposal.
            Some(gap) if care == Accuracy::Value => Shortfall::Told(gap),
            _ => Shortfall::Measured(rows.gaps.measure(&problem, around, care, bench)?),
        };
        let other = OtherAt {
            state,
            averages: step.averages,
            gaps,
        };
        Some((step.bound + step.gain + other.gap(), step.mean, other))
    }

    /// The variational gap at an evaluated θ in words, block by block.
    pub(crate) fn shortfall(&self, at: &MarginalPoint) -> Option<String> {
        let Detail::Other(other) = &at.detail else {
            return None;
        };
        let words = self.parts.blocks.iter().zip(&other.measured()?.blocks);
        let words = words.map(|(block, gap)| match gap {
            Some(gap) => format!("{:.2} nats of {}", gap.value, block.name),
            None => format!("not measured of {}", block.name),
        });
        Some(words.collect::<Vec<String>>().join(", "))
    }

    /// The result of `each` for every group, by the place of its block; 0 for common effects.
    pub(crate) fn by_block(
        &self,
        effects: &Effects,
        each: impl Fn(usize, &[f64]) -> Vec<f64>,
    ) -> Effects {
        let mut found = Effects::zero(&self.design);
        let fill = |f: usize, width: usize, from: &[f64], into: &mut [f64]| {
            let groups = from.chunks_exact(width).zip(into.chunks_exact_mut(width));
            groups.for_each(|(group, into)| into.copy_from_slice(&each(f, group)));
        };
        fill(0, self.design.width, &effects.own, &mut found.own);
        for (f, place) in self.design.blocks.iter().enumerate() {
            let range = place.start..place.end();
            let from = &effects.others[range.clone()];
            fill(f + 1, place.width, from, &mut found.others[range]);
        }
        found
    }

    /// Σ w of a normal response, which determines the precision of its noise.
    pub(crate) fn weight(&self) -> f64 {
        match &self.rows {
            ResponseRows::Normal(rows) => rows.weight,
            ResponseRows::Other(_) => 0.0,
        }
    }

    /// z from effects and θ, each effect in the place and form of the model.
    pub(crate) fn latents(&self, theta: &[f64], given: &Given, effects: &Effects) -> Vec<f64> {
        let kept = self.kept(Theta { theta, given }, &effects.others);
        let block = &self.parts.blocks[0];
        let mut z = Vec::with_capacity(kept.len() + effects.own.len());
        z.extend_from_slice(&kept[..block.places.start]);
        z.resize(block.places.end, 0.0);
        turned(
            block,
            &given.blocks[0],
            &effects.own,
            &mut z[block.places.start..],
        );
        z.extend_from_slice(&kept[block.places.start..]);
        z
    }

    /// How many numbers a draw has without the largest block.
    pub(crate) fn kept_size(&self) -> usize {
        self.parts.density.latents().size() - self.parts.blocks[0].places.len()
    }

    /// The same without the largest block.
    pub(crate) fn kept(&self, at: Theta<'_>, others: &[f64]) -> Vec<f64> {
        let parts = &self.parts;
        let mut z = vec![0.0; self.kept_size()];
        for (place, value) in parts.hyper.iter().zip(at.theta) {
            z[parts.kept(*place)] = *value;
        }
        let blocks = parts.blocks[1..].iter().zip(&at.given.blocks[1..]);
        for ((block, prior), place) in blocks.zip(&self.design.blocks) {
            let into = &mut z[parts.kept(block.places.start)..];
            turned(block, prior, &others[place.start..place.end()], into);
        }
        let common = &others[self.design.common..];
        for (place, value) in parts.common.places.iter().zip(common) {
            z[parts.kept(*place)] = *value;
        }
        z
    }
}

/// The least number of rows for which group sums are computed by one pass, with a sample of rows
/// that shows how all are read.
pub(crate) const LONG: usize = 1 << 16;
/// The most numbers that a row may read in such a pass. Products of more are computed for many rows
/// at once, if they are in memory.
const NARROW: usize = 64;

/// Whether a density that can be split has a normal response.
pub(crate) fn is_normal(density: &dyn Density) -> Result<bool, String> {
    let split = density.split()?;
    let graph = Graph::new();
    let (at, rows) = probe_rows(&graph, density);
    Ok(split.noise_scale(&at, &rows).is_some())
}

/// The density with one response per row.
pub(crate) fn stacked(density: &dyn Density) -> &dyn Density {
    density.stacked().unwrap_or(density)
}

/// Whether a density has random effects that can be collapsed, as far as its rows show before
/// anything is summed: some of them, and all if those do not show it.
pub fn has_random_effects(density: &dyn Density) -> bool {
    const SOME: usize = 2000;
    let density = stacked(density);
    if density.elsewhere().is_some() {
        return is_normal(density) == Ok(true) && Parts::of(density).is_ok();
    }
    let is_long = density.n_rows() > SOME;
    is_long && Parts::seen(density, Some(SOME)).is_ok() || Parts::of(density).is_ok()
}

impl Parts<'_> {
    /// The prior of the effects given the hyperparameters in z.
    pub(crate) fn given_at(
        &self,
        conditional: &Conditional,
        z: &[f64],
        scratch: &mut Scratch,
    ) -> Result<Given, String> {
        let theta: Vec<f64> = self.hyper.iter().map(|place| z[*place]).collect();
        let given = conditional.at(self, &theta, scratch);
        given.ok_or_else(|| "the log prior is not finite at its start".into())
    }
}

/// The effects of a block in the coordinates of its site.
fn turned(block: &Block, prior: &BlockPrior, effects: &[f64], into: &mut [f64]) {
    let into = into.chunks_exact_mut(block.width);
    for (into, group) in into.zip(effects.chunks_exact(block.width)) {
        into.copy_from_slice(&prior.inverse.apply(group));
    }
}
