//! Arrow's own files and streams, batch by batch.

mod layout;

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use arrow_array::RecordBatchReader;
use arrow_ipc::reader::{FileReader, StreamReader};

use crate::TableError;

use super::arrow::{self, Dictionaries};
use super::guard::guard_panics;
use super::shard::Shard;
use super::{EachBatch, Field, io_error};

struct Reader {
    batches: Box<dyn RecordBatchReader>,
    /// The number of batches, if it is known before they are read.
    count: Option<usize>,
}

impl Reader {
    /// A file starts with a magic word, a stream does not.
    fn open_shard(shard: &Shard) -> Result<Self, TableError> {
        let path = &*shard.path;
        let mut file = BufReader::new(File::open(path).map_err(io_error(path, "open"))?);
        shard.known.count_open();
        let mut magic = Vec::new();
        file.by_ref()
            .take(6)
            .read_to_end(&mut magic)
            .map_err(io_error(path, "read"))?;
        file.rewind().map_err(io_error(path, "read"))?;
        if magic == b"ARROW1" {
            guard_panics(path, || layout::check_file(&mut file))?;
            let reader = guard_panics(path, || FileReader::try_new(file, None))?;
            return Ok(Self {
                count: Some(reader.num_batches()),
                batches: Box::new(reader),
            });
        }
        guard_panics(path, || layout::check_stream(&mut file))?;
        let reader = guard_panics(path, || StreamReader::try_new(file, None))?;
        Ok(Self {
            count: None,
            batches: Box::new(reader),
        })
    }
}

/// The columns of the file.
pub(super) fn read_fields(shard: &Shard) -> Result<Vec<Field>, TableError> {
    Ok(arrow::arrow_fields(
        &Reader::open_shard(shard)?.batches.schema(),
    ))
}

/// Reads the given fields and passes them on in batches of at most `batch_rows`. The batches of the
/// file itself, as large as its writer made them, are held one at a time.
pub(super) fn decode_batches(
    shard: &Shard,
    fields: &[Field],
    batch_rows: usize,
    each: &mut EachBatch<'_>,
) -> Result<(), TableError> {
    let path = &*shard.path;
    let mut reader = Reader::open_shard(shard)?;
    let total = reader.count;
    let mut done = 0;
    while let Some(batch) = guard_panics(path, || reader.batches.next().transpose())? {
        done += 1;
        let share = total.map_or(0.0, |total| f64::from(done) / total.max(1) as f64);
        for start in (0..batch.num_rows()).step_by(batch_rows.max(1)) {
            let rows = batch_rows.max(1).min(batch.num_rows() - start);
            let part = batch.slice(start, rows);
            let table = guard_panics(path, || {
                arrow::read_table(&part, fields, Dictionaries::Whole)
            })?;
            if each(table, share).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
