//! Resolves the name of a file, a folder or a pattern to files.

use std::path::{Path, PathBuf};

use crate::TableError;

use super::address::Address;
use super::known::KnownFile;
use super::shard::{Format, Shard, foreign_format};
use super::{file_error, io_error};

/// The files of a file name, a folder or a pattern, ordered by name.
pub(super) fn resolve_input(input: &Path) -> Result<Vec<Shard>, TableError> {
    if let Some(address) = Address::from_path(input) {
        return in_store(input, &address);
    }
    if input.is_dir() {
        return list_folder(input);
    }
    let pattern = input.to_str().filter(|text| text.contains(['*', '?', '[']));
    match pattern {
        Some(pattern) if !input.exists() => list_matching(input, pattern),
        _ => Ok(vec![find_shard(input)?]),
    }
}

#[cfg(feature = "stores")]
use super::store::resolve_input as in_store;

#[cfg(not(feature = "stores"))]
fn in_store(input: &Path, _: &Address<'_>) -> Result<Vec<Shard>, TableError> {
    Err(super::input::not_compiled(input))
}

fn find_shard(path: &Path) -> Result<Shard, TableError> {
    let data = std::fs::metadata(path).map_err(io_error(path, "open"))?;
    let format = Format::from_path(path).ok_or_else(|| foreign_format(path))?;
    Ok(Shard {
        path: path.into(),
        format,
        bytes: data.len(),
        groups: None,
        version: None,
        known: KnownFile::default(),
    })
}

/// Tables directly in a folder; hidden files and those of unknown extension are skipped.
fn list_folder(input: &Path) -> Result<Vec<Shard>, TableError> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(input).map_err(io_error(input, "list"))? {
        paths.push(entry.map_err(io_error(input, "list"))?.path());
    }
    let visible = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        path.is_file() && name.is_some_and(|name| !name.starts_with(['.', '_']))
    };
    paths.retain(|path| visible(path) && Format::from_path(path).is_some());
    some_of(input, paths, "the folder has no table in it")
}

fn list_matching(input: &Path, pattern: &str) -> Result<Vec<Shard>, TableError> {
    let found = glob::glob(pattern).map_err(|error| TableError::Format {
        path: input.into(),
        reason: format!("not a valid pattern: {}", error.msg),
    })?;
    let paths = found.filter_map(Result::ok).filter(|path| path.is_file());
    some_of(input, paths.collect(), "no file matches the pattern")
}

fn some_of(
    input: &Path,
    mut paths: Vec<PathBuf>,
    reason: &'static str,
) -> Result<Vec<Shard>, TableError> {
    if paths.is_empty() {
        let hint = "shards are csv, tsv, parquet or arrow files";
        return Err(file_error(input, reason, hint));
    }
    paths.sort();
    paths.iter().map(|path| find_shard(path)).collect()
}
