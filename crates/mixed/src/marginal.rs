//! The marginal density of the hyperparameters: log p(D, θ), with all effects integrated out.

use std::ops::Range;
use std::sync::Arc;

use lehr_density::{Density, probe_rows};
use lehr_graph::Graph;
use lehr_numeric::lanczos::Probes;
use lehr_numeric::quadrature::Rule;
use lehr_rows::RowsError;
use rayon::prelude::*;

use crate::cross_products::{CrossProducts, Effects};
use crate::effect_structure::{
    EffectStructure, MOST_AXES, MOST_DENSE, RandomEffectBlock, reference,
};
use crate::elimination_order::EliminationOrder;
use crate::gaussian_response::{self, GaussianSums};
use crate::group_grid::GridNodes;
use crate::group_integral::{Accuracy, EffectCentre, GroupRows, narrow_blocks};
use crate::marginal_point::{Detail, MarginalPoint, NonGaussianPoint};
use crate::prior::{EffectPrior, EffectPriorProgram};
use crate::prior_terms::BlockPrior;
use crate::row_averages::RowLikelihood;
use crate::schur::{EffectPrecision, SchurFactor};
use crate::variational_gaussian::{EffectProblem, ThetaPrior};
use crate::warm_start::WarmStart;
use crate::workspace::MixedWorkspace;

/// log p(D, θ) of a mixed model: exact for a normal response, else by the
/// Gaussian variational approximation of the effects and the variational gaps of their groups.
pub struct MarginalDensity<'d> {
    pub(crate) model: EffectStructure<'d>,
    pub(crate) order: Arc<EliminationOrder>,
    pub(crate) conditional: EffectPriorProgram,
    pub(crate) rows: ResponseRows<'d>,
    /// The Hutchinson probes, if R is too large to factorise.
    pub(crate) probes: Option<Arc<Probes>>,
    /// Pairs of blocks that assign the rows to the same groups: only the sums of their effects are
    /// identified.
    pub(crate) confounded: Vec<(usize, usize)>,
}

/// The reasons why effects cannot be integrated out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MarginalError {
    /// The model or its rows do not allow it: the reason, as a clause.
    #[error("{0}")]
    Refusal(String),
    /// Rows cannot be reached.
    #[error(transparent)]
    Rows(#[from] RowsError),
}

impl From<String> for MarginalError {
    fn from(reason: String) -> MarginalError {
        MarginalError::Refusal(reason)
    }
}

/// The sufficient statistics or data of the rows.
pub(crate) enum ResponseRows<'d> {
    Normal(GaussianSums),
    Other(Box<NonGaussianRows<'d>>),
}

/// Rows that are not normal.
pub(crate) struct NonGaussianRows<'d> {
    pub(crate) likelihood: RowLikelihood<'d>,
    pub(crate) narrow: Vec<(GroupRows, Rule)>,
    /// The largest block, and the grids on which its groups are drawn.
    pub(crate) largest: GroupRows,
    pub(crate) grids: GridNodes,
    /// The predictors of the sorted rows without effects.
    pub(crate) offsets: Vec<f64>,
}

/// The most numbers in a slope for which thousands of slopes take seconds.
const QUICK: usize = 3_000_000;

/// The search for the effects at a θ.
#[derive(Clone, Copy)]
struct EffectSearch<'a> {
    theta: &'a [f64],
    warm_start: &'a WarmStart,
    accuracy: Accuracy,
}

/// Nats that the last step of the variational iteration may promise if a value is wanted: the value
/// is then corrected by a parabola.
const ROUGH: f64 = 1.0;
/// The same if a slope is wanted.
const CLOSE: f64 = 1e-4;
impl<'d> MarginalDensity<'d> {
    /// Integrates the effects out of a density.
    ///
    /// # Errors
    /// If that is not possible: the reason, as a clause. If rows cannot be reached.
    pub fn new(density: &'d dyn Density) -> Result<MarginalDensity<'d>, MarginalError> {
        let density = stacked(density);
        if density.elsewhere().is_some() {
            return MarginalDensity::from_group_sums(EffectStructure::read(density)?, None);
        }
        if density.n_rows() > LONG && is_normal(density)? {
            let seen = EffectStructure::read_sample(density, Some(LONG)).ok();
            let narrow = seen.filter(|model| model.entries() <= NARROW);
            // If some rows do not show how all are read, all rows are examined.
            let found = narrow.map(|model| MarginalDensity::from_group_sums(model, None));
            if let Some(Ok(marginal)) = found {
                return Ok(marginal);
            }
        }
        MarginalDensity::with_rows(density, false, None)
    }

    /// The same from all rows: one by one even if the response is normal, if `by_row`, and without
    /// a factor of the Schur complement however small it is, if there are probes.
    pub(crate) fn with_rows(
        density: &'d dyn Density,
        by_row: bool,
        probes: Option<fn(usize) -> Probes>,
    ) -> Result<MarginalDensity<'d>, MarginalError> {
        let mut model = EffectStructure::read(density)?;
        let conditional = EffectPriorProgram::new(&model);
        let prior = conditional.at_latents(&model, &reference(density))?;
        let offsets = gaussian_response::read_offsets(&model).ok_or_else(|| {
            "latents that are not Gaussian given the others move the predictor".to_owned()
        })?;
        let noise = prior.noise.filter(|_| !by_row);
        let joined = match noise {
            // Rows that are summed need no joining.
            Some(_) => None,
            None => model.join_rows(&offsets),
        };
        let offsets = joined.unwrap_or(offsets);
        let mut order = EliminationOrder::new(&model);
        order.large |= probes.is_some();
        let confounded = model.confounded();
        let rows = match noise {
            Some(noise) => {
                model.forget_rows();
                ResponseRows::Normal(GaussianSums::new(&model, &order, noise))
            }
            None if order.large => {
                model.check_rest(order.rest, MOST_DENSE)?;
                return Err(MarginalError::Refusal(
                    "rows one by one need a dense matrix".into(),
                ));
            }
            None => ResponseRows::Other(Box::new(NonGaussianRows {
                likelihood: RowLikelihood::new(&model, &order.rows),
                narrow: narrow_blocks(&model, &order),
                largest: GroupRows::new(&model, &order, 0),
                grids: GridNodes::new(),
                offsets: order.sorted(&offsets),
            })),
        };
        if let ResponseRows::Normal(_) = rows {
            // From here on only their sums are needed.
            order.forget_rows();
        }
        MarginalDensity {
            confounded,
            probes: None,
            model,
            order: Arc::new(order),
            conditional,
            rows,
        }
        .with_probes(probes)
    }

    /// Adds probes if they are needed.
    pub(crate) fn with_probes(
        mut self,
        probes: Option<fn(usize) -> Probes>,
    ) -> Result<MarginalDensity<'d>, MarginalError> {
        let probes = probes.unwrap_or(Probes::random_signs);
        self.probes = (self.order.large).then(|| Arc::new(probes(self.order.common)));
        let size = self.size();
        if size > MOST_AXES && !self.is_quick() {
            return Err(MarginalError::Refusal(format!(
                "{size} numbers are not Gaussian given the others, and on a table of this size at \
                 most {MOST_AXES} can be searched"
            )));
        }
        Ok(self)
    }

    /// Whether chains over the hyperparameters take seconds only.
    pub fn is_quick(&self) -> bool {
        let order = &self.order;
        // The cost of a factor and an inverse.
        let rest = order.rest.pow(3) / 4;
        let square = order.width * order.width;
        let own = order.groups() * square * (8 * (1 + order.entries) + order.width);
        let rows = match self.rows {
            ResponseRows::Normal(_) => 0,
            // Three passes over the nodes of each block, and the products of each row's
            // coefficients.
            ResponseRows::Other(_) => {
                let products = square + order.entries.pow(2);
                order.rows.len() * (32 * self.model.blocks.len() + products)
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
        self.model.density
    }

    /// d, the number of hyperparameters.
    pub fn size(&self) -> usize {
        self.model.hyper.len()
    }

    /// A workspace for evaluations.
    pub fn workspace(&self) -> MixedWorkspace {
        let row_workspace = match &self.rows {
            ResponseRows::Normal(_) => None,
            ResponseRows::Other(rows) => Some(rows.likelihood.row_workspace()),
        };
        MixedWorkspace {
            scratch: self.conditional.scratch(&self.model),
            factor: SchurFactor::new(Arc::clone(&self.order), self.probes.clone()),
            cross: CrossProducts::default(),
            row_workspace,
            factors: 0,
            inverses: 0,
        }
    }

    /// Results in parallel, each thread with its own workspace.
    pub(crate) fn in_parallel<T: Send>(
        &self,
        range: Range<usize>,
        of: impl Fn(&mut MixedWorkspace, usize) -> T + Send + Sync,
    ) -> Vec<T> {
        let workspace = || self.workspace();
        range.into_par_iter().map_init(workspace, of).collect()
    }

    /// The rows that are not normal, with their parts.
    pub(crate) fn problem<'a>(&'a self, rows: &'a NonGaussianRows<'a>) -> EffectProblem<'a> {
        EffectProblem {
            model: &self.model,
            order: &self.order,
            likelihood: &rows.likelihood,
            offsets: &rows.offsets,
        }
    }

    /// The prior of the effects at θ.
    pub(crate) fn effect_prior(
        &self,
        theta: &[f64],
        work: &mut MixedWorkspace,
    ) -> Option<EffectPrior> {
        let sound = theta.iter().all(|entry| entry.abs() < 700.0);
        let found = || self.conditional.at(&self.model, theta, &mut work.scratch);
        sound.then(found).flatten()
    }

    /// log p(D, θ) and the effects given θ; `None` if it is not finite.
    pub fn evaluate(
        &self,
        theta: &[f64],
        warm_start: &WarmStart,
        accuracy: Accuracy,
        work: &mut MixedWorkspace,
    ) -> Option<MarginalPoint> {
        let prior = self.effect_prior(theta, work)?;
        match &self.rows {
            ResponseRows::Normal(rows) => self.normal_at(rows, theta, prior, work),
            ResponseRows::Other(rows) => {
                let search = EffectSearch {
                    theta,
                    warm_start,
                    accuracy,
                };
                self.other_at(rows, prior, search, work)
            }
        }
    }

    fn normal_at(
        &self,
        rows: &GaussianSums,
        theta: &[f64],
        prior: EffectPrior,
        work: &mut MixedWorkspace,
    ) -> Option<MarginalPoint> {
        work.factors += 1;
        work.factor.refill(&EffectPrecision {
            cross: &rows.cross,
            scale: gaussian_response::noise_precision(&prior),
            prior: &prior,
            common: &self.model.common,
        })?;
        let right = rows.right_side(&self.order, &self.model, &prior);
        let solution = work.factor.solve(right);
        let value = rows.log_density(&prior, solution.fitted, work.factor.log_det);
        value.is_finite().then_some(MarginalPoint {
            theta: theta.to_vec(),
            value,
            prior,
            mean: solution.effects,
            detail: Detail::Normal(solution.fitted),
        })
    }

    fn other_at(
        &self,
        rows: &NonGaussianRows<'_>,
        prior: EffectPrior,
        search: EffectSearch<'_>,
        work: &mut MixedWorkspace,
    ) -> Option<MarginalPoint> {
        let (problem, accuracy) = (self.problem(rows), search.accuracy);
        let at = ThetaPrior {
            theta: search.theta,
            prior: &prior,
        };
        let close = match accuracy {
            Accuracy::Value => ROUGH,
            Accuracy::Slope => CLOSE,
        };
        let start = search.warm_start.predict(at.theta);
        let (warm, predicted_gap) = start.unzip();
        let mut found = warm.and_then(|state| problem.maximise(at, state, close, work));
        if found.is_none() {
            // The nearby effects were too far away.
            let state = problem.mode(at, work)?;
            found = problem.maximise(at, state, close, work);
        }
        let (state, step) = found?;
        let around = EffectCentre {
            problem,
            at,
            mean: &step.mean,
            curves: &step.averages.curves,
        };
        let (gap, gaps) = match predicted_gap.flatten() {
            // Draws are weighted by the rows themselves, so a gap only affects the proposal.
            Some(gap) if accuracy == Accuracy::Value => (gap, None),
            _ => {
                let gaps = around.measure_gaps(&rows.narrow, accuracy, work)?;
                (gaps.total, Some(gaps))
            }
        };
        let other = NonGaussianPoint {
            state,
            averages: step.averages,
            gap,
            gaps,
        };
        Some(MarginalPoint {
            theta: search.theta.to_vec(),
            value: step.bound + step.gain + gap,
            prior,
            mean: step.mean,
            detail: Detail::Other(Box::new(other)),
        })
    }

    /// The variational gap at an evaluated θ in words, block by block.
    pub(crate) fn gap_in_words(&self, at: &MarginalPoint) -> Option<String> {
        let Detail::Other(other) = &at.detail else {
            return None;
        };
        let words = self.model.blocks.iter().zip(&other.gaps.as_ref()?.blocks);
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
        let mut found = Effects::zero(&self.order);
        let blocks = effects
            .blocks(&self.order)
            .zip(found.blocks_mut(&self.order));
        for (f, ((width, from), (_, into))) in blocks.take(self.model.blocks.len()).enumerate() {
            let groups = from.chunks_exact(width).zip(into.chunks_exact_mut(width));
            groups.for_each(|(group, into)| into.copy_from_slice(&each(f, group)));
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
    pub(crate) fn latents(&self, at: ThetaPrior<'_>, effects: &Effects) -> Vec<f64> {
        let kept = self.kept_latents(at, &effects.others);
        let block = &self.model.blocks[0];
        let mut own = vec![0.0; block.places.len()];
        to_site(block, &at.prior.blocks[0], &effects.own, &mut own);
        let (before, after) = kept.split_at(block.places.start);
        [before, &own, after].concat()
    }

    /// How many numbers a draw has without the largest block.
    pub(crate) fn kept_size(&self) -> usize {
        self.model.density.latents().size() - self.model.blocks[0].places.len()
    }

    /// The same without the largest block.
    pub(crate) fn kept_latents(&self, at: ThetaPrior<'_>, others: &[f64]) -> Vec<f64> {
        let model = &self.model;
        let mut z = vec![0.0; self.kept_size()];
        for (place, value) in model.hyper.iter().zip(at.theta) {
            z[model.kept_place(*place)] = *value;
        }
        let blocks = model.blocks[1..].iter().zip(&at.prior.blocks[1..]);
        for ((block, prior), place) in blocks.zip(&self.order.blocks) {
            let into = &mut z[model.kept_place(block.places.start)..];
            to_site(block, prior, &others[place.range()], into);
        }
        let common = &others[self.order.common..];
        for (place, value) in model.common.places.iter().zip(common) {
            z[model.kept_place(*place)] = *value;
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

/// Whether a density has random effects that can be integrated out, as far as its rows show before
/// anything is summed: some of them, and all if those do not show it.
pub fn has_random_effects(density: &dyn Density) -> bool {
    const SOME: usize = 2000;
    let density = stacked(density);
    if density.elsewhere().is_some() {
        return is_normal(density) == Ok(true) && EffectStructure::read(density).is_ok();
    }
    let is_long = density.n_rows() > SOME;
    is_long && EffectStructure::read_sample(density, Some(SOME)).is_ok()
        || EffectStructure::read(density).is_ok()
}

/// The effects of a block in the coordinates of its site.
fn to_site(block: &RandomEffectBlock, prior: &BlockPrior, effects: &[f64], into: &mut [f64]) {
    let into = into.chunks_exact_mut(block.width);
    for (into, group) in into.zip(effects.chunks_exact(block.width)) {
        into.copy_from_slice(&prior.inverse.apply(group));
    }
}
