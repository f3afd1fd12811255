//! The design matrix in the order of the elimination. Rows are sorted by their group of the largest
//! block A. The places of their entries among the rest R are computed once.

use std::ops::Range;

use crate::effect_structure::{EffectStructure, MOST_DENSE};

/// The rows in the form that the algebra uses.
pub(crate) struct EliminationOrder {
    /// The table's row of each sorted row.
    pub(crate) rows: Vec<u32>,
    /// Effects of a group of A.
    pub(crate) width: usize,
    /// The first rows of the groups of A, and the end.
    pub(crate) first: Vec<usize>,
    /// The coefficients of the effects of A, row after row.
    pub(crate) own: Vec<f64>,
    /// The size of R. Each row reads `entries` numbers of it: one group of each block, and the
    /// common effects.
    pub(crate) rest: usize,
    pub(crate) entries: usize,
    /// Their coefficients, row after row.
    pub(crate) others: Vec<f64>,
    /// The other blocks in the order of R.
    pub(crate) blocks: Vec<BlockRange>,
    /// The first common effect in R.
    pub(crate) common: usize,
    /// How many of the last numbers of R all rows read. They are the last entries of each row, and
    /// the last columns of each group.
    pub(crate) tail: usize,
    /// The numbers of R that share rows with each group of A, in increasing order.
    pub(crate) met: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    /// For each row and entry, its place among the columns of its group.
    pub(crate) positions: Vec<u32>,
    /// Whether R is too large to be factorised.
    pub(crate) large: bool,
}

/// The position of a block in R.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRange {
    pub(crate) start: usize,
    pub(crate) groups: usize,
    pub(crate) width: usize,
}

impl BlockRange {
    pub(crate) fn end(self) -> usize {
        self.start + self.groups * self.width
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.end()
    }
}

impl EliminationOrder {
    pub(crate) fn new(model: &EffectStructure<'_>) -> EliminationOrder {
        let largest = &model.blocks[0];
        let mut order = EliminationOrder::without_rows(model);
        let (rows, first) = sort_by_code(&largest.codes, largest.groups);
        (order.rows, order.first) = (rows.iter().map(|row| *row as u32).collect(), first);
        order.own = gathered(&largest.coefficients, largest.width, &order.rows);
        order.fill(model);
        order
    }

    /// The layout, before any row is read.
    pub(crate) fn without_rows(model: &EffectStructure<'_>) -> EliminationOrder {
        let largest = &model.blocks[0];
        let mut blocks: Vec<BlockRange> = Vec::with_capacity(model.blocks.len() - 1);
        let mut end = 0;
        for block in &model.blocks[1..] {
            let place = BlockRange {
                start: end,
                groups: block.groups,
                width: block.width,
            };
            end = place.end();
            blocks.push(place);
        }
        let in_blocks: usize = blocks.iter().map(|place| place.width).sum();
        let shared = blocks.iter().filter(|place| place.groups == 1);
        let shared: usize = shared.map(|place| place.width).sum();
        EliminationOrder {
            rows: Vec::new(),
            width: largest.width,
            first: vec![0; largest.groups + 1],
            own: Vec::new(),
            rest: end + model.common.places.len(),
            entries: in_blocks + model.common.places.len(),
            others: Vec::new(),
            blocks,
            common: end,
            tail: shared + model.common.places.len(),
            met: vec![0],
            columns: Vec::new(),
            positions: Vec::new(),
            large: model.rest() > MOST_DENSE,
        }
    }

    /// Groups of A.
    pub(crate) fn groups(&self) -> usize {
        self.first.len() - 1
    }

    /// How many common effects there are.
    pub(crate) fn n_common(&self) -> usize {
        self.rest - self.common
    }

    /// The width of the groups of each block of R, and its range in R; the common effects are a
    /// block of one group.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let blocks = self.blocks.iter().map(|block| (block.width, block.range()));
        blocks.chain(std::iter::once((
            self.n_common().max(1),
            self.common..self.rest,
        )))
    }

    /// The sorted rows of a group of A.
    pub(crate) fn rows_of(&self, group: usize) -> Range<usize> {
        self.first[group]..self.first[group + 1]
    }

    /// The places in `columns` of those that a group of A shares rows with.
    pub(crate) fn met_by(&self, group: usize) -> Range<usize> {
        self.met[group]..self.met[group + 1]
    }

    /// The columns of R that a group of A shares rows with.
    pub(crate) fn columns_of(&self, group: usize) -> &[u32] {
        &self.columns[self.met_by(group)]
    }

    /// What a sorted row reads of A.
    pub(crate) fn own_of(&self, row: usize) -> &[f64] {
        &self.own[row * self.width..][..self.width]
    }

    /// What a sorted row reads of R: coefficients, and their places among the columns of its group.
    pub(crate) fn others_of(&self, row: usize) -> (&[f64], &[u32]) {
        let range = row * self.entries..(row + 1) * self.entries;
        (&self.others[range.clone()], &self.positions[range])
    }

    /// The columns of R that each row reads, and their places among the columns of its group.
    fn fill(&mut self, model: &EffectStructure<'_>) {
        let common = model.common.places.len();
        let rows = self.rows.len();
        self.others = Vec::with_capacity(rows * self.entries);
        self.positions = Vec::with_capacity(rows * self.entries);
        let mut read: Vec<u32> = Vec::new();
        for group in 0..self.groups() {
            read.clear();
            for sorted in self.rows_of(group) {
                let row = self.rows[sorted] as usize;
                for (block, place) in model.blocks[1..].iter().zip(&self.blocks) {
                    let width = block.width;
                    let from = place.start + block.codes[row] as usize * width;
                    read.extend((from..from + width).map(|column| column as u32));
                    let own = &block.coefficients[row * width..(row + 1) * width];
                    self.others.extend_from_slice(own);
                }
                read.extend((self.common..self.rest).map(|column| column as u32));
                let own = &model.common.columns[row * common..(row + 1) * common];
                self.others.extend_from_slice(own);
            }
            let mut own = read.clone();
            own.sort_unstable();
            own.dedup();
            let place = |column: &u32| own.binary_search(column).map_or(0, |place| place as u32);
            self.positions.extend(read.iter().map(place));
            self.columns.extend_from_slice(&own);
            self.met.push(self.columns.len());
        }
    }

    /// Frees the memory for single rows.
    pub(crate) fn forget_rows(&mut self) {
        self.rows = Vec::new();
        self.own = Vec::new();
        self.others = Vec::new();
        self.positions = Vec::new();
    }

    /// The number of R for each entry of each row, row after row.
    pub(crate) fn read_columns(&self) -> Vec<u32> {
        let mut found = Vec::with_capacity(self.positions.len());
        for group in 0..self.groups() {
            let columns = self.columns_of(group);
            for row in self.rows_of(group) {
                let (_, at) = self.others_of(row);
                found.extend(at.iter().map(|at| columns[*at as usize]));
            }
        }
        found
    }

    /// This number of R and the following ones with which it shares a prior: those of its group, or
    /// the common effects.
    pub(crate) fn beside(&self, column: usize) -> Range<u32> {
        let own = |place: &&BlockRange| place.range().contains(&column);
        let end = self.blocks.iter().find(own).map_or(self.rest, |place| {
            column + place.width - (column - place.start) % place.width
        });
        column as u32..end as u32
    }

    /// Values of the table's rows in sorted order.
    pub(crate) fn sorted(&self, values: &[f64]) -> Vec<f64> {
        gathered(values, 1, &self.rows)
    }
}

/// The places sorted by their codes, those of one code in their own order, and where each code
/// begins.
pub(crate) fn sort_by_code(codes: &[u32], size: usize) -> (Vec<usize>, Vec<usize>) {
    let first = starts(codes.iter().copied(), size);
    let mut next = first.clone();
    let mut order = vec![0; codes.len()];
    for (place, &code) in codes.iter().enumerate() {
        order[next[code as usize]] = place;
        next[code as usize] += 1;
    }
    (order, first)
}

/// Where each code begins among sorted codes, and the end.
pub(crate) fn starts(codes: impl Iterator<Item = u32>, size: usize) -> Vec<usize> {
    let mut first = vec![0; size + 1];
    codes.for_each(|code| first[code as usize + 1] += 1);
    for code in 0..size {
        first[code + 1] += first[code];
    }
    first
}

fn gathered(values: &[f64], width: usize, order: &[u32]) -> Vec<f64> {
    let row = |row: &u32| &values[*row as usize * width..][..width];
    order.iter().flat_map(row).copied().collect()
}
