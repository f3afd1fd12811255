//! Tables that are divided: the row groups of Parquet files, some to a part.

use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::TableError;

use super::TableFiles;
use super::parquet;
use super::shard::{Format, resolve};

/// Consecutive row groups of one Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// Its row groups, by their places in the file.
    pub groups: Range<usize>,
    /// Rows in them.
    pub rows: u64,
    /// Rows of the whole table that come before.
    pub first: u64,
}

impl TableFiles {
    /// Divides the table into parts of whole row groups, in the order of the rows: each of one file
    /// and of at most `most` rows, unless one row group has more. It depends on the files alone.
    ///
    /// # Errors
    /// If the files are of another format than Parquet, or cannot be read.
    pub fn parts(&self, most: u64) -> Result<Vec<Part>, TableError> {
        let (mut parts, mut first) = (Vec::<Part>::new(), 0);
        for shard in &self.shards {
            if shard.format != Format::Parquet {
                return Err(TableError::NoTable {
                    path: shard.path.clone(),
                    reason: "expected parquet files, whose row groups can be divided, found another format",
                    hint: "write the table as parquet first",
                });
            }
            for (group, rows) in parquet::group_rows(&shard.path)?.into_iter().enumerate() {
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
    /// If the file is not there, is damaged, or has other row groups than it had.
    pub fn of_part(part: &Part) -> Result<TableFiles, TableError> {
        let mut shards = resolve(&part.path)?;
        let groups = parquet::group_rows(&part.path)?;
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
        }
        Ok(TableFiles { shards })
    }
}
