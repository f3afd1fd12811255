//! Shuffled rows that are read from their file on request.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::file::io_error;
use crate::{TableError, nearest};

use super::header::{Header, StoredColumn, damaged_error};

/// A table on disk whose rows are in random order. A block of consecutive rows is a random
/// sample, read sequentially; memory does not grow with the number of rows.
#[derive(Debug)]
pub struct ShuffledRows {
    path: PathBuf,
    file: File,
    header: Header,
    start: usize,
    width: usize,
    row_sum: u32,
}

impl ShuffledRows {
    /// Opens a file that a [`Shuffler`](super::Shuffler) has written. A file that is damaged,
    /// truncated or of a newer version is refused. The rows themselves are read only on use, and
    /// checked by [`verify_checksums`](Self::verify_checksums).
    pub fn open(path: &Path) -> Result<Self, TableError> {
        if cfg!(target_endian = "big") {
            return Err(TableError::Format {
                path: path.into(),
                reason: "shuffled rows are little-endian, this machine is not".into(),
            });
        }
        let file = File::open(path).map_err(io_error(path, "open"))?;
        let (header, start, row_sum) = Header::read_header(path, &file)?;
        Ok(Self {
            path: path.into(),
            width: header.width(),
            file,
            header,
            start,
            row_sum,
        })
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.header.n_rows
    }

    /// Numbers per row: one for each column, more for a matrix.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The columns, in their order within a row.
    pub fn columns(&self) -> &[StoredColumn] {
        &self.header.columns
    }

    /// The seed of the order.
    pub fn seed(&self) -> u64 {
        self.header.seed
    }

    /// Rows that the conversion left out because a value was missing.
    pub fn dropped_rows(&self) -> usize {
        self.header.dropped_rows
    }

    /// The position of a column's numbers within a row.
    pub fn column_place(&self, name: &str) -> Result<Range<usize>, TableError> {
        let mut start = 0;
        for column in self.columns() {
            let end = start + column.kind.width();
            if column.name == name {
                return Ok(start..end);
            }
            start = end;
        }
        let names = self.columns().iter().map(|column| column.name.as_str());
        Err(TableError::UnknownColumn {
            name: name.into(),
            nearest: nearest(name, names).map(Into::into),
        })
    }

    /// The fingerprint of the rows' input, as the creator of the file gave it.
    pub fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }

    /// Copies the numbers of consecutive rows, row after row: categories as codes, Boolean values
    /// as 0 and 1, missing values as NaN. A file that can no longer be read is an error.
    ///
    /// # Panics
    /// If the range goes beyond the last row or `into` has another length.
    pub fn copy_rows(&self, rows: Range<usize>, into: &mut [f64]) -> Result<(), TableError> {
        assert!(rows.end <= self.n_rows(), "rows exist");
        assert_eq!(into.len(), rows.len() * self.width, "one place per number");
        let at = (self.start + 8 * self.width * rows.start) as u64;
        self.read_at(bytemuck::cast_slice_mut(into), at)
            .map_err(io_error(&self.path, "read"))
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, at)
    }

    #[cfg(windows)]
    fn read_at(&self, mut bytes: &mut [u8], mut at: u64) -> std::io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.file, bytes, at)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                count => (bytes, at) = (&mut bytes[count..], at + count as u64),
            }
        }
        Ok(())
    }

    /// Reads all rows and compares them with their checksum.
    pub fn verify_checksums(&self) -> Result<(), TableError> {
        let mut sum = crc32fast::Hasher::new();
        let mut numbers = Vec::new();
        for rows in self.blocks() {
            numbers.resize(rows.len() * self.width, 0.0);
            self.copy_rows(rows, &mut numbers)?;
            sum.update(bytemuck::cast_slice(&numbers));
        }
        if sum.finalize() == self.row_sum {
            return Ok(());
        }
        let reason = "its rows do not match their checksum";
        Err(damaged_error(&self.path, reason))
    }

    /// All rows in ranges of about a megabyte.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = ((1 << 17) / self.width).max(1);
        let n_rows = self.n_rows();
        (0..n_rows)
            .step_by(rows)
            .map(move |start| start..n_rows.min(start + rows))
    }
}
