//! Partitions of tables: some row groups of a Parquet file each.

use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::TableError;

use super::known::KnownFile;
use super::parquet;
use super::resolve::resolve_input;
use super::shard::Format;
use super::{TableFiles, file_error};

/// Consecutive row groups of one Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// Its row groups, by their places in the file.
    pub groups: Range<usize>,
    /// Rows in them.
    pub rows: u64,
    /// Rows of the whole table before these.
    pub first: u64,
    /// The cache of the file in this process.
    #[serde(skip)]
    pub known: KnownFile,
}

impl TableFiles {
    /// Divides the table into parts of whole row groups, in the order of the rows: each of one file
    /// and of at most `most` rows, unless one row group has more. It depends on the files alone.
    ///
    /// # Errors
    /// If the files are of another format than Parquet, or cannot be read.
    pub fn split_parts(&self, most: u64) -> Result<Vec<Part>, TableError> {
        let (mut parts, mut first) = (Vec::<Part>::new(), 0);
        for shard in &self.shards {
            if shard.format != Format::Parquet {
                let reason =
                    "expected parquet files, whose row groups can be divided, found another format";
                let hint = "write the table as parquet first";
                return Err(file_error(&shard.path, reason, hint));
            }
            for (group, rows) in parquet::group_rows(&shard.path, &shard.known)?
                .into_iter()
                .enumerate()
            {
                match parts.last_mut() {
                    Some(last) if last.path == shard.path && last.rows + rows <= most => {
                        last.groups.end = group + 1;
                        last.rows += rows;
                    }
                    _ => parts.push(Part {
                        path: shard.path.clone(),
                        groups: group..group + 1,
                        rows,
                        first,
                        known: shard.known.clone(),
                    }),
                }
                first += rows;
            }
        }
        parts.retain(|part| part.rows > 0);
        Ok(parts)
    }

    /// The rows of one part.
    ///
    /// # Errors
    /// If the file is missing or damaged, or its row groups have changed.
    pub fn of_part(part: &Part) -> Result<TableFiles, TableError> {
        let mut shards = resolve_input(&part.path)?;
        let groups = parquet::group_rows(&part.path, &part.known)?;
        let found = groups
            .get(part.groups.clone())
            .map(|own| own.iter().sum::<u64>());
        if found != Some(part.rows) {
            let (rows, groups) = (part.rows, &part.groups);
            return Err(TableError::Format {
                path: part.path.clone(),
                reason: format!(
                    "expected {rows} rows in the row groups {}..{}, found {}; the file was replaced \
                     while it was in use",
                    groups.start,
                    groups.end,
                    found.map_or_else(|| "fewer row groups".into(), |rows| rows.to_string())
                ),
            });
        }
        for shard in &mut shards {
            shard.groups = Some(part.groups.clone());
            shard.known = part.known.clone();
        }
        Ok(TableFiles::of_shards(shards))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use ::parquet::arrow::ArrowWriter;
    use ::parquet::file::properties::WriterProperties;

    use super::*;
    use crate::file::arrow;
    use crate::{ReadOptions, Table};

    /// Writes 0, 1, 2, … in row groups of 10.
    fn write(path: &Path, rows: u32, from: u32) {
        let values = (from..from + rows).map(f64::from).collect();
        let table = Table::new().with_number("x", values).unwrap();
        let schema = arrow::arrow_schema(&table);
        let groups = WriterProperties::builder().set_max_row_group_row_count(Some(10));
        let file = File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(groups.build())).unwrap();
        writer
            .write(&arrow::record_batch(&table, &schema, 0..rows as usize).unwrap())
            .unwrap();
        writer.close().unwrap();
    }

    fn read(part: &Part) -> Vec<f64> {
        let files = TableFiles::of_part(part).unwrap();
        let table = files
            .read_table(&ReadOptions::default(), &mut |_| ())
            .unwrap();
        table.number("x").unwrap().to_vec()
    }

    #[test]
    fn parts_are_the_rows_of_the_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a.parquet"), 45, 0);
        write(&folder.path().join("b.parquet"), 12, 45);
        let files = TableFiles::open_inputs(&[folder.path()]).unwrap();
        for (most, expected) in [
            (1, vec![10, 10, 10, 10, 5, 10, 2]),
            (25, vec![20, 25, 12]),
            (1000, vec![45, 12]),
        ] {
            let parts = files.split_parts(most).unwrap();
            let rows: Vec<u64> = parts.iter().map(|part| part.rows).collect();
            assert_eq!(rows, expected);
            let all: Vec<f64> = parts.iter().flat_map(read).collect();
            assert!(all.iter().copied().eq((0..57).map(f64::from)));
            let before = parts.iter().map(|part| part.first as f64);
            assert!(before.eq(parts.iter().map(|part| read(part)[0])));
        }
    }

    #[test]
    fn a_part_of_a_file_that_was_replaced_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        write(&path, 30, 0);
        let part = &TableFiles::open_inputs(&[&path])
            .unwrap()
            .split_parts(10)
            .unwrap()[2];
        for (rows, words) in [(25, "found 5"), (14, "found fewer row groups")] {
            write(&path, rows, 0);
            let error = TableFiles::of_part(part).unwrap_err().to_string();
            assert!(
                error.contains("a.parquet") && error.contains(words),
                "{error}"
            );
        }
    }
}
