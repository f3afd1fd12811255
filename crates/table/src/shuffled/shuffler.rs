//! Converts tables to shuffled rows, in bounded memory.

use std::io::Write;
use std::path::{Path, PathBuf};

use lehr_file::{Draft, parent_folder};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::file::{Progress, Scratch, Stage, io_error, sweep_folder};
use crate::{Column, Kind, Labels, MISSING, Table, TableError};

use super::ShuffledRows;
use super::header::{Header, ROW_SUM_AT, StoredColumn};
use super::scatter::{Bucket, Budget, Drain, Scatter};

/// The prefix of the names of scratch folders.
const SCRATCH: &str = ".lehr-scatter-";

/// The name and kind of each column.
pub type Columns = Vec<(String, Kind)>;

/// Takes tables with the same columns, one after another, and writes all their rows in random
/// order. During the conversion, scratch files of the size of the rows lie beside the file.
pub struct Shuffler {
    path: PathBuf,
    columns: Columns,
    levels: Vec<Labels>,
    scatter: Scatter,
    random: ChaCha8Rng,
    budget: Budget,
    seed: u64,
    n_rows: usize,
    row: Vec<f64>,
    // The last field, so that it is removed after the files in it are closed.
    scratch: Scratch,
}

/// The facts about its input that are recorded in a file of shuffled rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Rows that were left out because a value was missing.
    pub dropped_rows: usize,
    /// A fingerprint of the rows' input, which readers of the file may compare.
    pub fingerprint: u64,
}

/// The place of each category code among the sorted levels, by the number's place in the row.
type Places = Vec<(usize, Vec<u32>)>;

impl Shuffler {
    /// Starts a file at `path`. The same columns, seed, memory and rows give the same bytes. The
    /// rows take at most `memory_bytes`, besides one pushed table and the levels of categories.
    pub fn create(
        path: &Path,
        columns: Columns,
        seed: u64,
        memory_bytes: usize,
    ) -> Result<Self, TableError> {
        let scratch = Scratch::new_in(parent_folder(path), SCRATCH)
            .map_err(io_error(path, "write beside"))?;
        let width: usize = columns.iter().map(|(_, kind)| kind.width()).sum();
        let budget = Budget::new(memory_bytes, 8 * width);
        Ok(Self {
            path: path.into(),
            levels: columns.iter().map(|_| Labels::default()).collect(),
            columns,
            scatter: Scatter::new(scratch.path(), "rows", budget)?,
            random: ChaCha8Rng::seed_from_u64(seed),
            budget,
            seed,
            n_rows: 0,
            row: Vec::new(),
            scratch,
        })
    }

    /// Removes the files that killed processes left beside `path`; those of live ones stay.
    pub fn tidy_beside(path: &Path) {
        sweep_folder(parent_folder(path), SCRATCH);
    }

    /// Adds the rows of a table.
    ///
    /// # Panics
    /// If its columns are not those with which the file was started.
    pub fn push_table(&mut self, table: Table) -> Result<(), TableError> {
        let kinds = table.columns().map(|(name, column)| (name, column.kind()));
        let expected = self.columns.iter().map(|(name, kind)| (&**name, *kind));
        assert!(kinds.eq(expected), "every table has the same columns");
        let table = common_codes(&mut self.levels, table)?;
        for place in 0..table.n_rows() {
            self.row.clear();
            for (_, column) in table.columns() {
                column.push_row(place, &mut self.row);
            }
            self.scatter.push_row(&self.row, &mut self.random)?;
        }
        self.n_rows += table.n_rows();
        Ok(())
    }

    /// Shuffles the rows into the file and opens it. The file appears complete or not at all.
    pub fn into_rows(
        self,
        provenance: Provenance,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<ShuffledRows, TableError> {
        let (columns, places) = self.stored_columns();
        let header = Header {
            columns,
            n_rows: self.n_rows,
            seed: self.seed,
            dropped_rows: provenance.dropped_rows,
            fingerprint: provenance.fingerprint,
        };
        let buckets = self.scatter.into_buckets()?;
        let drain = Drain {
            folder: self.scratch.path(),
            budget: self.budget,
            width: header.width(),
            random: &mut { self.random },
        };
        // The draft is in the scratch folder, so that a killed process leaves nothing else.
        let draft =
            Draft::create_in(self.scratch.path(), &self.path).and_then(Draft::for_owner_only);
        let writer = Writer {
            draft: draft.map_err(io_error(&self.path, "write"))?,
            header,
            places,
        };
        writer.write_buckets(buckets, drain, progress)?;
        ShuffledRows::open(&self.path)
    }

    /// The columns with their sorted levels.
    fn stored_columns(&self) -> (Vec<StoredColumn>, Places) {
        let mut columns = Vec::new();
        let mut places = Places::new();
        let mut at = 0;
        for ((name, kind), known) in self.columns.iter().zip(&self.levels) {
            let (levels, place) = known.sorted_labels();
            if *kind == Kind::Category {
                places.push((at, place));
            }
            at += kind.width();
            let (name, kind) = (name.clone(), *kind);
            columns.push(StoredColumn { name, kind, levels });
        }
        (columns, places)
    }
}

/// The file until it gets its name.
struct Writer {
    draft: Draft,
    header: Header,
    places: Places,
}

impl Writer {
    /// Shuffles the buckets into the file.
    fn write_buckets(
        mut self,
        buckets: Vec<Bucket>,
        mut drain: Drain<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), TableError> {
        let path = self.draft.target().to_path_buf();
        let failed = || io_error(&path, "write");
        let head = self.header.encode_header();
        self.draft.write_all(&head).map_err(failed())?;
        let mut sum = crc32fast::Hasher::new();
        let width = self.header.width();
        let mut rows = 0;
        drain.drain_buckets(buckets, &mut |block| {
            sort_codes(block, width, &self.places);
            let bytes: &[u8] = bytemuck::cast_slice(block);
            sum.update(bytes);
            self.draft.write_all(bytes).map_err(failed())?;
            rows += (block.len() / width.max(1)) as u64;
            progress(Progress {
                stage: Stage::Shuffling,
                rows,
                share: rows as f64 / self.header.n_rows.max(1) as f64,
            });
            Ok(())
        })?;
        let sum = sum.finalize().to_le_bytes();
        self.draft.patch_bytes(ROW_SUM_AT, &sum).map_err(failed())?;
        self.draft.commit_file().map_err(failed())
    }
}

/// The table with categories as numbers, by codes that are valid for all tables.
fn common_codes(known: &mut [Labels], mut table: Table) -> Result<Table, TableError> {
    let names = table.names().to_vec();
    for (name, known) in names.iter().zip(known) {
        let Column::Category { codes, levels } = table.column(name)? else {
            continue;
        };
        let number = |code| match code {
            MISSING => f64::NAN,
            code => f64::from(code),
        };
        let codes = known.merged_codes(codes, levels).into_iter().map(number);
        let codes = Column::Number(codes.collect());
        table.replace(name, codes)?;
    }
    Ok(table)
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
