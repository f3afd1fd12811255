//! Tables beyond the memory that a fit may use: read block by block, their model's columns
//! kept on disk in random order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use anyhow::{Result, anyhow};
use lehr::model::{Bound, StoredRows};
use lehr::regression::{Blocks, EachBlock, Regression, RegressionError};
use lehr::table::{
    Field, Kind, Provenance, ReadOptions, Scratch, ShuffledRows, Shuffler, Table, TableError,
    TableFiles,
};

use crate::content;
use crate::interrupt::{self, Reaction};
use crate::live::Live;
use crate::output::{Force, Order};
use crate::reading::stop;

/// What the rows may take while they are shuffled.
const SHUFFLE_BYTES: usize = 32 << 20;

/// The columns of files, which are read anew for every visit.
pub(crate) struct Files<'a> {
    source: &'a TableFiles,
    options: &'a ReadOptions,
    names: Vec<String>,
    fields: Vec<Field>,
    live: &'a Live,
}

impl<'a> Files<'a> {
    /// The columns that the options ask for.
    pub(crate) fn new(
        source: &'a TableFiles,
        options: &'a ReadOptions,
        live: &'a Live,
    ) -> Result<Files<'a>> {
        let fields = source.schema(options)?;
        Ok(Files {
            source,
            options,
            names: fields.iter().map(|field| field.name.clone()).collect(),
            fields,
            live,
        })
    }

    /// Reads all rows; the number of those that were left out.
    fn scan(&self, columns: Option<&[&str]>, each: &mut EachBlock<'_>) -> Result<usize, ScanError> {
        let mut options = self.options.clone();
        if let Some(columns) = columns {
            options.columns = Some(columns.iter().map(ToString::to_string).collect());
        }
        let mut failed = None;
        let scanned = self.source.scan(&options, &mut |batch, at| {
            self.live.rows(at);
            each(&batch).map_err(|error| {
                failed = Some(error);
                stop()
            })
        });
        match failed {
            Some(error) => Err(ScanError::Regression(error)),
            None => Ok(scanned.map_err(ScanError::Table)?.dropped_rows),
        }
    }
}

/// Why a visit ended early.
enum ScanError {
    Table(TableError),
    Regression(RegressionError),
}

impl From<ScanError> for anyhow::Error {
    fn from(stopped: ScanError) -> anyhow::Error {
        match stopped {
            ScanError::Table(error) => error.into(),
            ScanError::Regression(error) => error.into(),
        }
    }
}

impl Blocks for Files<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn is_text(&self, name: &str) -> bool {
        let field = self.fields.iter().find(|field| field.name == name);
        field.is_some_and(|field| field.kind == Some(Kind::Category))
    }

    fn each(&self, columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), RegressionError> {
        match self.scan(Some(columns), visit) {
            Ok(_) => Ok(()),
            Err(ScanError::Regression(error)) => Err(error),
            Err(ScanError::Table(error)) => Err(RegressionError::Read(error.to_string())),
        }
    }
}

/// A file of rows that goes when nobody needs it any more.
pub(crate) struct RowFile {
    path: PathBuf,
    kept: bool,
    _folder: Option<Scratch>,
}

impl RowFile {
    /// Beside the output, `fit.lehr.rows`, so that `--resume` finds it; without an output in a
    /// folder of its own for temporary files.
    pub(crate) fn new(output: Option<&Path>) -> Result<RowFile> {
        let (path, folder) = if let Some(output) = output {
            let path = beside(output);
            Order::new(&path, content::Kind::Rows, Force::default()).check(&[])?;
            (path, None)
        } else {
            let place = std::env::temp_dir();
            let folder = Scratch::new_in(&place, "lehr-rows-")
                .map_err(|error| anyhow!("{}: cannot write: {error}", place.display()))?;
            (folder.path().join("rows"), Some(folder))
        };
        // Rows that are there already belong to a fit that was not finished.
        let kept = path.exists();
        let leftover = folder.as_ref().map_or(path.as_path(), Scratch::path);
        interrupt::remove_when_interrupted((!kept).then_some(leftover));
        Ok(RowFile {
            path,
            kept,
            _folder: folder,
        })
    }

    /// Keeps the file: the fit will be resumed.
    pub(crate) fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for RowFile {
    fn drop(&mut self) {
        interrupt::remove_when_interrupted(None);
        if !self.kept {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The rows of an output: `fit.lehr.rows`.
fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".rows");
    PathBuf::from(name)
}

/// Removes the rows of an earlier fit that was killed and is now replaced by one that had no
/// use for them.
pub(crate) fn tidy(output: &Path) {
    let path = beside(output);
    if ShuffledRows::open(&path).is_ok() {
        let _ = std::fs::remove_file(path);
    }
}

/// The model on rows on disk; also how many rows were left out.
pub(crate) fn bind(
    regression: &Regression,
    files: &Files<'_>,
    rows: &RowFile,
) -> Result<(Bound, usize)> {
    let fingerprint = fingerprint(regression, files);
    let found = reusable(&rows.path, fingerprint);
    let file = match found {
        Some(file) => file,
        None => convert(regression, files, rows, fingerprint)?,
    };
    let dropped = file.dropped_rows();
    let program = regression.program()?;
    let rows = StoredRows::new(file, program.columns())?;
    Ok((program.bind_source(Arc::new(rows)), dropped))
}

/// The file of an earlier run on the same data, if it is whole.
fn reusable(path: &Path, fingerprint: u64) -> Option<ShuffledRows> {
    let file = ShuffledRows::open(path).ok()?;
    let same = file.fingerprint() == fingerprint && file.verify().is_ok();
    same.then_some(file)
}

/// What the rows are made of: the files with their sizes and times, how they are read, and the
/// model's columns.
fn fingerprint(regression: &Regression, files: &Files<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in files.source.paths() {
        std::path::absolute(path).ok().hash(&mut hasher);
        let about = std::fs::metadata(path).ok();
        let changed = about.as_ref().and_then(|about| about.modified().ok());
        let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        (about.map(|about| about.len()), changed).hash(&mut hasher);
    }
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    format!("{:?} {regression:?}", files.options).hash(&mut hasher);
    hasher.finish()
}

/// Writes the model's columns of all rows in random order.
fn convert(
    regression: &Regression,
    files: &Files<'_>,
    rows: &RowFile,
    fingerprint: u64,
) -> Result<ShuffledRows> {
    interrupt::react(Reaction::Finish);
    let (mut shuffler, mut failed, mut first) = (None, None, 0);
    let dropped_rows = files.scan(None, &mut |block| {
        if interrupt::asked() {
            return Err(RegressionError::NoRows);
        }
        if block.n_rows() == 0 {
            return Ok(());
        }
        let design = regression.design_block(block, first)?;
        first += block.n_rows();
        push(&mut shuffler, &rows.path, design).map_err(|error| {
            failed = Some(error);
            RegressionError::NoRows
        })
    });
    interrupt::react(Reaction::End);
    if interrupt::asked() {
        return Err(anyhow!("fit: stopped before it began, nothing is saved"));
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    let provenance = Provenance {
        dropped_rows: dropped_rows?,
        fingerprint,
    };
    let shuffler: Shuffler = shuffler.ok_or(RegressionError::NoRows)?;
    Ok(shuffler.finish(provenance, &mut |at| files.live.rows(at))?)
}

fn push(shuffler: &mut Option<Shuffler>, path: &Path, design: Table) -> Result<(), TableError> {
    let open = if let Some(open) = shuffler {
        open
    } else {
        let columns = design.columns();
        let columns = columns.map(|(name, column)| (name.to_owned(), column.kind()));
        shuffler.insert(Shuffler::create(path, columns.collect(), 0, SHUFFLE_BYTES)?)
    };
    open.push(design)
}
