//! A table in one or several files.

use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use crate::{Table, TableError};

use super::known::{FileReads, Version};
use super::resolve::resolve_input;
use super::shard::{Format, Shard};
use super::stack::Stack;
use super::tally::{Scan, Tally, as_asked};
use super::{
    EachBatch, Field, Progress, ReadOptions, Sink, Stage, csv, file_error, ipc, parquet, schema,
};

/// A table in one file or in several of the same format. The first file determines the columns,
/// their order and their types.
#[derive(Debug, Clone)]
pub struct TableFiles {
    pub(super) shards: Vec<Shard>,
    /// The columns that were found, for copies too.
    schemas: Arc<Mutex<Vec<KnownFields>>>,
}

/// The columns that files were found to have.
#[derive(Debug)]
struct KnownFields {
    versions: Vec<Option<Version>>,
    options: ReadOptions,
    fields: Vec<Field>,
}

impl Table {
    /// Reads a CSV, Parquet or Arrow file, a folder of such files, or the files that a pattern
    /// such as `part-*.parquet` names. Missing values are refused; [`TableFiles`] has the options.
    pub fn read(path: impl AsRef<Path>) -> Result<Table, TableError> {
        TableFiles::open_inputs(&[path])?.read_table(&ReadOptions::default(), &mut |_| ())
    }

    /// Writes a file in the format of its extension: csv, tsv, parquet or arrow.
    ///
    /// In text a missing value is an empty cell, a matrix `x` is the columns `x[1]`, `x[2]` and so on, and numbers
    /// have as many digits as are needed to read them back exactly. Parquet is compressed with Zstandard; categories
    /// are strings there, matrices lists of fixed size, and missing values nulls.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), TableError> {
        let mut sink = Sink::create_file(path.as_ref(), self)?;
        sink.push_table(self)?;
        sink.close_file()
    }
}

impl TableFiles {
    /// Finds the files behind `inputs`, each a file, a folder or a pattern such as
    /// `part-*.parquet`. Parquet and Arrow shards that disagree are refused here; CSV shards, whose
    /// columns depend on the options, are checked when they are read.
    pub fn open_inputs<P: AsRef<Path>>(inputs: &[P]) -> Result<Self, TableError> {
        let mut shards = Vec::new();
        for input in inputs {
            shards.extend(resolve_input(input.as_ref())?);
        }
        let first = shards
            .first()
            .ok_or_else(|| file_error(Path::new(""), "no file was given", "name at least one"))?;
        for shard in &shards {
            one_format(first, shard)?;
        }
        let described = !matches!(first.format, Format::Csv(..));
        let source = Self::of_shards(shards);
        if described {
            source.read_fields(&ReadOptions::default())?;
        }
        Ok(source)
    }

    pub(super) fn of_shards(shards: Vec<Shard>) -> Self {
        Self {
            shards,
            schemas: Arc::default(),
        }
    }

    /// How often each file was read so far, also by copies and parts of this table.
    pub fn reads(&self) -> Vec<FileReads> {
        let shards = self.shards.iter();
        shards.map(|shard| shard.known.reads()).collect()
    }

    /// The files, in the order in which they are read.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.shards.iter().map(|shard| shard.path.as_path())
    }

    /// Hashes the identity of the files, which changes when a file changes.
    pub fn hash_files(&self, hasher: &mut impl Hasher) {
        for shard in &self.shards {
            if let Some(version) = &shard.version {
                (&shard.path, shard.bytes, version).hash(hasher);
                continue;
            }
            std::path::absolute(&shard.path).ok().hash(hasher);
            let about = std::fs::metadata(&shard.path).ok();
            let changed = about.as_ref().and_then(|about| about.modified().ok());
            let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            (about.map(|about| about.len()), changed).hash(hasher);
        }
    }

    /// The columns that the options select, in the order of the files.
    pub fn read_schema(&self, options: &ReadOptions) -> Result<Vec<Field>, TableError> {
        let fields = self.read_fields(options)?;
        schema::select_fields(&self.shards[0].path, &fields, options)
    }

    /// The memory in bytes of the columns that the options select, 8 per number. It is exact for
    /// Parquet files and estimated from the size of other files.
    pub fn expected_bytes(&self, options: &ReadOptions) -> Result<u64, TableError> {
        let all = self.read_fields(options)?;
        let chosen = schema::select_fields(&self.shards[0].path, &all, options)?;
        let width = |fields: &[Field]| -> u64 {
            let kinds = fields.iter().filter_map(|field| field.kind);
            kinds.map(|kind| kind.width() as u64).sum()
        };
        let (wanted, there) = (width(&chosen), width(&all).max(1));
        let mut bytes = 0;
        for shard in &self.shards {
            bytes += match shard.format {
                Format::Parquet => parquet::count_rows(shard)? * 8 * wanted,
                format => shard.bytes * format.expansion_factor() * wanted / there,
            };
        }
        Ok(bytes)
    }

    /// Reads all rows into memory and reports to `progress` after every batch.
    pub fn read_table(
        &self,
        options: &ReadOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Table, TableError> {
        let fields = self.read_schema(options)?;
        let mut stack = Stack::new(&fields);
        let scanned = self.pass_blocks(
            &fields,
            options,
            &mut |batch, at| -> Result<(), TableError> {
                stack.push_batch(&batch);
                progress(at);
                Ok(())
            },
        )?;
        let mut table = stack.into_table()?;
        table.count_dropped(scanned.dropped_rows);
        Ok(table)
    }

    /// Passes on all rows batch by batch, so that memory does not grow with their number. A
    /// category has the levels of its batch only: see [`Column::recode_levels`](crate::Column::recode_levels). An
    /// error of `each` ends the pass and is returned. Under
    /// [`MissingPolicy::Refuse`](crate::MissingPolicy::Refuse) the error comes after the last
    /// batch.
    pub fn scan_blocks<E: From<TableError>>(
        &self,
        options: &ReadOptions,
        each: &mut dyn FnMut(Table, Progress) -> Result<(), E>,
    ) -> Result<Scan, E> {
        self.pass_blocks(&self.read_schema(options)?, options, each)
    }

    /// The first batch with rows; `None` without rows. Later batches are not read.
    pub fn first_block(&self, options: &ReadOptions) -> Result<Option<Table>, TableError> {
        let fields = self.read_schema(options)?;
        let mut tally = Tally::new(&fields);
        for shard in &self.shards {
            let mut first = Ok(None);
            decode_shard(shard, &fields, options, &mut |batch, _| {
                let batch = as_asked(batch, &fields, options);
                let batch = batch.map(|batch| tally.take_batch(batch, options));
                first = batch.map(|batch| Some(batch).filter(|batch| batch.n_rows() > 0));
                match first {
                    Ok(None) => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            })?;
            if let Some(first) = first? {
                return Ok(Some(first));
            }
        }
        tally.check_totals(&fields, options.missing)?;
        Ok(None)
    }

    /// [`scan_blocks`](Self::scan_blocks) with a known schema.
    pub(crate) fn pass_blocks<E: From<TableError>>(
        &self,
        fields: &[Field],
        options: &ReadOptions,
        each: &mut dyn FnMut(Table, Progress) -> Result<(), E>,
    ) -> Result<Scan, E> {
        let total: u64 = self.shards.iter().map(|shard| shard.bytes).sum();
        let mut tally = Tally::new(fields);
        let mut before = 0;
        for shard in &self.shards {
            let mut take = |batch: Table, within: f64| -> Result<(), E> {
                let batch = tally.take_batch(as_asked(batch, fields, options)?, options);
                let done = before as f64 + within * shard.bytes as f64;
                let progress = Progress {
                    stage: Stage::Reading,
                    rows: tally.rows,
                    share: (done / total.max(1) as f64).min(1.0),
                };
                each(batch, progress)
            };
            let mut taken = Ok(());
            decode_shard(shard, fields, options, &mut |batch, within| {
                taken = take(batch, within);
                match taken {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            })?;
            taken?;
            before += shard.bytes;
        }
        Ok(tally.check_totals(fields, options.missing)?)
    }

    /// All columns. They are found once for the same files and the same way to read them.
    fn read_fields(&self, options: &ReadOptions) -> Result<Vec<Field>, TableError> {
        let options = options.of_schema();
        let versions: Vec<_> = self.shards.iter().map(Shard::version_now).collect();
        let mut known = self.schemas.lock().expect("no search panics half-way");
        known.retain(|one| one.versions == versions);
        if let Some(one) = known.iter().find(|one| one.options == options) {
            return Ok(one.fields.clone());
        }
        let fields = self.find_fields(&options)?;
        known.push(KnownFields {
            versions,
            options,
            fields: fields.clone(),
        });
        Ok(fields)
    }

    /// All columns of the first shard, after a comparison with those of the others.
    fn find_fields(&self, options: &ReadOptions) -> Result<Vec<Field>, TableError> {
        let first = &self.shards[0];
        let fields = match first.format {
            Format::Csv(..) => csv::infer_fields(&self.shards, options)?,
            _ => describe_shard(first)?,
        };
        schema::check_distinct(&first.path, &fields)?;
        for shard in &self.shards[1..] {
            let found = match shard.format {
                Format::Csv(..) => csv::named_like(shard, options, &fields)?,
                _ => describe_shard(shard)?,
            };
            let described = |path, fields| schema::FileFields { path, fields };
            schema::check_agreement(
                &described(&first.path, &fields),
                &described(&shard.path, &found),
            )?;
        }
        Ok(fields)
    }
}

fn one_format(first: &Shard, shard: &Shard) -> Result<(), TableError> {
    let (expected, found) = (first.format.family_name(), shard.format.family_name());
    if expected == found {
        return Ok(());
    }
    Err(schema::shard_error(
        &shard.path,
        found,
        &first.path,
        expected,
    ))
}

/// The columns of a file that describes itself.
fn describe_shard(shard: &Shard) -> Result<Vec<Field>, TableError> {
    match shard.format {
        Format::Parquet => parquet::read_fields(shard),
        _ => ipc::read_fields(shard),
    }
}

fn decode_shard(
    shard: &Shard,
    fields: &[Field],
    options: &ReadOptions,
    each: &mut EachBatch<'_>,
) -> Result<(), TableError> {
    match shard.format {
        Format::Csv(..) => csv::decode_records(shard, fields, options, each),
        Format::Parquet => parquet::decode_batches(shard, fields, options.batch_rows, each),
        Format::Ipc => ipc::decode_batches(shard, fields, options.batch_rows, each),
    }
}
