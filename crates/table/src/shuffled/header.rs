//! The header of a file of shuffled rows.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::file::{file_error, io_error};
use crate::{Kind, TableError};

pub(super) const MAGIC: &[u8; 8] = b"LEHRROWS";
pub(super) const VERSION: u32 = 1;
pub(super) const PREAMBLE_BYTES: usize = 64;
/// The position of the rows' checksum, which is known last.
pub(super) const ROW_SUM_AT: u64 = 24;

/// One column of a file of shuffled rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredColumn {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub kind: Kind,
    /// The sorted levels of a category; empty for other kinds.
    pub levels: Arc<[String]>,
}

/// The header of a file of shuffled rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) columns: Vec<StoredColumn>,
    pub(super) n_rows: usize,
    pub(super) seed: u64,
    pub(super) dropped_rows: usize,
    /// A fingerprint of the input of the rows; 0 if it was not given.
    #[serde(default)]
    pub(super) fingerprint: u64,
}

impl Header {
    /// Numbers per row.
    pub(super) fn width(&self) -> usize {
        self.columns.iter().map(|column| column.kind.width()).sum()
    }

    /// Preamble and header as bytes, the checksum of the rows still 0.
    pub(super) fn encode_header(&self) -> Vec<u8> {
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

    /// Reads the head of a file: its header, the start of its rows and their checksum. Refuses any
    /// file that does not agree exactly with its header.
    pub(super) fn read_header(
        path: &Path,
        mut file: &File,
    ) -> Result<(Self, usize, u32), TableError> {
        let damaged = |reason: String| damaged_error(path, &reason);
        let length = file.metadata().map_err(io_error(path, "read"))?.len() as usize;
        let mut preamble = [0; PREAMBLE_BYTES];
        if length < PREAMBLE_BYTES {
            return Err(damaged("it is cut short".into()));
        }
        file.read_exact(&mut preamble)
            .map_err(io_error(path, "read"))?;
        let rest = check_preamble(path, &preamble)?;
        let text_bytes = usize::try_from(read_number(&rest[8..16])).unwrap_or(usize::MAX);
        if text_bytes > length - PREAMBLE_BYTES {
            return Err(damaged("its header is cut short".into()));
        }
        let mut text = vec![0; text_bytes];
        file.read_exact(&mut text).map_err(io_error(path, "read"))?;
        if u64::from(crc32fast::hash(&text)) != read_number(&rest[4..8]) {
            return Err(damaged("its header does not match its checksum".into()));
        }
        let header: Self =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        let start = PREAMBLE_BYTES + text_bytes;
        header.check_size(length - start, start).map_err(damaged)?;
        Ok((header, start, read_number(&rest[16..20]) as u32))
    }

    /// The invariants of a header beyond being readable.
    fn check_size(&self, row_bytes: usize, start: usize) -> Result<(), String> {
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

/// The rest of a preamble after its magic word, if its version is known.
fn check_preamble<'a>(path: &Path, preamble: &'a [u8]) -> Result<&'a [u8], TableError> {
    let Some(rest) = preamble.strip_prefix(MAGIC) else {
        let reason = "expected shuffled rows, found another kind of file";
        return Err(file_error(path, reason, "convert a table first"));
    };
    match read_number(&rest[..4]) as u32 {
        found if found > VERSION => Err(file_error(
            path,
            format!("expected format version {VERSION} or older, found {found}"),
            "a newer lehr wrote it; update, or convert the table again",
        )),
        _ => Ok(rest),
    }
}

/// The error of a file that is truncated or altered.
pub(super) fn damaged_error(path: &Path, reason: &str) -> TableError {
    let reason = format!("the file is damaged: {reason}");
    file_error(path, reason, "convert the table again")
}

/// A little-endian number of up to eight bytes.
fn read_number(bytes: &[u8]) -> u64 {
    (bytes.iter().rev()).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
