//! Products of the rows' coefficients, summed with a weight for each row.

use std::ops::Range;

use lehr_numeric::vector::dot;

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

    /// Adds a multiple of another.
    pub(crate) fn add(&mut self, share: f64, other: &Effects) {
        let own = self.own.iter_mut().zip(&other.own);
        own.for_each(|(sum, more)| *sum += share * more);
        let others = self.others.iter_mut().zip(&other.others);
        others.for_each(|(sum, more)| *sum += share * more);
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
    /// The sums with these weights, one per sorted row.
    pub(crate) fn new(order: &EliminationOrder, weights: &[f64]) -> CrossProducts {
        let mut products = CrossProducts::default();
        products.refill(order, weights);
        products
    }

    /// The same with other weights.
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
        let (width, entries) = (order.width, order.entries);
        let split = entries - order.tail;
        for group in 0..order.groups() {
            if is_wide(width) {
                self.add_wide(order, group, weights);
            }
            let met = order.met[group]..order.met[group + 1];
            let count = met.len();
            let own = &mut self.own[group * width * width..][..width * width];
            let mixed = &mut self.mixed[met.start * width..met.end * width];
            let rows = order.first[group]..order.first[group + 1];
            for (row, &weight) in rows.clone().zip(&weights[rows]) {
                let z = &order.own[row * width..][..width];
                let r = &order.others[row * entries..][..entries];
                let at = &order.positions[row * entries..][..entries];
                for (i, zi) in z.iter().enumerate() {
                    let scaled = weight * zi;
                    if !is_wide(width) {
                        let squares = own[i * width..][..width].iter_mut().zip(z);
                        squares.for_each(|(sum, zj)| *sum += scaled * zj);
                    }
                    let line = &mut mixed[i * count..(i + 1) * count];
                    for (r, at) in r[..split].iter().zip(at) {
                        line[*at as usize] += scaled * r;
                    }
                    add_to(&mut line[count - order.tail..], scaled, &r[split..]);
                }
            }
        }
    }

    fn add_others(&mut self, order: &EliminationOrder, weights: &[f64]) {
        let (entries, rest) = (order.entries, order.rest);
        let split = entries - order.tail;
        reset(&mut self.others, rest * rest);
        for group in 0..order.groups() {
            let columns = &order.columns[order.met[group]..order.met[group + 1]];
            let rows = order.first[group]..order.first[group + 1];
            for (row, &weight) in rows.clone().zip(&weights[rows]) {
                let r = &order.others[row * entries..][..entries];
                let at = &order.positions[row * entries..][..entries];
                for (j, rj) in r.iter().enumerate() {
                    let column = columns[at[j] as usize] as usize;
                    let into = &mut self.others[column * rest..][..rest];
                    let scaled = weight * rj;
                    for k in j..split {
                        into[columns[at[k] as usize] as usize] += scaled * r[k];
                    }
                    let own = j.max(split);
                    add_to(&mut into[rest - (entries - own)..], scaled, &r[own..]);
                }
            }
        }
    }
}

/// Adds a multiple of some numbers.
fn add_to(sums: &mut [f64], share: f64, numbers: &[f64]) {
    let pairs = sums.iter_mut().zip(numbers);
    pairs.for_each(|(sum, number)| *sum += share * number);
}

fn reset(values: &mut Vec<f64>, length: usize) {
    values.clear();
    values.resize(length, 0.0);
}

impl EliminationOrder {
    /// Σ xₙ aₙ for a number x of each sorted row.
    pub(crate) fn apply_transposed(&self, numbers: &[f64]) -> Effects {
        let mut found = Effects::zero(self);
        let (width, entries) = (self.width, self.entries);
        for group in 0..self.groups() {
            let columns = &self.columns[self.met[group]..self.met[group + 1]];
            let own = &mut found.own[group * width..][..width];
            let rows = self.first[group]..self.first[group + 1];
            for (row, &number) in rows.clone().zip(&numbers[rows]) {
                let z = &self.own[row * width..][..width];
                own.iter_mut()
                    .zip(z)
                    .for_each(|(sum, z)| *sum += number * z);
                let r = &self.others[row * entries..][..entries];
                let at = &self.positions[row * entries..][..entries];
                for (r, at) in r.iter().zip(at) {
                    found.others[columns[*at as usize] as usize] += number * r;
                }
            }
        }
        found
    }

    /// aₙᵀu of some sorted rows.
    pub(crate) fn apply_to_rows(&self, effects: &Effects, rows: Range<usize>, into: &mut [f64]) {
        let (width, entries) = (self.width, self.entries);
        let mut group = self.group_of(rows.start);
        let mut row = rows.start;
        while row < rows.end {
            let columns = &self.columns[self.met[group]..self.met[group + 1]];
            let own = &effects.own[group * width..][..width];
            let end = self.first[group + 1].min(rows.end);
            for row in row..end {
                let z = &self.own[row * width..][..width];
                let r = &self.others[row * entries..][..entries];
                let at = &self.positions[row * entries..][..entries];
                let others = r.iter().zip(at);
                let others =
                    others.map(|(r, at)| r * effects.others[columns[*at as usize] as usize]);
                into[row - rows.start] = dot(z, own) + others.sum::<f64>();
            }
            (group, row) = (group + 1, end);
        }
    }

    /// The group of A to which a sorted row belongs.
    pub(crate) fn group_of(&self, row: usize) -> usize {
        self.first.partition_point(|first| *first <= row) - 1
    }
}
