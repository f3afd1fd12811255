//! Parquet files, batch by batch.

use std::fs::File;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::TableError;

use super::{EachBatch, Field, arrow, format_error, io};

type Builder = ParquetRecordBatchReaderBuilder<File>;

fn open(path: &Path) -> Result<Builder, TableError> {
    let file = File::open(path).map_err(io(path, "open"))?;
    Builder::try_new(file).map_err(format_error(path))
}

/// The columns of the file.
pub(super) fn fields(path: &Path) -> Result<Vec<Field>, TableError> {
    Ok(arrow::fields(open(path)?.schema()))
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
    let reader = builder
        .with_projection(mask)
        .with_batch_size(batch_rows.max(1));
    let mut rows = 0;
    for batch in reader.build().map_err(format_error(path))? {
        let batch = batch.map_err(format_error(path))?;
        rows += batch.num_rows();
        let table = arrow::table(&batch, fields).map_err(format_error(path))?;
        each(table, (rows as f64 / total).min(1.0))?;
    }
    Ok(())
}
