//! Parts of a table in files: which rows of which file.

use std::path::PathBuf;

use lehr::regression::cluster::PartRows;
use lehr::table::{KnownFile, Part, TableFiles};
use pyo3::prelude::*;

use crate::error::{message_error, refusal_error};
use crate::request::ReadingOptions;
use crate::source::PySource;

/// A file, its row groups from and to, the rows in them, and the rows before them.
pub(crate) type PartOf = (PathBuf, usize, usize, u64, u64);

/// The part that Python describes.
pub(crate) fn to_part((path, from, to, rows, first): PartOf) -> Part {
    Part {
        path,
        groups: from..to,
        rows,
        first,
        known: KnownFile::default(),
    }
}

/// The rows of a part, read with the given options.
pub(crate) fn part_rows(own: PartOf, reading: &ReadingOptions) -> PyResult<PartRows> {
    Ok(PartRows {
        part: to_part(own),
        options: reading.read_options(None)?,
    })
}

/// Divides the table of a source into parts of at most `most` rows, unless a row group has more.
#[pyfunction]
pub(crate) fn parts(source: &PySource, most: u64) -> PyResult<Vec<PartOf>> {
    let parts = table_files(source)?
        .split_parts(most)
        .map_err(refusal_error)?;
    let described = |part: Part| {
        let Part {
            path,
            groups,
            rows,
            first,
            ..
        } = part;
        (path, groups.start, groups.end, rows, first)
    };
    Ok(parts.into_iter().map(described).collect())
}

/// The files of a source, for workers that read them themselves.
pub(crate) fn table_files(source: &PySource) -> PyResult<&TableFiles> {
    let words = "table: expected names of parquet files that all nodes can read, found a table in \
                 memory\n  hint: write it to parquet files first";
    source.as_files().ok_or_else(|| message_error(words))
}
