//! Parquet files, batch by batch.

use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::Compression;
use ::parquet::file::metadata::RowGroupMetaData;

use crate::TableError;

use super::arrow::{self, Dictionaries};
use super::guard::guard_panics;
use super::input::{self, Input};
use super::known::KnownFile;
use super::shard::Shard;
use super::{EachBatch, Field, file_error, io_error};

type Builder = ParquetRecordBatchReaderBuilder<Input>;

fn open_file(path: &Path, known: &KnownFile) -> Result<Builder, TableError> {
    let file = input::open_input(path)?;
    known.count_open();
    let version = input::version(&file).map_err(io_error(path, "open"))?;
    let metadata = known.find_footer(version, || load_footer(path, &file))?;
    input::prepare_input(&file, metadata.metadata());
    Ok(Builder::new_with_metadata(file, metadata))
}

/// The footer of a file all of whose columns can be read.
fn load_footer(path: &Path, file: &Input) -> Result<ArrowReaderMetadata, TableError> {
    let options = ArrowReaderOptions::new();
    let footer = guard_panics(path, || ArrowReaderMetadata::load(file, options))?;
    let groups = footer.metadata().row_groups().iter();
    let mut columns = groups.flat_map(RowGroupMetaData::columns);
    match columns.find_map(|column| unread_codec(column.compression())) {
        None => Ok(footer),
        Some(reason) => Err(file_error(
            path,
            reason,
            "write it again with zstd, snappy, gzip or no compression",
        )),
    }
}

/// The reason why columns of this compression cannot be read.
fn unread_codec(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::BROTLI(_) => Some("brotli compression is not read"),
        Compression::LZO => Some("lzo compression is not read"),
        _ => None,
    }
}

/// The columns of the file.
pub(super) fn read_fields(shard: &Shard) -> Result<Vec<Field>, TableError> {
    Ok(arrow::arrow_fields(
        open_file(&shard.path, &shard.known)?.schema(),
    ))
}

/// The rows of the file.
pub(super) fn count_rows(shard: &Shard) -> Result<u64, TableError> {
    let rows = open_file(&shard.path, &shard.known)?
        .metadata()
        .file_metadata()
        .num_rows();
    Ok(rows.max(0) as u64)
}

/// The rows of each row group of the file.
pub(super) fn group_rows(path: &Path, known: &KnownFile) -> Result<Vec<u64>, TableError> {
    let whole = open_file(path, known)?;
    let groups = whole.metadata().row_groups().iter();
    Ok(groups.map(|group| group.num_rows().max(0) as u64).collect())
}

/// Reads the given fields, and only their bytes, and passes them on in batches.
pub(super) fn decode_batches(
    shard: &Shard,
    fields: &[Field],
    batch_rows: usize,
    each: &mut EachBatch<'_>,
) -> Result<(), TableError> {
    let path = &*shard.path;
    let whole = open_file(path, &shard.known)?;
    let total = whole.metadata().file_metadata().num_rows().max(1) as f64;
    let dictionaries = read_dictionaries(&whole);
    let mut rows = 0;
    for builder in split_parts(shard, whole, dictionaries)? {
        let wanted = |name: &str| fields.iter().any(|field| field.name == name);
        let places: Vec<usize> = (builder.schema().fields().iter().enumerate())
            .filter(|(_, field)| wanted(field.name()))
            .map(|(place, _)| place)
            .collect();
        let mask = ProjectionMask::roots(builder.parquet_schema(), places);
        let builder = builder
            .with_projection(mask)
            .with_batch_size(batch_rows.max(1));
        let mut reader = guard_panics(path, || builder.build())?;
        while let Some(batch) = guard_panics(path, || reader.next().transpose())? {
            rows += batch.num_rows();
            let table = guard_panics(path, || arrow::read_table(&batch, fields, dictionaries))?;
            if each(table, (rows as f64 / total).min(1.0)).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Arrow's C++ library, which pandas uses, writes dictionaries in their original order; other
/// writers rebuild them.
fn read_dictionaries(file: &Builder) -> Dictionaries {
    let writer = file.metadata().file_metadata().created_by();
    match writer {
        Some(name) if name.starts_with("parquet-cpp") => Dictionaries::Whole,
        _ => Dictionaries::Rebuilt,
    }
}

/// The readers of the file: a single one, or one per row group if the order of dictionaries
/// matters, because a batch across two groups would have its dictionaries rebuilt.
fn split_parts(
    shard: &Shard,
    whole: Builder,
    dictionaries: Dictionaries,
) -> Result<Vec<Builder>, TableError> {
    let all = 0..whole.metadata().num_row_groups();
    let groups = shard.groups.clone().unwrap_or(all);
    if dictionaries == Dictionaries::Rebuilt
        || groups.len() < 2
        || !arrow::has_order(whole.schema())
    {
        let wanted = shard.groups.clone().map(Iterator::collect);
        return Ok(vec![match wanted {
            Some(groups) => whole.with_row_groups(groups),
            None => whole,
        }]);
    }
    let part = |group| Ok(open_file(&shard.path, &shard.known)?.with_row_groups(vec![group]));
    groups.map(part).collect()
}

#[cfg(test)]
mod tests {
    use crate::Table;

    #[test]
    fn a_compression_that_is_not_read_is_named_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let table = Table::new().with_number("x", vec![1.0, 2.0]).unwrap();
        table.write(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        // In the footer, field 4 of a column's metadata is its codec: 6 is zstd, 4 is brotli,
        // both doubled as the footer's encoding has it.
        let tail = bytes.len() - 8;
        let length = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap());
        let codec = |at: &usize| bytes[*at..].starts_with(&[0x15, 0x0c]);
        let places: Vec<usize> = (tail - length as usize..tail).filter(codec).collect();
        for at in places {
            bytes[at + 1] = 0x08;
        }
        std::fs::write(&path, bytes).unwrap();
        let error = Table::read(&path).unwrap_err().to_string();
        assert!(error.contains("brotli compression is not read"), "{error}");
        assert!(error.contains("hint: write it again with zstd"), "{error}");
    }
}
