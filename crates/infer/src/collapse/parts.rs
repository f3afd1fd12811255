//! What is collapsed: the blocks of effects as the rows read them, found by asking the density.
//!
//! A group block is a site of which every row reads one group. Its coefficients may depend on the
//! hyperparameters θ, as those of standard normals do that the rows multiply by a spread: they are
//! then zₙᵀT(θ) with zₙ the coefficients at a reference, and T u takes the place of u. Nothing here
//! looks at how a model is written: affinity is known from the graph, the rest from numbers.

use std::ops::Range;

use lehr_density::{Density, RowSource, SplitRows};

use super::distinct::{Distinct, distinct};
use super::turn::Turning;

/// The most hyperparameters whose density axes follow.
pub(crate) const MOST_AXES: usize = 8;
/// The most that chains move over.
const MOST_HYPER: usize = 32;
/// The most numbers beside the largest block whose precision matrix is dense.
pub(super) const MOST_DENSE: usize = 4096;
/// The most of them at all: a hundred draws are then what is kept at the most.
const MOST_REST: usize = 1 << 18;

/// Effects by group.
pub(super) struct Block {
    /// The site.
    pub(super) name: String,
    /// Where it lies in z.
    pub(super) places: Range<usize>,
    pub(super) groups: usize,
    /// Effects of each group.
    pub(super) width: usize,
    /// The column that names the group of a row; `None` if all rows are one group.
    pub(super) column: Option<usize>,
    /// The group of each row.
    pub(super) codes: Vec<u32>,
    /// What each effect multiplies at the reference, row after row.
    pub(super) coefficients: Vec<f64>,
    /// How the coefficients depend on θ.
    pub(super) turning: Turning,
    pub(super) within: Within,
}

/// How the effects of one group depend on each other a priori.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// Their precision is diagonal at every θ.
    Independent,
    Joint,
}

/// Effects whose coefficients and whose prior do not depend on θ, all of them in every row.
#[derive(Default)]
pub(super) struct Common {
    /// Where each lies in z.
    pub(super) places: Vec<usize>,
    /// Row after row.
    pub(super) columns: Vec<f64>,
    /// The curvature of the log prior, negative.
    pub(super) precision: Vec<f64>,
    /// Its slope where all effects are 0.
    pub(super) linear: Vec<f64>,
}

/// A density with its effects found.
pub(super) struct Parts<'d> {
    pub(super) density: &'d dyn Density,
    pub(super) split: &'d dyn SplitRows,
    /// The rows that were looked at, by their numbers.
    pub(super) source: &'d dyn RowSource,
    /// The places of θ in z.
    pub(super) hyper: Vec<usize>,
    /// The blocks, the one with most numbers first, and behind it those that all rows read as a whole last.
    pub(super) blocks: Vec<Block>,
    pub(super) common: Common,
    /// The rows that stand for all, where some are the same.
    pub(super) distinct: Option<Distinct>,
}

/// z where hyperparameters are at a reference and all effects at 0.
pub(super) fn reference(density: &dyn Density) -> Vec<f64> {
    let latents = density.latents();
    let mut z = latents.start().to_vec();
    if let Ok(split) = density.split() {
        for &site in split.effects() {
            z[latents.range(site)].fill(0.0);
        }
    }
    z
}

/// z where hyperparameters, in these places, are elsewhere.
pub(super) fn moved(z: &[f64], hyper: &[usize]) -> Vec<f64> {
    let mut z = z.to_vec();
    for &place in hyper {
        z[place] += 0.3 * (1.0 + place as f64).sin();
    }
    z
}

impl Parts<'_> {
    /// The numbers beside the largest block.
    pub(super) fn rest(&self) -> usize {
        let others = self.blocks[1..].iter().map(|block| block.places.len());
        others.sum::<usize>() + self.common.places.len()
    }

    /// The numbers that a row reads.
    pub(super) fn entries(&self) -> usize {
        let blocks = self.blocks.iter().map(|block| block.width);
        blocks.sum::<usize>() + self.common.places.len()
    }

    /// The place in z without the largest block of what is at this one in z.
    pub(super) fn kept(&self, place: usize) -> usize {
        let own = &self.blocks[0].places;
        if place < own.start {
            place
        } else {
            place - own.len()
        }
    }

    /// Puts θ in its places of z.
    pub(super) fn place(&self, theta: &[f64], z: &mut [f64]) {
        for (place, value) in self.hyper.iter().zip(theta) {
            z[*place] = *value;
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let (hyper, rest) = (self.hyper.len(), self.rest());
        if hyper > MOST_HYPER {
            return Err(format!(
                "{hyper} numbers are not Gaussian given the others, and at most {MOST_HYPER} can be searched"
            ));
        }
        self.check_rest(rest, MOST_REST)
    }

    /// Refuses more than so many numbers beside the largest block.
    pub(super) fn check_rest(&self, rest: usize, most: usize) -> Result<(), String> {
        if rest > most {
            return Err(format!(
                "{rest} effects are left when those of {:?} are integrated out, and at most {most} can be",
                self.blocks[0].name
            ));
        }
        Ok(())
    }

    /// Takes rows that are the same for one; returns what is left of some numbers of each row.
    pub(super) fn join_rows(&mut self, numbers: &[f64]) -> Option<Vec<f64>> {
        let distinct = distinct(self.density)?;
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

    /// Lets go of what there is for each row.
    pub(super) fn forget_rows(&mut self) {
        for block in &mut self.blocks {
            block.codes = Vec::new();
            block.coefficients = Vec::new();
        }
        self.common.columns = Vec::new();
    }

    /// Pairs of blocks that put the rows into the same groups: only the sums of their effects are
    /// known.
    pub(super) fn confounded(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (k, block) in self.blocks.iter().enumerate() {
            let alike = |other: &&Block| {
                block.coefficients == other.coefficients
                    && is_renaming(&block.codes, &other.codes, block.groups)
            };
            let others = self.blocks[k + 1..].iter().filter(alike);
            found.extend(others.map(|other| (block.name.clone(), other.name.clone())));
        }
        found
    }
}

/// Some rows of an array.
fn picked(values: &[f64], width: usize, rows: &[usize]) -> Vec<f64> {
    let row = |row: &usize| &values[row * width..][..width];
    rows.iter().flat_map(row).copied().collect()
}

/// Whether one code of each row tells the other.
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
