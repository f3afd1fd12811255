//! Tables in files: formats, shards, hostile content, shuffled rows, and bytes that are no table.
#![cfg(feature = "files")]

mod binary;
mod damage;
mod hostile;
mod shard;
mod shuffle;
mod text;

use std::ops::Range;
use std::path::{Path, PathBuf};

use lehr_table::{MissingPolicy, ReadOptions, Source, Table, TableError};
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
    Source::open(&[path])?.read(options, &mut |_| ())
}

fn read(path: &Path) -> Result<Table, TableError> {
    read_with(path, &ReadOptions::default())
}

/// Default options, but missing values stay.
fn keeping() -> ReadOptions {
    ReadOptions {
        missing: MissingPolicy::Keep,
        ..ReadOptions::default()
    }
}

/// The text of an error without the folder it happened in.
fn message<T: std::fmt::Debug>(folder: &TempDir, result: Result<T, TableError>) -> String {
    let text = result.unwrap_err().to_string();
    text.replace(&format!("{}/", folder.path().display()), "")
}

/// A header and one line for every number of the range.
fn lines(header: &str, rows: Range<usize>, line: impl Fn(usize) -> String) -> String {
    let rows: Vec<String> = rows.map(line).collect();
    format!("{header}\n{}\n", rows.join("\n"))
}
