//! Regressions of files: read into memory if they fit, else in blocks, with the model's columns on
//! disk in random order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use lehr_infer::observer::Wish;
use lehr_learn::{Blocks, EachBlock, LearnError};
use lehr_model::Bound;
use lehr_regression::{Purpose, Regression, Specification, TableBlock};
use lehr_rows::store::shuffled::StoredRows;
use lehr_table::{
    Field, Kind, Progress, Provenance, ReadOptions, ShuffledRows, Shuffler, Table, TableError,
    TableFiles,
};

use crate::bound::BoundRegression;
use crate::error::Error;

/// The memory for shuffling the rows.
const SHUFFLE_BYTES: usize = 32 << 20;

/// An observer of the reading of files.
pub trait ReadObserver {
    /// Receives the number of rows read so far.
    fn rows(&self, progress: Progress) -> Wish;

    /// All rows are in memory, and the model is made of them.
    fn all_read(&self) {}
}

/// An observer that ignores all reports.
impl ReadObserver for () {
    fn rows(&self, _: Progress) -> Wish {
        Wish::Continue
    }
}

/// The columns of files, which are read again for every pass.
pub struct FileTable<'a> {
    pub(crate) source: &'a TableFiles,
    pub(crate) options: &'a ReadOptions,
    names: Vec<String>,
    pub(crate) fields: Vec<Field>,
    pub(crate) observer: &'a dyn ReadObserver,
}

impl<'a> FileTable<'a> {
    /// The columns that the options select.
    pub fn new(
        source: &'a TableFiles,
        options: &'a ReadOptions,
        observer: &'a dyn ReadObserver,
    ) -> Result<FileTable<'a>, TableError> {
        let fields = source.read_schema(options)?;
        Ok(FileTable {
            source,
            options,
            names: fields.iter().map(|field| field.name.clone()).collect(),
            fields,
            observer,
        })
    }

    /// Reads all rows into memory.
    pub fn read(&self) -> Result<Table, Error> {
        let mut wish = Wish::Continue;
        let read = self.source.read_table(self.options, &mut |at| {
            if self.observer.rows(at) == Wish::Stop {
                wish = Wish::Stop;
            }
        });
        match wish {
            Wish::Stop => Err(LearnError::Stopped.into()),
            Wish::Continue => Ok(read?),
        }
    }

    /// Reads all rows; returns the number of rows that were left out.
    fn scan(
        &self,
        columns: Option<&[&str]>,
        each: &mut dyn FnMut(&Table) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let mut options = self.options.clone();
        if let Some(columns) = columns {
            options.columns = Some(columns.iter().map(ToString::to_string).collect());
        }
        let scanned =
            (self.source).scan_blocks(&options, &mut |batch, at| match self.observer.rows(at) {
                Wish::Stop => Err(LearnError::Stopped.into()),
                Wish::Continue => each(&batch),
            })?;
        Ok(scanned.dropped_rows)
    }

    /// A fingerprint of the rows: the files with their sizes and times, the reading options, and
    /// the model's columns.
    fn fingerprint(&self, regression: &Regression) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.source.hash_files(&mut hasher);
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        format!("{:?} {regression:?}", self.options).hash(&mut hasher);
        hasher.finish()
    }
}

/// Whether a column holds text.
pub(crate) fn is_text(fields: &[Field], name: &str) -> bool {
    let field = fields.iter().find(|field| field.name == name);
    field.is_some_and(|field| field.kind == Some(Kind::Category))
}

impl Blocks for FileTable<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn is_text(&self, name: &str) -> bool {
        is_text(&self.fields, name)
    }

    fn each(&self, columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), LearnError> {
        let scanned = self.scan(Some(columns), &mut |block| Ok(visit(block)?));
        scanned.map(|_| ()).map_err(Error::into_learn_error)
    }
}

impl BoundRegression {
    /// Builds the model of a table that does not fit into memory; its rows go to the file `rows`.
    /// `clock` started when the reading did.
    pub(crate) fn on_disk(
        specification: &Specification,
        table: &FileTable<'_>,
        rows: &Path,
        clock: Instant,
    ) -> Result<BoundRegression, Error> {
        if specification.only_terms().is_none() {
            return Err(LearnError::column(
                "several responses",
                "a table that fits into memory",
                "a larger one",
                "allow more with --memory, or fit the responses one by one",
            )
            .into());
        }
        let regression = specification.learn(table)?;
        let (bound, dropped_rows) = bind(&regression, table, rows)?;
        let own = (regression, bound);
        let rows = "on disk, shuffled".into();
        Ok(BoundRegression {
            dropped_rows,
            is_on_disk: true,
            ..BoundRegression::of_one(specification, own, rows, clock)
        })
    }
}

/// The model on rows on disk, and the number of rows that were left out.
fn bind(
    regression: &Regression,
    table: &FileTable<'_>,
    rows: &Path,
) -> Result<(Bound, usize), Error> {
    let fingerprint = table.fingerprint(regression);
    let file = match reusable(rows, fingerprint) {
        Some(file) => file,
        None => convert(regression, table, rows, fingerprint)?,
    };
    let dropped = file.dropped_rows();
    let program = regression.program()?;
    let rows = StoredRows::new(file, program.columns())?;
    Ok((program.bind_source(Arc::new(rows)), dropped))
}

/// The file of an earlier run on the same data, if it is complete.
fn reusable(path: &Path, fingerprint: u64) -> Option<ShuffledRows> {
    let file = ShuffledRows::open(path).ok()?;
    let same = file.fingerprint() == fingerprint && file.verify_checksums().is_ok();
    same.then_some(file)
}

/// Writes the model's columns of all rows in random order.
fn convert(
    regression: &Regression,
    table: &FileTable<'_>,
    rows: &Path,
    fingerprint: u64,
) -> Result<ShuffledRows, Error> {
    let (mut shuffler, mut first) = (None, 0);
    let dropped_rows = table.scan(None, &mut |block| {
        if block.n_rows() == 0 {
            return Ok(());
        }
        let design = regression.design_rows(
            &TableBlock {
                table: block,
                first,
            },
            Purpose::Fit,
        )?;
        first += block.n_rows();
        Ok(push(&mut shuffler, rows, design)?)
    })?;
    let provenance = Provenance {
        dropped_rows,
        fingerprint,
    };
    let shuffler: Shuffler = shuffler.ok_or(LearnError::NoRows)?;
    let shuffled = shuffler.into_rows(provenance, &mut |at| {
        let _ = table.observer.rows(at);
    });
    Ok(shuffled?)
}

fn push(shuffler: &mut Option<Shuffler>, path: &Path, design: Table) -> Result<(), TableError> {
    let open = if let Some(open) = shuffler {
        open
    } else {
        let columns = design.columns();
        let columns = columns.map(|(name, column)| (name.to_owned(), column.kind()));
        shuffler.insert(Shuffler::create(path, columns.collect(), 0, SHUFFLE_BYTES)?)
    };
    open.push_table(design)
}
