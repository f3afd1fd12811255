//! Parquet files, batch by batch.

use std::fs::File;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::TableError;

use super::arrow::{self, Dictionaries};
use super::guard::guarded;
use super::{EachBatch, Field, io};

type Builder = ParquetRecordBatchReaderBuilder<File>;

fn open(path: &Path) -> Result<Builder, TableError> {
    let file = File::open(path).map_err(io(path, "open"))?;
    guarded(path, || Builder::try_new(file))
}

/// The columns of the file.
pub(super) fn fields(path: &Path) -> Result<Vec<Field>, TableError> {
    Ok(arrow::fields(open(path)?.schema()))
}

/// The rows of the file.
pub(super) fn rows(path: &Path) -> Result<u64, TableError> {
    let rows = open(path)?.metadata().file_metadata().num_rows();
    Ok(rows.max(0) as u64)
}

/// Reads the given fields, and only their bytes, and hands them on in batches.
pub(super) fn decode(
    path: &Path,
    fields: &[Field],
    batch_rows: usize,
    each: &mut EachBatch<'_>,
) -> Result<(), TableError> {
    let whole = open(path)?;
    let total = whole.metadata().file_metadata().num_rows().max(1) as f64;
    let dictionaries = dictionaries(&whole);
    let mut rows = 0;
    for builder in parts(path, whole, dictionaries)? {
        let wanted = |name: &str| fields.iter().any(|field| field.name == name);
        let places: Vec<usize> = (builder.schema().fields().iter().enumerate())
            .filter(|(_, field)| wanted(field.name()))
            .map(|(place, _)| place)
            .collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), places);
        let builder = builder
            .with_projection(mask)
            .with_batch_size(batch_rows.max(1));
        let mut reader = guarded(path, || builder.build())?;
        while let Some(batch) = guarded(path, || reader.next().transpose())? {
            rows += batch.num_rows();
            let table = guarded(path, || arrow::table(&batch, fields, dictionaries))?;
            each(table, (rows as f64 / total).min(1.0))?;
        }
    }
    Ok(())
}

/// Arrow's C++ library, which is pandas', writes dictionaries as they are; others rebuild them.
fn dictionaries(file: &Builder) -> Dictionaries {
    let writer = file.metadata().file_metadata().created_by();
    match writer {
        Some(name) if name.starts_with("parquet-cpp") => Dictionaries::Whole,
        _ => Dictionaries::Rebuilt,
    }
}

/// The file to be read at once; where the order of dictionaries counts, row group by row group,
/// because a batch of two would have its dictionaries rebuilt.
fn parts(
    path: &Path,
    whole: Builder,
    dictionaries: Dictionaries,
) -> Result<Vec<Builder>, TableError> {
    let groups = whole.metadata().num_row_groups();
    if dictionaries == Dictionaries::Rebuilt || groups < 2 || !arrow::has_order(whole.schema()) {
        return Ok(vec![whole]);
    }
    let part = |group| Ok(open(path)?.with_row_groups(vec![group]));
    (0..groups).map(part).collect()
}
