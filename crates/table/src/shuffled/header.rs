//! What a file of shuffled rows says about itself.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Kind, TableError};

pub(super) const MAGIC: &[u8; 8] = b"LEHRROWS";
pub(super) const VERSION: u32 = 1;
pub(super) const PREAMBLE_BYTES: usize = 64;
/// Where the checksum of the rows stands, which is known last.
pub(super) const ROW_SUM_AT: u64 = 24;

/// One column of a file of shuffled rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The sorted levels of a category; empty for other kinds.
    pub levels: Arc<[String]>,
}

/// What a file of shuffled rows says about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) columns: Vec<Stored>,
    pub(super) n_rows: usize,
    pub(super) seed: u64,
    pub(super) dropped_rows: usize,
    /// What the rows were made of; 0 where nobody asked.
    #[serde(default)]
    pub(super) fingerprint: u64,
}

impl Header {
    /// Numbers per row.
    pub(super) fn width(&self) -> usize {
        self.columns.iter().map(|column| column.kind.width()).sum()
    }

    /// Preamble and header as bytes, the checksum of the rows still 0.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec(self).expect("names and numbers are valid JSON");
        text.resize(text.len().next_multiple_of(64), b' ');
        let mut bytes = Vec::with_capacity(PREAMBLE_BYTES + text.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&text).to_le_bytes());
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.resize(PREAMBLE_BYTES, 0);
        bytes.extend_from_slice(&text);
        bytes
    }

    /// The header of a whole file, where its rows start and their checksum. Refuses any file
    /// that is not exactly what its header says.
    pub(super) fn decode(path: &Path, file: &[u8]) -> Result<(Self, usize, u32), TableError> {
        let damaged = |reason: String| TableError::Damaged {
            path: path.into(),
            reason,
        };
        let preamble = file
            .get(..PREAMBLE_BYTES)
            .ok_or_else(|| damaged("it is cut short".into()))?;
        let (magic, rest) = preamble.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(TableError::NoTable {
                path: path.into(),
                reason: "expected shuffled rows, found another kind of file",
                hint: "convert a table first",
            });
        }
        let found = number(&rest[..4]) as u32;
        if found > VERSION {
            let path = path.into();
            return Err(TableError::Newer {
                path,
                found,
                known: VERSION,
            });
        }
        let start = usize::try_from(number(&rest[8..16])).ok();
        let start = start.and_then(|length| length.checked_add(PREAMBLE_BYTES));
        let text = start.and_then(|start| file.get(PREAMBLE_BYTES..start));
        let text = text.ok_or_else(|| damaged("its header is cut short".into()))?;
        if u64::from(crc32fast::hash(text)) != number(&rest[4..8]) {
            return Err(damaged("its header does not match its checksum".into()));
        }
        let header: Self =
            serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        let start = PREAMBLE_BYTES + text.len();
        header.check(file.len() - start, start).map_err(damaged)?;
        Ok((header, start, number(&rest[16..20]) as u32))
    }

    /// The laws that a header has to keep beyond being readable.
    fn check(&self, row_bytes: usize, start: usize) -> Result<(), String> {
        let names: HashSet<&String> = self.columns.iter().map(|column| &column.name).collect();
        let wide = self.columns.iter().all(|column| column.kind.width() > 0);
        if names.is_empty()
            || names.len() < self.columns.len()
            || !wide
            || !start.is_multiple_of(64)
        {
            return Err("its header contradicts itself".into());
        }
        let mut widths = self.columns.iter().map(|column| column.kind.width());
        let expected = widths
            .try_fold(0_usize, usize::checked_add)
            .and_then(|width| width.checked_mul(self.n_rows)?.checked_mul(8))
            .ok_or("its header contradicts itself")?;
        if expected == row_bytes {
            return Ok(());
        }
        Err(format!(
            "expected {expected} bytes of rows, found {row_bytes}"
        ))
    }
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    (bytes.iter().rev()).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
