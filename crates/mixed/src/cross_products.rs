//! Weighted sums over rows of the products of their coefficients, ZᵀWZ of regression.

use std::ops::Range;

use lehr_numeric::dense::small::{self, dot};

use crate::elimination_order::EliminationOrder;
use crate::sparse::Sparse;
use crate::tolerance::is_wide;

/// Σ ωₙ aₙaₙᵀ in the pattern of the elimination.
#[derive(Default)]
pub(crate) struct CrossProducts {
    /// Σ ω z zᵀ for each group of A.
    pub(crate) own: Vec<f64>,
    /// Σ ω z r for each group of A and each column that shares rows with it, effect after effect.
    pub(crate) mixed: Vec<f64>,
    /// Σ ω r rᵀ, column-major; the lower triangle.
    pub(crate) others: Vec<f64>,
    /// The same in sparse form, if R is large.
    pub(crate) sparse: Option<Sparse>,
}

/// Σ ωₙ aₙ xₙ.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    /// For A, group after group.
    pub(crate) own: Vec<f64>,
    /// For R.
    pub(crate) others: Vec<f64>,
}

impl Effects {
    pub(crate) fn zero(order: &EliminationOrder) -> Effects {
        Effects {
            own: vec![0.0; order.groups() * order.width],
            others: vec![0.0; order.rest],
        }
    }

    /// The effects of each block with the width of its groups: A, the other blocks, and the common
    /// effects as a block of one group.
    pub(crate) fn blocks<'a>(
        &'a self,
        order: &'a EliminationOrder,
    ) -> impl Iterator<Item = (usize, &'a [f64])> {
        let others = order
            .ranges()
            .map(|(width, range)| (width, &self.others[range]));
        std::iter::once((order.width, &self.own[..])).chain(others)
    }

    /// The same to be changed.
    pub(crate) fn blocks_mut<'a>(
        &'a mut self,
        order: &'a EliminationOrder,
    ) -> impl Iterator<Item = (usize, &'a mut [f64])> {
        let mut rest = &mut self.others[..];
        let others = order.ranges().map(move |(width, range)| {
            let (own, after) = std::mem::take(&mut rest).split_at_mut(range.len());
            rest = after;
            (width, own)
        });
        std::iter::once((order.width, &mut self.own[..])).chain(others)
    }

    /// Adds a multiple of another.
    pub(crate) fn add(&mut self, share: f64, other: &Effects) {
        small::add(&mut self.own, share, &other.own);
        small::add(&mut self.others, share, &other.others);
    }

    /// D
    pub(crate) fn len(&self) -> usize {
        self.own.len() + self.others.len()
    }

    pub(crate) fn dot(&self, other: &Effects) -> f64 {
        dot(&self.own, &other.own) + dot(&self.others, &other.others)
    }
}

impl CrossProducts {
    /// Sets the sums with these weights, one per sorted row.
    pub(crate) fn refill(&mut self, order: &EliminationOrder, weights: &[f64]) {
        let width = order.width;
        reset(&mut self.own, order.groups() * width * width);
        reset(&mut self.mixed, order.columns.len() * width);
        self.add_groups(order, weights);
        self.sparse = order.large.then(|| Sparse::squares(order, weights));
        if self.sparse.is_none() {
            self.add_others(order, weights);
        }
    }

    fn add_groups(&mut self, order: &EliminationOrder, weights: &[f64]) {
        let width = order.width;
        let split = order.entries - order.tail;
        for group in 0..order.groups() {
            if is_wide(width) {
                self.add_wide(order, group, weights);
            }
            let met = order.met_by(group);
            let count = met.len();
            let own = &mut self.own[group * width * width..][..width * width];
            let mixed = &mut self.mixed[met.start * width..met.end * width];
            let rows = order.rows_of(group);
            for (row, &weight) in rows.clone().zip(&weights[rows]) {
                let (z, (r, at)) = (order.own_of(row), order.others_of(row));
                for (i, zi) in z.iter().enumerate() {
                    let scaled = weight * zi;
                    if !is_wide(width) {
                        small::add(&mut own[i * width..][..width], scaled, z);
                    }
                    let line = &mut mixed[i * count..(i + 1) * count];
                    for (r, at) in r[..split].iter().zip(at) {
                        line[*at as usize] += scaled * r;
                    }
                    small::add(&mut line[count - order.tail..], scaled, &r[split..]);
                }
            }
        }
    }

    fn add_others(&mut self, order: &EliminationOrder, weights: &[f64]) {
        let (entries, rest) = (order.entries, order.rest);
        let split = entries - order.tail;
        reset(&mut self.others, rest * rest);
        for group in 0..order.groups() {
            let (columns, rows) = (order.columns_of(group), order.rows_of(group));
            for (row, &weight) in rows.clone().zip(&weights[rows]) {
                let (r, at) = order.others_of(row);
                for (j, rj) in r.iter().enumerate() {
                    let column = columns[at[j] as usize] as usize;
                    let into = &mut self.others[column * rest..][..rest];
                    let scaled = weight * rj;
                    for k in j..split {
                        into[columns[at[k] as usize] as usize] += scaled * r[k];
                    }
                    let own = j.max(split);
                    small::add(&mut into[rest - (entries - own)..], scaled, &r[own..]);
                }
            }
        }
    }
}

fn reset(values: &mut Vec<f64>, length: usize) {
    values.clear();
    values.resize(length, 0.0);
}

impl EliminationOrder {
    /// Σ xₙ aₙ for a number x of each sorted row.
    pub(crate) fn apply_transposed(&self, numbers: &[f64]) -> Effects {
        let mut found = Effects::zero(self);
        for group in 0..self.groups() {
            let (columns, rows) = (self.columns_of(group), self.rows_of(group));
            let own = &mut found.own[group * self.width..][..self.width];
            for (row, &number) in rows.clone().zip(&numbers[rows]) {
                small::add(own, number, self.own_of(row));
                let (r, at) = self.others_of(row);
                for (r, at) in r.iter().zip(at) {
                    found.others[columns[*at as usize] as usize] += number * r;
                }
            }
        }
        found
    }

    /// aₙᵀu of some sorted rows.
    pub(crate) fn apply_to_rows(&self, effects: &Effects, rows: Range<usize>, into: &mut [f64]) {
        let mut group = self.group_of(rows.start);
        let mut row = rows.start;
        while row < rows.end {
            let columns = self.columns_of(group);
            let own = &effects.own[group * self.width..][..self.width];
            let end = self.first[group + 1].min(rows.end);
            for row in row..end {
                let (r, at) = self.others_of(row);
                let others = (at.iter()).map(|at| effects.others[columns[*at as usize] as usize]);
                let others = r.iter().zip(others).map(|(r, effect)| r * effect);
                into[row - rows.start] = dot(self.own_of(row), own) + others.sum::<f64>();
            }
            (group, row) = (group + 1, end);
        }
    }

    /// The group of A to which a sorted row belongs.
    pub(crate) fn group_of(&self, row: usize) -> usize {
        self.first.partition_point(|first| *first <= row) - 1
    }
}
