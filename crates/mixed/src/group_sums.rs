//! Group sums: the sufficient statistics of a Gaussian response for random effects. They are additive.
//! Each owner of rows sums its own rows, and the sums are added in the order of the rows.

use std::collections::HashMap;

use lehr_density::Density;
use lehr_numeric::dense::small;
use lehr_rows::{Cut, RowBlock, RowJob, RowsError, encoded};
use serde::{Deserialize, Serialize};

use crate::effect_reading::EffectReading;
use crate::effect_rows::RowReader;

/// Rows that are read at a time, in tables with at least as many.
const PIECE: usize = 4096;

/// Sums over rows with weights w, coefficients a and responses y.
#[derive(Clone, Serialize, Deserialize)]
pub struct GroupSums {
    pub(crate) blocks: Vec<BlockSums>,
    /// For every two blocks: the first with each later one, and so on.
    pub(crate) pairs: Vec<PairSums>,
    /// Σ w a aᵀ and Σ w a y of the common effects.
    pub(crate) common: Vec<f64>,
    pub(crate) pulled: Vec<f64>,
    /// Σ w y²
    pub(crate) square: f64,
    /// Σ w
    pub(crate) weight: f64,
    /// The number of rows that do not read their effects as the reading says.
    pub(crate) irregular_rows: f64,
}

/// The sums of one block, group after group.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct BlockSums {
    pub(crate) width: usize,
    /// Σ w z zᵀ
    pub(crate) own: Vec<f64>,
    /// Σ w z aᵀ with the common effects.
    pub(crate) mixed: Vec<f64>,
    /// Σ w z y
    pub(crate) pulled: Vec<f64>,
}

/// Σ w z zᵀ of two blocks, for every pair of groups that shares a row.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct PairSums {
    /// The number of groups of the second block, by which pairs are numbered.
    groups: u64,
    /// The number of sums per pair.
    size: usize,
    /// The place of each key among `keys`.
    #[serde(skip)]
    places: HashMap<u64, usize>,
    pub(crate) keys: Vec<u64>,
    pub(crate) values: Vec<f64>,
}

impl PairSums {
    /// The sums of a pair of groups.
    fn sums_of(&mut self, key: u64) -> &mut [f64] {
        if self.places.len() < self.keys.len() {
            self.places = self.keys.iter().copied().zip(0..).collect();
        }
        let place = *self.places.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.values.resize(self.keys.len() * self.size, 0.0);
            self.keys.len() - 1
        });
        &mut self.values[place * self.size..][..self.size]
    }

    /// The pairs by their groups, in increasing order, with their sums.
    pub(crate) fn sorted(&self) -> impl Iterator<Item = (usize, usize, &[f64])> {
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

impl GroupSums {
    pub(crate) fn new(reading: &EffectReading) -> GroupSums {
        let common = reading.common.len();
        let block = |own: &crate::effect_reading::BlockReading| BlockSums {
            width: own.width,
            own: vec![0.0; own.groups * own.width * own.width],
            mixed: vec![0.0; own.groups * own.width * common],
            pulled: vec![0.0; own.groups * own.width],
        };
        let mut pairs = Vec::new();
        for (k, one) in reading.blocks.iter().enumerate() {
            for other in &reading.blocks[k + 1..] {
                pairs.push(PairSums {
                    groups: other.groups as u64,
                    size: one.width * other.width,
                    places: HashMap::new(),
                    keys: Vec::new(),
                    values: Vec::new(),
                });
            }
        }
        GroupSums {
            blocks: reading.blocks.iter().map(block).collect(),
            pairs,
            common: vec![0.0; common * common],
            pulled: vec![0.0; common],
            square: 0.0,
            weight: 0.0,
            irregular_rows: 0.0,
        }
    }

    /// Adds the sums of further rows.
    fn merge(&mut self, next: &GroupSums) {
        self.square += next.square;
        self.weight += next.weight;
        self.irregular_rows += next.irregular_rows;
        small::add(&mut self.common, 1.0, &next.common);
        small::add(&mut self.pulled, 1.0, &next.pulled);
        for (block, next) in self.blocks.iter_mut().zip(&next.blocks) {
            small::add(&mut block.own, 1.0, &next.own);
            small::add(&mut block.mixed, 1.0, &next.mixed);
            small::add(&mut block.pulled, 1.0, &next.pulled);
        }
        for (pair, next) in self.pairs.iter_mut().zip(&next.pairs) {
            let size = pair.size;
            for (key, values) in next.keys.iter().zip(next.values.chunks_exact(size)) {
                small::add(pair.sums_of(*key), 1.0, values);
            }
        }
    }

    /// Adds a row.
    fn add_row(&mut self, rows: &RowReader, row: usize, a: &mut Vec<f64>) {
        let (weight, value) = (rows.weights[row], rows.values[row]);
        let count = rows.weights.len();
        a.clear();
        a.extend(rows.coefficients[row..].iter().step_by(count));
        let all = &a[..];
        let shared = &all[all.len() - self.pulled.len()..];
        self.weight += weight;
        self.square += weight * value * value;
        small::add(&mut self.pulled, weight * value, shared);
        small::add_outer(&mut self.common, weight, shared, shared);
        let (mut first, mut pair) = (0, 0);
        for k in 0..self.blocks.len() {
            let block = &mut self.blocks[k];
            let (width, group) = (block.width, rows.codes[k][row] as usize);
            let z = &all[first..first + width];
            first += width;
            let (square, size) = (width * width, width * shared.len());
            small::add(
                &mut block.pulled[group * width..][..width],
                weight * value,
                z,
            );
            small::add_outer(&mut block.own[group * square..][..square], weight, z, z);
            small::add_outer(&mut block.mixed[group * size..][..size], weight, z, shared);
            let mut from = first;
            for (other, codes) in self.blocks[k + 1..].iter().zip(&rows.codes[k + 1..]) {
                let second = &all[from..from + other.width];
                from += other.width;
                let own = &mut self.pairs[pair];
                pair += 1;
                let key = group as u64 * own.groups + u64::from(codes[row]);
                small::add_outer(own.sums_of(key), weight, z, second);
            }
        }
    }
}

/// Sums over Gaussian rows of the products of the coefficients that multiply group effects.
pub struct GroupSumsJob<'d> {
    density: &'d dyn Density,
    reading: EffectReading,
}

impl<'d> GroupSumsJob<'d> {
    pub(crate) fn new(density: &'d dyn Density, reading: EffectReading) -> GroupSumsJob<'d> {
        GroupSumsJob { density, reading }
    }

    /// Reads the job from a message, for this model.
    ///
    /// # Errors
    /// If the message is damaged or belongs to another model.
    pub fn read(density: &'d dyn Density, message: &[u8]) -> Result<Self, RowsError> {
        let reading = EffectReading::read(density, message)?;
        Ok(GroupSumsJob { density, reading })
    }
}

impl RowJob for GroupSumsJob<'_> {
    const NAME: &'static str = "group sums";

    type Partial = GroupSums;
    type Machine = GroupSumsMachine;

    fn cut(&self) -> Cut {
        Cut::Any
    }

    fn machine(&self, _: usize) -> GroupSumsMachine {
        GroupSumsMachine::default()
    }

    fn empty(&self) -> GroupSums {
        GroupSums::new(&self.reading)
    }

    fn add_block(
        &self,
        machine: &mut GroupSumsMachine,
        block: &RowBlock<'_>,
        sums: &mut GroupSums,
    ) {
        let (reading, total) = (&self.reading, block.len());
        let mut entries = Vec::with_capacity(reading.entries());
        let mut done = 0;
        while done < total {
            let reader = machine.reader(self.density, reading, total);
            // The last rows are read with some before them, so that one program serves for all.
            let first = done.min(total - reader.rows());
            let sound = reader.read(block.source, block.range.start + first);
            for (row, is_sound) in sound.into_iter().enumerate().skip(done - first) {
                sums.irregular_rows += f64::from(u8::from(!is_sound));
                sums.add_row(reader, row, &mut entries);
            }
            done = first + reader.rows();
        }
    }

    fn merge(&self, into: &mut GroupSums, next: GroupSums) {
        into.merge(&next);
    }

    fn message(&self) -> Vec<u8> {
        encoded(&self.reading)
    }

    // The sums of all groups are large and are asked for once.
    fn is_repeated(&self) -> bool {
        false
    }
}

/// The readers of rows, each compiled for one number of rows and kept.
#[derive(Default)]
pub struct GroupSumsMachine {
    readers: Vec<RowReader>,
}

impl GroupSumsMachine {
    /// The reader for tables of this length.
    fn reader(
        &mut self,
        density: &dyn Density,
        reading: &EffectReading,
        total: usize,
    ) -> &mut RowReader {
        // Short tables have various lengths; powers of 2 keep the number of programs small.
        let rows = PIECE.min(1 << total.ilog2());
        let known = |reader: &RowReader| reader.rows() == rows && reader.reading() == reading;
        let place = self.readers.iter().position(known).unwrap_or_else(|| {
            self.readers.push(RowReader::new(density, reading, rows));
            self.readers.len() - 1
        });
        &mut self.readers[place]
    }
}
