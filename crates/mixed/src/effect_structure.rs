//! The structure of a mixed model: blocks of random effects, fixed effects, and hyperparameters. A
//! block of random effects is a site of which every row reads one group. Its coefficients may depend
//! on the hyperparameters θ. In the non-centred form, for example, rows multiply standard normals by
//! a standard deviation. Coefficients are then zₙᵀT(θ), where zₙ are the coefficients at a reference,
//! and v = T u replaces u. The structure does not depend on how the model is written: the graph shows
//! that predictors are affine, and numbers show the rest.

use std::ops::Range;

use lehr_density::{Density, RowSource, SplitRows};

use crate::distinct::{DistinctRows, find_distinct_rows};
use crate::hyperparameter_map::HyperparameterMap;

/// The most hyperparameters for which a proposal along axes is used.
pub(crate) const MOST_AXES: usize = 8;
/// The most hyperparameters for chains.
const MOST_HYPER: usize = 32;
/// The most numbers outside the largest block for which the precision matrix is dense.
pub(crate) const MOST_DENSE: usize = 4096;
/// The most numbers outside the largest block: with them, at most a hundred draws are kept.
const MOST_REST: usize = 1 << 18;

/// The random effects of one grouping factor.
pub(crate) struct RandomEffectBlock {
    /// The position of the site, and its name.
    pub(crate) site: usize,
    pub(crate) name: String,
    /// Its range in z.
    pub(crate) places: Range<usize>,
    pub(crate) groups: usize,
    /// Effects of each group.
    pub(crate) width: usize,
    /// The column with the group of each row; `None` if all rows are one group.
    pub(crate) column: Option<usize>,
    /// The group of each row.
    pub(crate) codes: Vec<u32>,
    /// The coefficient of each effect at the reference, row after row.
    pub(crate) coefficients: Vec<f64>,
    /// The dependence of the coefficients on θ.
    pub(crate) theta_map: HyperparameterMap,
    pub(crate) covariance: EffectCovariance,
}

/// The prior dependence among the effects of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffectCovariance {
    /// Their precision is diagonal at every θ.
    Independent,
    Joint,
}

/// Common effects: their coefficients and prior do not depend on θ, and every row reads all of
/// them.
#[derive(Default)]
pub(crate) struct FixedEffectBlock {
    /// The place of each in z.
    pub(crate) places: Vec<usize>,
    /// Row after row.
    pub(crate) columns: Vec<f64>,
    /// The negative Hessian of the log prior.
    pub(crate) precision: Vec<f64>,
    /// Its gradient at effects of 0.
    pub(crate) linear: Vec<f64>,
}

/// A density with its effects found.
pub(crate) struct EffectStructure<'d> {
    pub(crate) density: &'d dyn Density,
    pub(crate) split: &'d dyn SplitRows,
    /// The examined rows, in their order.
    pub(crate) source: &'d dyn RowSource,
    /// The places of θ in z.
    pub(crate) hyper: Vec<usize>,
    /// The blocks, the one with most numbers first; those that all rows read as a whole come last.
    pub(crate) blocks: Vec<RandomEffectBlock>,
    pub(crate) common: FixedEffectBlock,
    /// The distinct rows, if some are equal.
    pub(crate) distinct: Option<DistinctRows>,
}

/// z with hyperparameters at a reference and all effects at 0.
pub(crate) fn reference(density: &dyn Density) -> Vec<f64> {
    let latents = density.latents();
    let mut z = latents.start().to_vec();
    if let Ok(split) = density.split() {
        for &site in split.effect_sites() {
            z[latents.range(site)].fill(0.0);
        }
    }
    z
}

/// z with different hyperparameters, in these places.
pub(crate) fn moved(z: &[f64], hyper: &[usize]) -> Vec<f64> {
    let mut z = z.to_vec();
    for &place in hyper {
        z[place] += 0.3 * (1.0 + place as f64).sin();
    }
    z
}

impl EffectStructure<'_> {
    /// How many numbers there are outside the largest block.
    pub(crate) fn rest(&self) -> usize {
        let others = self.blocks[1..].iter().map(|block| block.places.len());
        others.sum::<usize>() + self.common.places.len()
    }

    /// How many numbers a row reads.
    pub(crate) fn entries(&self) -> usize {
        let blocks = self.blocks.iter().map(|block| block.width);
        blocks.sum::<usize>() + self.common.places.len()
    }

    /// The place, in z without the largest block, of an entry of z.
    pub(crate) fn kept_place(&self, place: usize) -> usize {
        let own = &self.blocks[0].places;
        if place < own.start {
            place
        } else {
            place - own.len()
        }
    }

    /// Writes θ to its places in z.
    pub(crate) fn place(&self, theta: &[f64], z: &mut [f64]) {
        for (place, value) in self.hyper.iter().zip(theta) {
            z[*place] = *value;
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let (hyper, rest) = (self.hyper.len(), self.rest());
        if hyper > MOST_HYPER {
            return Err(format!(
                "{hyper} numbers are not Gaussian given the others, and at most {MOST_HYPER} can be searched"
            ));
        }
        self.check_rest(rest, MOST_REST)
    }

    /// Refuses more than `most` numbers outside the largest block.
    pub(crate) fn check_rest(&self, rest: usize, most: usize) -> Result<(), String> {
        if rest > most {
            return Err(format!(
                "{rest} effects are left when those of {:?} are integrated out, and at most {most} can be",
                self.blocks[0].name
            ));
        }
        Ok(())
    }

    /// Joins equal rows; returns the numbers of the remaining ones.
    pub(crate) fn join_rows(&mut self, numbers: &[f64]) -> Option<Vec<f64>> {
        let distinct = find_distinct_rows(self.density)?;
        let rows = &distinct.rows;
        for block in &mut self.blocks {
            block.codes = rows.iter().map(|row| block.codes[*row]).collect();
            block.coefficients = picked(&block.coefficients, block.width, rows);
        }
        let width = self.common.places.len();
        self.common.columns = picked(&self.common.columns, width, rows);
        let left = picked(numbers, 1, rows);
        self.distinct = Some(distinct);
        Some(left)
    }

    /// Frees the memory for single rows.
    pub(crate) fn forget_rows(&mut self) {
        for block in &mut self.blocks {
            block.codes = Vec::new();
            block.coefficients = Vec::new();
        }
        self.common.columns = Vec::new();
    }

    /// Pairs of blocks that assign the rows to the same groups: only the sums of their effects are
    /// identified.
    pub(crate) fn confounded(&self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (k, block) in self.blocks.iter().enumerate() {
            let is_alike = |other: &RandomEffectBlock| {
                block.coefficients == other.coefficients
                    && is_renaming(&block.codes, &other.codes, block.groups)
            };
            let others = (k + 1)..self.blocks.len();
            let others = others.filter(|other| is_alike(&self.blocks[*other]));
            found.extend(others.map(|other| (k, other)));
        }
        found
    }
}

/// Some rows of an array.
fn picked(values: &[f64], width: usize, rows: &[usize]) -> Vec<f64> {
    let row = |row: &usize| &values[row * width..][..width];
    rows.iter().flat_map(row).copied().collect()
}

/// Whether the code of each row determines the other.
fn is_renaming(codes: &[u32], others: &[u32], groups: usize) -> bool {
    let mut names = vec![None; groups];
    let mut pairs = codes.iter().zip(others);
    let one_way = pairs.all(|(code, other)| *names[*code as usize].get_or_insert(other) == other);
    let mut used: Vec<&u32> = names.into_iter().flatten().collect();
    let count = used.len();
    used.sort_unstable();
    used.dedup();
    one_way && used.len() == count
}
