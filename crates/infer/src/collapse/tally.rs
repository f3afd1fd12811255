//! Group sums: sufficient statistics of rows with a normal response for random effects. They are
//! additive: each owner of rows sums its own, and the sums are added in the order of the rows.

use std::collections::HashMap;

use lehr_density::{Density, RowSource};

use super::row_reader::RowReader;
use super::scheme::Scheme;

/// Rows that are read at a time, in tables with at least as many.
const PIECE: usize = 4096;

/// Sums over rows with weights w, coefficients a and responses y.
pub(crate) struct Tally {
    pub(super) blocks: Vec<BlockTally>,
    /// For every two blocks: the first with each later one, and so on.
    pub(super) pairs: Vec<PairTally>,
    /// Σ w a aᵀ and Σ w a y of the common effects.
    pub(super) common: Vec<f64>,
    pub(super) pulled: Vec<f64>,
    /// Σ w y²
    pub(super) square: f64,
    /// Σ w
    pub(super) weight: f64,
    /// The number of rows that do not read their effects as the scheme states.
    pub(super) unlike: f64,
}

/// The sums of one block, group after group.
pub(super) struct BlockTally {
    pub(super) width: usize,
    /// Σ w z zᵀ
    pub(super) own: Vec<f64>,
    /// Σ w z aᵀ with the common effects.
    pub(super) mixed: Vec<f64>,
    /// Σ w z y
    pub(super) pulled: Vec<f64>,
}

/// Σ w z zᵀ of two blocks, for every pair of groups that shares a row.
pub(super) struct PairTally {
    /// The number of groups of the second block, by which pairs are numbered.
    groups: u64,
    /// How many numbers a pair has.
    size: usize,
    places: HashMap<u64, usize>,
    pub(super) keys: Vec<u64>,
    pub(super) values: Vec<f64>,
}

impl PairTally {
    /// The sums of a pair of groups.
    fn of(&mut self, key: u64) -> &mut [f64] {
        let place = *self.places.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.values.resize(self.keys.len() * self.size, 0.0);
            self.keys.len() - 1
        });
        &mut self.values[place * self.size..][..self.size]
    }

    /// The pairs by their groups, in increasing order, with their sums.
    pub(super) fn sorted(&self) -> impl Iterator<Item = (usize, usize, &[f64])> {
        let mut order: Vec<usize> = (0..self.keys.len()).collect();
        order.sort_unstable_by_key(|place| self.keys[*place]);
        order.into_iter().map(|place| {
            let key = self.keys[place];
            let (one, other) = (key / self.groups, key % self.groups);
            let values = &self.values[place * self.size..][..self.size];
            (one as usize, other as usize, values)
        })
    }
}

impl Tally {
    pub(super) fn new(scheme: &Scheme) -> Tally {
        let common = scheme.common.len();
        let block = |own: &super::scheme::Reading| BlockTally {
            width: own.width,
            own: vec![0.0; own.groups * own.width * own.width],
            mixed: vec![0.0; own.groups * own.width * common],
            pulled: vec![0.0; own.groups * own.width],
        };
        let mut pairs = Vec::new();
        for (k, one) in scheme.blocks.iter().enumerate() {
            for other in &scheme.blocks[k + 1..] {
                pairs.push(PairTally {
                    groups: other.groups as u64,
                    size: one.width * other.width,
                    places: HashMap::new(),
                    keys: Vec::new(),
                    values: Vec::new(),
                });
            }
        }
        Tally {
            blocks: scheme.blocks.iter().map(block).collect(),
            pairs,
            common: vec![0.0; common * common],
            pulled: vec![0.0; common],
            square: 0.0,
            weight: 0.0,
            unlike: 0.0,
        }
    }

    /// The sums of a partition as arrays; for pairs their increasing numbers and their sums.
    fn into_arrays(self) -> Vec<Vec<f64>> {
        let mut arrays = vec![
            vec![self.square, self.weight, self.unlike],
            self.common,
            self.pulled,
        ];
        for block in self.blocks {
            arrays.extend([block.own, block.mixed, block.pulled]);
        }
        for pair in self.pairs {
            let sorted = pair.sorted();
            let (keys, values): (Vec<f64>, Vec<&[f64]>) = sorted
                .map(|(one, other, values)| {
                    ((one as u64 * pair.groups + other as u64) as f64, values)
                })
                .unzip();
            arrays.extend([keys, values.concat()]);
        }
        arrays
    }

    /// Adds the sums of another partition.
    pub(super) fn add(&mut self, arrays: &[Vec<f64>]) {
        self.square += arrays[0][0];
        self.weight += arrays[0][1];
        self.unlike += arrays[0][2];
        add(&mut self.common, &arrays[1]);
        add(&mut self.pulled, &arrays[2]);
        let (own, pairs) = arrays[3..].split_at(3 * self.blocks.len());
        for (block, arrays) in self.blocks.iter_mut().zip(own.chunks_exact(3)) {
            add(&mut block.own, &arrays[0]);
            add(&mut block.mixed, &arrays[1]);
            add(&mut block.pulled, &arrays[2]);
        }
        for (pair, arrays) in self.pairs.iter_mut().zip(pairs.chunks_exact(2)) {
            let size = pair.size;
            for (key, values) in arrays[0].iter().zip(arrays[1].chunks_exact(size)) {
                add(pair.of(*key as u64), values);
            }
        }
    }

    /// Adds a row.
    fn see(&mut self, rows: &RowReader, row: usize, a: &mut Vec<f64>) {
        let (weight, value) = (rows.weights[row], rows.values[row]);
        let count = rows.weights.len();
        a.clear();
        a.extend(rows.coefficients[row..].iter().step_by(count));
        let all = &a[..];
        let shared = &all[all.len() - self.pulled.len()..];
        self.weight += weight;
        self.square += weight * value * value;
        add_scaled(&mut self.pulled, weight * value, shared);
        outer(&mut self.common, weight, shared, shared);
        let (mut first, mut pair) = (0, 0);
        for k in 0..self.blocks.len() {
            let block = &mut self.blocks[k];
            let (width, group) = (block.width, rows.codes[k][row] as usize);
            let z = &all[first..first + width];
            first += width;
            add_scaled(
                &mut block.pulled[group * width..][..width],
                weight * value,
                z,
            );
            outer(
                &mut block.own[group * width * width..][..width * width],
                weight,
                z,
                z,
            );
            let size = width * shared.len();
            outer(&mut block.mixed[group * size..][..size], weight, z, shared);
            let mut from = first;
            for (other, codes) in self.blocks[k + 1..].iter().zip(&rows.codes[k + 1..]) {
                let second = &all[from..from + other.width];
                from += other.width;
                let own = &mut self.pairs[pair];
                pair += 1;
                let key = group as u64 * own.groups + u64::from(codes[row]);
                outer(own.of(key), weight, z, second);
            }
        }
    }
}

fn add(into: &mut [f64], more: &[f64]) {
    into.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}

fn add_scaled(into: &mut [f64], share: f64, more: &[f64]) {
    let pairs = into.iter_mut().zip(more);
    pairs.for_each(|(sum, more)| *sum += share * more);
}

/// Adds w x yᵀ.
fn outer(into: &mut [f64], weight: f64, x: &[f64], y: &[f64]) {
    for (line, x) in into.chunks_exact_mut(y.len().max(1)).zip(x) {
        add_scaled(line, weight * x, y);
    }
}

/// Sums rows in a pass; compiled programs are kept from part to part.
#[derive(Default)]
pub(crate) struct Tallier {
    readers: Vec<RowReader>,
}

/// A running sum of rows.
pub(crate) struct Tallying {
    scheme: Scheme,
    tally: Option<Tally>,
}

impl Tallying {
    /// Sums without rows.
    pub(crate) fn new(density: &dyn Density, arguments: &[&[f64]]) -> Tallying {
        Tallying {
            scheme: Scheme::told(density, arguments),
            tally: None,
        }
    }

    /// The sums; empty without rows.
    pub(crate) fn finish(self) -> Vec<Vec<f64>> {
        self.tally.map_or_else(Vec::new, Tally::into_arrays)
    }

    /// Adds a block of rows.
    pub(crate) fn see(&mut self, density: &dyn Density, rows: &dyn RowSource, by: &mut Tallier) {
        let (scheme, total) = (&self.scheme, rows.n_rows());
        let tally = self.tally.get_or_insert_with(|| Tally::new(scheme));
        let mut entries = Vec::with_capacity(scheme.entries());
        let mut done = 0;
        while done < total {
            let reader = by.reader(density, scheme, total);
            // The last rows are read together with some before them, so that one program serves for
            // all.
            let first = done.min(total - reader.rows());
            let sound = reader.read(rows, first);
            for (row, is_sound) in sound.into_iter().enumerate().skip(done - first) {
                tally.unlike += f64::from(u8::from(!is_sound));
                tally.see(reader, row, &mut entries);
            }
            done = first + reader.rows();
        }
    }
}

impl Tallier {
    /// The reader for tables of this length.
    fn reader(&mut self, density: &dyn Density, scheme: &Scheme, total: usize) -> &mut RowReader {
        // Short tables have various lengths; powers of 2 keep the number of programs small.
        let rows = PIECE.min(1 << total.ilog2());
        let known = |reader: &RowReader| reader.rows() == rows && reader.scheme() == scheme;
        let place = self.readers.iter().position(known).unwrap_or_else(|| {
            self.readers.push(RowReader::new(density, scheme, rows));
            self.readers.len() - 1
        });
        &mut self.readers[place]
    }
}
