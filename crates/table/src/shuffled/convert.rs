//! Turns files into shuffled rows in bounded memory.

use std::io::Write;
use std::path::Path;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use tempfile::TempDir;

use crate::file::{Draft, Field, Progress, Provisional, ReadOptions, Source, Stage, folder, io};
use crate::{Column, Kind, MISSING, Table, TableError};

use super::Shuffled;
use super::header::{Header, ROW_SUM_AT, Stored};
use super::scatter::{Bucket, Budget, Drain, Scatter};

/// How a table is converted.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    /// How its files are read, which columns of them, and what becomes of missing values.
    pub read: ReadOptions,
    /// The seed of the order. The same seed, budget and files give the same bytes.
    pub seed: u64,
    /// The memory that the rows may take, in bytes, beside that of one batch and of the levels
    /// of categories.
    pub memory_bytes: usize,
}

impl Default for Conversion {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            seed: 0,
            memory_bytes: 256 << 20,
        }
    }
}

impl Shuffled {
    /// Writes the rows of `source` to `path` in random order and opens the result. The files
    /// are read once; scratch files of the size of the rows lie beside `path` meanwhile. The
    /// file appears complete or not at all.
    pub fn convert(
        source: &Source,
        path: &Path,
        how: &Conversion,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, TableError> {
        let scratch = (tempfile::Builder::new().prefix(".lehr-scatter-"))
            .tempdir_in(folder(path))
            .map_err(io(path, "write beside"))?;
        let fields = source.schema(&how.read)?;
        let mut work = Work::new(&fields, how, &scratch);
        let (buckets, n_rows, dropped_rows) = work.read(source, progress)?;
        let (columns, places) = work.columns();
        let header = Header {
            columns,
            n_rows,
            seed: how.seed,
            dropped_rows,
        };
        work.write(path, (&header, &places), buckets, progress)?;
        Self::open(path)
    }
}

/// Where the codes of each category go once its levels are sorted, by the number's place in
/// the row.
type Places = Vec<(usize, Vec<u32>)>;

struct Work<'a> {
    fields: &'a [Field],
    how: &'a Conversion,
    scratch: &'a TempDir,
    levels: Vec<Provisional>,
    random: ChaCha8Rng,
    budget: Budget,
}

impl<'a> Work<'a> {
    fn new(fields: &'a [Field], how: &'a Conversion, scratch: &'a TempDir) -> Self {
        Self {
            fields,
            how,
            scratch,
            levels: fields.iter().map(|_| Provisional::default()).collect(),
            random: ChaCha8Rng::seed_from_u64(how.seed),
            budget: Budget::new(how.memory_bytes, 8 * width(fields)),
        }
    }

    /// Throws all rows into buckets; also the number of rows, and of those left out.
    fn read(
        &mut self,
        source: &Source,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Vec<Bucket>, usize, usize), TableError> {
        let mut scatter = Scatter::new(self.scratch.path(), "rows", self.budget)?;
        let mut row = Vec::new();
        let scanned = source.pass(self.fields, &self.how.read, &mut |batch, at| {
            let batch = common_codes(&mut self.levels, batch)?;
            for place in 0..batch.n_rows() {
                row.clear();
                for (_, column) in batch.columns() {
                    column.push_row(place, &mut row);
                }
                scatter.push(&row, &mut self.random)?;
            }
            progress(at);
            Ok(())
        })?;
        Ok((
            scatter.finish()?,
            scanned.rows as usize,
            scanned.dropped_rows,
        ))
    }

    /// The columns with their sorted levels.
    fn columns(&self) -> (Vec<Stored>, Places) {
        let mut columns = Vec::new();
        let mut places = Places::new();
        let mut at = 0;
        for (field, known) in self.fields.iter().zip(&self.levels) {
            let kind = field.kind.unwrap_or(Kind::Number);
            let (levels, place) = known.sorted();
            if kind == Kind::Category {
                places.push((at, place));
            }
            at += kind.width();
            let name = field.name.clone();
            columns.push(Stored { name, kind, levels });
        }
        (columns, places)
    }

    /// Shuffles the buckets into the file.
    fn write(
        &mut self,
        path: &Path,
        (header, places): (&Header, &Places),
        buckets: Vec<Bucket>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), TableError> {
        let mut draft = Draft::create(path)?;
        draft
            .write_all(&header.encode())
            .map_err(io(path, "write"))?;
        let mut sum = crc32fast::Hasher::new();
        let width = header.width();
        let mut rows = 0;
        let mut drain = Drain {
            folder: self.scratch.path(),
            budget: self.budget,
            width,
            random: &mut self.random,
        };
        drain.run(buckets, &mut |block| {
            sort_codes(block, width, places);
            let bytes: &[u8] = bytemuck::cast_slice(block);
            sum.update(bytes);
            draft.write_all(bytes).map_err(io(path, "write"))?;
            rows += (block.len() / width.max(1)) as u64;
            progress(Progress {
                stage: Stage::Shuffling,
                rows,
                share: rows as f64 / header.n_rows.max(1) as f64,
            });
            Ok(())
        })?;
        draft.patch(ROW_SUM_AT, &sum.finalize().to_le_bytes())?;
        draft.commit()
    }
}

fn width(fields: &[Field]) -> usize {
    let kinds = fields.iter().filter_map(|field| field.kind);
    kinds.map(Kind::width).sum()
}

/// The batch with categories as numbers: codes that hold for all batches.
fn common_codes(known: &mut [Provisional], mut batch: Table) -> Result<Table, TableError> {
    let names = batch.names().to_vec();
    for (name, known) in names.iter().zip(known) {
        let Column::Category { codes, levels } = batch.column(name)? else {
            continue;
        };
        let number = |code| match code {
            MISSING => f64::NAN,
            code => f64::from(code),
        };
        let codes = known.codes(codes, levels).into_iter().map(number);
        let codes = Column::Number(codes.collect());
        batch.replace(name, codes)?;
    }
    Ok(batch)
}

fn sort_codes(block: &mut [f64], width: usize, places: &Places) {
    for (at, place) in places {
        for code in block
            .iter_mut()
            .skip(*at)
            .step_by(width)
            .filter(|code| !code.is_nan())
        {
            *code = f64::from(place[*code as usize]);
        }
    }
}
