//! Finds the structure of a mixed model by evaluating its rows, and checks the assumptions of the
//! algebra.

use std::ops::Range;

use lehr_density::{ColumnKind, Density, RowSet, Rows, SplitRows, rows_here};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};
use lehr_rows::{Argument, RowPass};

use crate::dependence::{ModelPart, point_at, slope_depends_on};
use crate::effect_structure::{
    EffectCovariance, EffectStructure, FixedEffectBlock, RandomEffectBlock, moved, reference,
};
use crate::hyperparameter_map::{DiagonalMap, HyperparameterMap, PivotRows};
use crate::tolerance::{ROUNDING, probe_pattern};

/// The most effects of one group.
const MOST_WIDTH: usize = 64;
/// The most effects of a block of one group with independent priors.
const MOST_COLUMNS: usize = 512;
/// Directions per pass over the rows.
const LANES: usize = 4;
/// The least number of latents for which directions are evaluated one by one, because a plan stores
/// several numbers per latent and direction.
const MANY: usize = 1 << 18;

/// The change of the predictor along a direction: at the first input, along the second.
fn gain<'g>(split: &dyn SplitRows, inputs: &[Expr<'g>], rows: &Rows<'g>) -> Vec<Expr<'g>> {
    let graph = inputs[0].graph();
    let at = point_at(inputs[0]);
    let predictor = split.predictor(&at, rows);
    graph.jvp(&[predictor], &[at.latents], &[inputs[1]])
}

/// Evaluates a density for the numbers of its rows.
pub(crate) struct StructureReader<'d> {
    density: &'d dyn Density,
    split: &'d dyn SplitRows,
    /// The positions of the sites that are not effects.
    hyper: Vec<usize>,
    origin: Vec<f64>,
    pass: RowPass<'d>,
    /// The number of directions per pass.
    lanes: usize,
    /// The examined rows, in the order of batches, if not all.
    sample: Option<Vec<usize>>,
}

impl<'d> StructureReader<'d> {
    /// Examines all rows, or the first `most` in the order of batches.
    pub(crate) fn new(
        density: &'d dyn Density,
        split: &'d dyn SplitRows,
        most: Option<usize>,
    ) -> StructureReader<'d> {
        let size = density.latents().size();
        let sizes = [Argument::Shared(size), Argument::PerLane(size)];
        let lanes = if size < MANY { LANES } else { 1 };
        let sample = most.map(|most| (0..most.min(density.n_rows())).collect::<Vec<usize>>());
        let pass = match &sample {
            Some(some) => {
                RowPass::of_rows(rows_here(density), (lanes, some), &sizes, |inputs, rows| {
                    gain(split, inputs, rows)
                })
            }
            None => RowPass::new(rows_here(density), lanes, &sizes, |inputs, rows| {
                gain(split, inputs, rows)
            }),
        };
        let sites = 0..density.latents().sites().len();
        StructureReader {
            density,
            split,
            hyper: sites
                .filter(|s| !split.effect_sites().contains(s))
                .collect(),
            origin: reference(density),
            pass,
            lanes,
            sample,
        }
    }

    /// How many rows are examined.
    fn n_rows(&self) -> usize {
        let some = self.sample.as_ref().map(Vec::len);
        some.unwrap_or(self.density.n_rows())
    }

    /// The change of each row's predictor along some directions in z, direction after direction.
    fn along(&mut self, directions: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let (size, rows) = (self.origin.len(), self.n_rows());
        let mut found = vec![vec![0.0; rows]; directions.len()];
        let count = self.lanes;
        for (some, into) in directions.chunks(count).zip(found.chunks_mut(count)) {
            let mut lanes = vec![0.0; count * size];
            for (lane, direction) in lanes.chunks_mut(size).zip(some) {
                lane.copy_from_slice(direction);
            }
            self.pass
                .each(&[&self.origin, &lanes], |rows, workspace| -> Option<()> {
                    let output = workspace.output(0);
                    for (lane, into) in into.iter_mut().enumerate() {
                        let from = (lane * rows.len()) % output.len();
                        into[rows.clone()].copy_from_slice(&output[from..from + rows.len()]);
                    }
                    None
                });
        }
        found
    }

    /// Whether the gradient of the log prior is affine in the effects, as for a Gaussian;
    /// derivatives do not show kinks.
    pub(crate) fn has_gaussian_prior(&self) -> bool {
        let latents = self.density.latents();
        let effects = self.split.effect_sites().iter();
        let places: Vec<usize> = effects.flat_map(|site| latents.range(*site)).collect();
        let mut prior = PriorHessian::new(self.density);
        let still = vec![0.0; self.origin.len()];
        let mut slope = |share: f64| {
            let mut z = self.origin.clone();
            for &place in &places {
                z[place] += share * (1.0 + 0.5 * (place as f64).sin());
            }
            prior.run(&z, &still).0
        };
        let [low, zero, high, far] = [-1.0, 0.0, 1.0, 2.0].map(&mut slope);
        let is_affine = |place: &usize| {
            let [low, zero, high, far] = [&low, &zero, &high, &far].map(|slope| slope[*place]);
            let size = low.abs() + zero.abs() + high.abs() + far.abs();
            let bend = (low + high - 2.0 * zero).abs() + (far + zero - 2.0 * high).abs();
            bend <= ROUNDING * size
        };
        places.iter().all(is_affine)
    }

    /// The block of a site; `None` if its effects are common.
    pub(crate) fn block(&mut self, site: usize) -> Result<Option<RandomEffectBlock>, String> {
        let latents = self.density.latents();
        let own = &latents.sites()[site];
        let moves = slope_depends_on((self.density, ModelPart::Predictor), &[site], &self.hyper);
        let is_fixed =
            !moves && !slope_depends_on((self.density, ModelPart::Prior), &[site], &self.hyper);
        let Some(mut block) = self.read(site, is_fixed)? else {
            return Ok(None);
        };
        let effects = self.split.effect_sites().iter().copied();
        let others: Vec<usize> = effects.filter(|other| *other != site).collect();
        let refusal = |why: &str| format!("{why} {:?}", own.name);
        if slope_depends_on((self.density, ModelPart::Prior), &[site], &others) {
            return Err(refusal("other effects are in the prior of"));
        }
        let hyper = self.hyper.iter().flat_map(|site| latents.range(*site));
        let elsewhere = moved(&self.origin, &hyper.collect::<Vec<usize>>());
        let reference = std::mem::replace(&mut self.origin, elsewhere);
        let after = moves.then(|| self.columns(&Self::effects_of(&block.places, block.width)));
        let covariance = self.covariance(&block);
        self.origin = reference;
        if let Some(after) = after {
            block.theta_map = theta_map(&block, &after).map_err(refusal)?;
        }
        block.covariance = covariance.ok_or_else(|| refusal(DIFFERENT))?;
        match (&block.theta_map, block.covariance) {
            (
                HyperparameterMap::Identity | HyperparameterMap::Scaled(_),
                EffectCovariance::Independent,
            ) => Ok(Some(block)),
            _ if block.width <= MOST_WIDTH => Ok(Some(block)),
            _ => Err(too_wide(&block)),
        }
    }

    /// The rows' groups and coefficients of a site. Effects that no row reads by group are a block
    /// of one group, or `None` if they are fixed: neither coefficients nor prior depend on θ.
    fn read(&mut self, site: usize, is_fixed: bool) -> Result<Option<RandomEffectBlock>, String> {
        let latents = self.density.latents();
        let (own, places) = (&latents.sites()[site], latents.range(site));
        let groups = own.dims.first().copied().unwrap_or(1);
        let width = places.len() / groups.max(1);
        let found = match self.codes(groups) {
            codes if groups > 1 && width <= MOST_WIDTH => self.grouped(&places, width, codes),
            _ => None,
        };
        let block = |(column, codes, coefficients), groups, width| RandomEffectBlock {
            site,
            name: own.name.clone(),
            places: places.clone(),
            groups,
            width,
            column,
            codes,
            coefficients,
            theta_map: HyperparameterMap::Identity,
            covariance: EffectCovariance::Joint,
        };
        match found {
            Some(rows) => Ok(Some(block(rows, groups, width))),
            None if is_fixed => Ok(None),
            None if places.len() <= MOST_COLUMNS => {
                let columns = self.columns(&Self::effects_of(&places, places.len()));
                let rows = (None, vec![0; self.n_rows()], columns);
                Ok(Some(block(rows, 1, places.len())))
            }
            None => {
                let rows = (None, Vec::new(), Vec::new());
                Err(too_wide(&block(rows, 1, places.len())))
            }
        }
    }

    /// The prior dependence among the effects of a group; `None` unless the log prior of every
    /// group has the same gradient at 0 and the same Hessian, and no two groups are dependent.
    fn covariance(&self, block: &RandomEffectBlock) -> Option<EffectCovariance> {
        let width = block.width;
        let share = |k: usize| 1.0 + 0.5 * (0.3 + 1.3 * (k / width) as f64).sin();
        let mut prior = PriorHessian::new(self.density);
        let mut found = EffectCovariance::Independent;
        for effect in 0..width {
            let mut along = vec![0.0; self.origin.len()];
            for group in 0..block.groups {
                along[block.places.start + group * width + effect] = share(group * width);
            }
            let (slope, product) = prior.run(&self.origin, &along);
            let (slope, product) = (&slope[block.places.clone()], &product[block.places.clone()]);
            let same = |k: usize| {
                let (own, first) = (product[k] / share(k), product[k % width] / share(0));
                let (a, b) = (slope[k], slope[k % width]);
                (own - first).abs() <= ROUNDING * (own.abs() + first.abs())
                    && (a - b).abs() <= ROUNDING * (a.abs() + b.abs())
            };
            if !(0..block.places.len()).all(same) {
                return None;
            }
            if (0..width).any(|other| other != effect && product[other] != 0.0) {
                found = EffectCovariance::Joint;
            }
        }
        Some(found)
    }

    /// The index columns with this many levels, by their places, and the groups of the rows.
    fn codes(&self, levels: usize) -> Vec<(usize, Vec<u32>)> {
        let columns = self.density.columns().iter().enumerate();
        let own = columns.filter(|(_, column)| column.kind == ColumnKind::Index { levels });
        let read = |(place, _): (usize, &lehr_density::Column)| {
            let mut codes = vec![0; self.n_rows()];
            let (source, rows) = match &self.sample {
                Some(rows) => (rows_here(self.density).batch_order(), RowSet::List(rows)),
                None => (self.density.source(), RowSet::Range(0..codes.len())),
            };
            source.copy_indices(place, &rows, &mut codes);
            (place, codes)
        };
        own.map(read).collect()
    }

    /// The places of each effect of a block's groups.
    fn effects_of(places: &Range<usize>, width: usize) -> Vec<Vec<usize>> {
        let own = |effect: usize| places.clone().skip(effect).step_by(width).collect();
        (0..width).map(own).collect()
    }

    /// The coefficient of each effect, row after row, if a row reads one of its places.
    fn columns(&mut self, effects: &[Vec<usize>]) -> Vec<f64> {
        let size = self.origin.len();
        let direction = |places: &Vec<usize>| {
            let mut along = vec![0.0; size];
            for &place in places {
                along[place] = 1.0;
            }
            along
        };
        let directions: Vec<Vec<f64>> = effects.iter().map(direction).collect();
        let found = self.along(&directions);
        let width = effects.len();
        let entry = |k: usize| found[k % width][k / width];
        (0..self.n_rows() * width).map(entry).collect()
    }

    /// The codes by which rows read their group of a site, with the coefficients, if rows read one
    /// group each.
    fn grouped(
        &mut self,
        places: &Range<usize>,
        width: usize,
        candidates: Vec<(usize, Vec<u32>)>,
    ) -> Option<(Option<usize>, Vec<u32>, Vec<f64>)> {
        if candidates.is_empty() {
            return None;
        }
        let coefficients = self.columns(&Self::effects_of(places, width));
        let mut along = vec![0.0; self.origin.len()];
        for (k, entry) in along[places.clone()].iter_mut().enumerate() {
            *entry = probe_pattern(k);
        }
        let found = self.along(&[along]).remove(0);
        let rows = coefficients.chunks_exact(width).zip(&found);
        let suits = |(_, codes): &(usize, Vec<u32>)| {
            rows.clone().zip(codes).all(|((own, found), &code)| {
                let first = code as usize * width;
                let terms = own.iter().enumerate();
                let terms = terms.map(|(k, c)| c * probe_pattern(first + k));
                let (sum, size) = terms.fold((0.0, 1e-300), |(s, a), t: f64| (s + t, a + t.abs()));
                (sum - found).abs() <= ROUNDING * size
            })
        };
        let (column, codes) = candidates.into_iter().find(suits)?;
        Some((Some(column), codes, coefficients))
    }

    /// The common effects.
    pub(crate) fn common(&mut self, sites: &[usize]) -> FixedEffectBlock {
        let latents = self.density.latents();
        let places: Vec<usize> = sites.iter().flat_map(|site| latents.range(*site)).collect();
        let effects: Vec<Vec<usize>> = places.iter().map(|place| vec![*place]).collect();
        let columns = self.columns(&effects);
        let (linear, precision) = prior_of(self.density, &self.origin, &places);
        FixedEffectBlock {
            places,
            columns,
            precision,
            linear,
        }
    }
}

/// The refusal of groups with different T(θ) or priors, whose site follows.
const DIFFERENT: &str = "groups differ by more than their rows, those of";

/// The source of T(θ), given the coefficients at another θ; or a refusal, whose site follows.
fn theta_map(block: &RandomEffectBlock, moved: &[f64]) -> Result<HyperparameterMap, &'static str> {
    const COLLINEAR: &str = "the rows cannot tell the effects apart of each group of";
    let (own, width) = (&block.coefficients, block.width);
    if let Some(scales) = DiagonalMap::of(own, width).filter(|scales| scales.maps_all(own, moved)) {
        return Ok(HyperparameterMap::Scaled(scales));
    }
    if width > MOST_WIDTH {
        return Err(COLLINEAR);
    }
    let pivots = PivotRows::of(own, width).ok_or(COLLINEAR)?;
    if !pivots.maps_all(own, moved) {
        return Err(DIFFERENT);
    }
    Ok(HyperparameterMap::Full(pivots))
}

fn too_wide(block: &RandomEffectBlock) -> String {
    format!(
        "the rows read the {} numbers of {:?} neither by group, nor as at most {MOST_WIDTH} \
         coefficients of columns, nor as at most {MOST_COLUMNS} that are independent of each other",
        block.places.len(),
        block.name
    )
}

/// The gradient of the log prior in some places of z, and its negative Hessian.
fn prior_of(density: &dyn Density, at: &[f64], places: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let mut precision = Vec::with_capacity(places.len() * places.len());
    let mut linear = Vec::new();
    let mut asked = PriorHessian::new(density);
    for &place in places {
        let mut along = vec![0.0; at.len()];
        along[place] = 1.0;
        let (slope, product) = asked.run(at, &along);
        linear = places.iter().map(|place| slope[*place]).collect();
        precision.extend(places.iter().map(|place| -product[*place]));
    }
    (linear, precision)
}

/// The gradient of the log prior, and the product of its Hessian with a direction.
struct PriorHessian {
    plan: Plan,
    workspace: Workspace,
    slots: [Option<Slot>; 2],
}

impl PriorHessian {
    fn new(density: &dyn Density) -> PriorHessian {
        let graph = Graph::new();
        let size = density.latents().size();
        let z = graph.input("z", [size]);
        let along = graph.input("along", [size]);
        let value = density.log_prior(&point_at(z));
        let slope = graph.grad(value, &[z])[0];
        let product = graph.jvp(&[slope], &[z], &[along])[0];
        let plan = Plan::new(&[slope, product], 1);
        PriorHessian {
            workspace: plan.workspace(),
            slots: [plan.input(z), plan.input(along)],
            plan,
        }
    }

    fn run(&mut self, at: &[f64], along: &[f64]) -> (Vec<f64>, Vec<f64>) {
        for (slot, values) in self.slots.iter().zip([at, along]) {
            self.workspace.set_input(*slot, values);
        }
        self.plan.run(&mut self.workspace);
        let output = |k: usize| self.workspace.output(k).to_vec();
        (output(0), output(1))
    }
}

impl<'d> EffectStructure<'d> {
    /// The effects of a density and the way in which its rows read them.
    ///
    /// # Errors
    /// If they cannot be integrated out: the reason, as a clause.
    pub(crate) fn read(density: &'d dyn Density) -> Result<EffectStructure<'d>, String> {
        EffectStructure::read_sample(density, None)
    }

    /// The same as far as this many rows show, without guarantee for the others.
    pub(crate) fn read_sample(
        density: &'d dyn Density,
        most: Option<usize>,
    ) -> Result<EffectStructure<'d>, String> {
        let split = density.split()?;
        let mut reader = StructureReader::new(density, split, most);
        if !reader.has_gaussian_prior() {
            return Err("the log prior is not quadratic in the effects".into());
        }
        let mut blocks = Vec::new();
        let mut common = Vec::new();
        for &site in split.effect_sites() {
            match reader.block(site)? {
                Some(block) => blocks.push(block),
                None => common.push(site),
            }
        }
        if blocks.is_empty() {
            return Err("no effect varies by group".into());
        }
        sort(&mut blocks);
        let latents = density.latents();
        let sites = split.effect_sites();
        let owned = |place: &usize| sites.iter().any(|s| latents.range(*s).contains(place));
        let model = EffectStructure {
            density,
            split,
            source: most.map_or_else(|| density.source(), |_| rows_here(density).batch_order()),
            hyper: (0..latents.size()).filter(|place| !owned(place)).collect(),
            common: reader.common(&common),
            blocks,
            distinct: None,
        };
        model.check()?;
        Ok(model)
    }
}

/// Sorts blocks by decreasing size; those of one group come last.
fn sort(blocks: &mut [RandomEffectBlock]) {
    let size = |block: &RandomEffectBlock| std::cmp::Reverse(block.places.len());
    blocks.sort_by_key(size);
    if let Some((_, rest)) = blocks.split_first_mut() {
        rest.sort_by_key(|block| (block.groups == 1, size(block)));
    }
}
