//! Parquet files, batch by batch.

use std::fs::File;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::TableError;

use super::guard::guarded;
use super::{EachBatch, Field, arrow, io};

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
    let builder = open(path)?;
    let wanted = |name: &str| fields.iter().any(|field| field.name == name);
    let places: Vec<usize> = (builder.schema().fields().iter().enumerate())
        .filter(|(_, field)| wanted(field.name()))
        .map(|(place, _)| place)
        .collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), places);
    let total = builder.metadata().file_metadata().num_rows().max(1) as f64;
    let builder = builder
        .with_projection(mask)
        .with_batch_size(batch_rows.max(1));
    let mut reader = guarded(path, || builder.build())?;
    let mut rows = 0;
    while let Some(batch) = guarded(path, || reader.next().transpose())? {
        rows += batch.num_rows();
        let table = guarded(path, || arrow::table(&batch, fields))?;
        each(table, (rows as f64 / total).min(1.0))?;
    }
    Ok(())
}
