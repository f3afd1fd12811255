//! Tables in files: formats, shards, unusual content, shuffled rows, and invalid bytes.
#![cfg(feature = "files")]

mod binary;
mod damage;
mod hostile;
mod shard;
mod shuffle;
mod text;

use std::ops::Range;
use std::path::{Path, PathBuf};

use lehr_table::{
    Kind, MissingPolicy, Progress, Provenance, ReadOptions, ShuffledRows, Shuffler, Table,
    TableError, TableFiles,
};
use tempfile::TempDir;

fn scratch() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a file into the folder.
fn put(folder: &TempDir, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn read_with(path: &Path, options: &ReadOptions) -> Result<Table, TableError> {
    TableFiles::open_inputs(&[path])?.read_table(options, &mut |_| ())
}

fn read(path: &Path) -> Result<Table, TableError> {
    read_with(path, &ReadOptions::default())
}

/// The default options, except that missing values are kept.
fn keeping() -> ReadOptions {
    ReadOptions {
        missing: MissingPolicy::Keep,
        ..ReadOptions::default()
    }
}

/// The options for converting a file to shuffled rows.
struct Conversion {
    read: ReadOptions,
    seed: u64,
    memory_bytes: usize,
}

impl Default for Conversion {
    fn default() -> Conversion {
        Conversion {
            read: ReadOptions::default(),
            seed: 0,
            memory_bytes: 256 << 20,
        }
    }
}

/// Writes the rows of a file in random order and opens the result.
fn shuffle(
    from: &Path,
    to: &Path,
    how: &Conversion,
    progress: &mut dyn FnMut(Progress),
) -> Result<ShuffledRows, TableError> {
    let source = TableFiles::open_inputs(&[from])?;
    let fields = source.read_schema(&how.read)?;
    let columns = (fields.into_iter())
        .map(|field| (field.name, field.kind.unwrap_or(Kind::Number)))
        .collect();
    let mut shuffler = Shuffler::create(to, columns, how.seed, how.memory_bytes)?;
    let scan = source.scan_blocks(&how.read, &mut |batch, at| {
        progress(at);
        shuffler.push_table(batch)
    })?;
    let provenance = Provenance {
        dropped_rows: scan.dropped_rows,
        fingerprint: 0,
    };
    shuffler.into_rows(provenance, progress)
}

/// The text of an error without the name of the folder.
fn message<T: std::fmt::Debug>(folder: &TempDir, result: Result<T, TableError>) -> String {
    let text = result.unwrap_err().to_string();
    text.replace(&format!("{}/", folder.path().display()), "")
}

/// A header and one line for every number of the range.
fn lines(header: &str, rows: Range<usize>, line: impl Fn(usize) -> String) -> String {
    let rows: Vec<String> = rows.map(line).collect();
    format!("{header}\n{}\n", rows.join("\n"))
}
