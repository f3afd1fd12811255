//! Shuffled rows, mapped into memory.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use crate::file::io;
use crate::{Column, Kind, MISSING, Moment, Scale, Standardizer, Table, TableError, nearest};

use super::header::{Header, Stored};
use super::mapping::{map, release};

/// A table on disk whose rows are in random order. A block of consecutive rows is a random
/// sample, read sequentially; memory does not grow with the number of rows.
#[derive(Debug)]
pub struct Shuffled {
    path: PathBuf,
    file: File,
    map: Mmap,
    header: Header,
    start: usize,
    width: usize,
    row_sum: u32,
}

impl Shuffled {
    /// Opens a file that [`convert`](Self::convert) has written. A file that is damaged, cut
    /// short or of a newer version is refused; the rows themselves are only read on use, and
    /// checked by [`verify`](Self::verify).
    pub fn open(path: &Path) -> Result<Self, TableError> {
        if cfg!(target_endian = "big") {
            return Err(TableError::Format {
                path: path.into(),
                reason: "shuffled rows are little-endian, this machine is not".into(),
            });
        }
        let file = File::open(path).map_err(io(path, "open"))?;
        let map = map(&file).map_err(io(path, "map"))?;
        let (header, start, row_sum) = Header::decode(path, &map)?;
        Ok(Self {
            path: path.into(),
            width: header.width(),
            file,
            map,
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

    /// The columns in the order in which a row holds them.
    pub fn columns(&self) -> &[Stored] {
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

    /// Where in a row the numbers of a column stand.
    pub fn place(&self, name: &str) -> Result<Range<usize>, TableError> {
        self.find(name).map(|(place, _)| place)
    }

    /// The numbers of consecutive rows, row after row: categories as codes, truth values as 0
    /// and 1, missing values as NaN. Panics if the range goes beyond the last row.
    pub fn rows(&self, rows: Range<usize>) -> &[f64] {
        let numbers: &[f64] = bytemuck::cast_slice(&self.map[self.start..]);
        &numbers[rows.start * self.width..rows.end * self.width]
    }

    /// What the rows were made of, as whoever made the file said.
    pub fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }

    /// Copies the numbers of consecutive rows as [`rows`](Self::rows) has them, without keeping
    /// them in this process's memory. Panics if the range goes beyond the last row or `into`
    /// has another length; a file that cannot be read any more is an error.
    pub fn copy_rows(&self, rows: Range<usize>, into: &mut [f64]) -> Result<(), TableError> {
        assert!(rows.end <= self.n_rows(), "rows exist");
        assert_eq!(into.len(), rows.len() * self.width, "one place per number");
        let at = (self.start + 8 * self.width * rows.start) as u64;
        self.read_at(bytemuck::cast_slice_mut(into), at)
            .map_err(io(&self.path, "read"))
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, at)
    }

    #[cfg(not(unix))]
    fn read_at(&self, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
        bytes.copy_from_slice(&self.map[at as usize..][..bytes.len()]);
        Ok(())
    }

    /// Gives back the memory that consecutive rows occupy once they were used; they are read
    /// again when they are next needed. Without this the operating system decides when, and the
    /// process seems to grow by what it has read. Panics if the range goes beyond the last row.
    pub fn release(&self, rows: Range<usize>) {
        assert!(
            rows.start <= rows.end && rows.end <= self.n_rows(),
            "rows exist"
        );
        let byte = |row: usize| self.start + 8 * self.width * row;
        release(&self.map, byte(rows.start)..byte(rows.end));
    }

    /// Consecutive rows as a table. Panics if the range goes beyond the last row; a number that
    /// is no code of its category is an error.
    pub fn table(&self, rows: Range<usize>) -> Result<Table, TableError> {
        let numbers = self.rows(rows);
        let mut table = Table::new();
        let mut place = 0;
        for column in self.columns() {
            let width = column.kind.width();
            let part: Vec<f64> = (numbers.chunks_exact(self.width))
                .flat_map(|row| &row[place..place + width])
                .copied()
                .collect();
            let typed = self.typed(column, part)?;
            table.insert(column.name.clone(), typed)?;
            place += width;
        }
        Ok(table)
    }

    /// Means and scales of the named number and matrix columns, in one pass over the rows.
    /// Missing values are passed over, infinite ones refused.
    pub fn standardizer(&self, names: &[&str]) -> Result<Standardizer, TableError> {
        let mut wanted = Vec::new();
        for name in names {
            let (places, column) = self.find(name)?;
            if !matches!(column.kind, Kind::Number | Kind::Matrix { .. }) {
                return Err(TableError::WrongKind {
                    name: (*name).into(),
                    expected: "numbers",
                    found: column.kind,
                });
            }
            wanted.extend(
                places
                    .enumerate()
                    .map(|(within, place)| (*name, within, place)),
            );
        }
        let places: Vec<usize> = wanted.iter().map(|(_, _, place)| *place).collect();
        let scales = (wanted.iter().zip(self.moments(&places)))
            .map(|((name, within, _), (moment, infinite))| match infinite {
                0 => Scale::new(name, *within, &moment),
                count => Err(TableError::Infinite {
                    name: (*name).into(),
                    count,
                }),
            })
            .collect::<Result<_, _>>()?;
        Ok(Standardizer::from_scales(scales))
    }

    /// Reads all rows and compares them with their checksum.
    pub fn verify(&self) -> Result<(), TableError> {
        let mut sum = crc32fast::Hasher::new();
        for rows in self.blocks() {
            sum.update(bytemuck::cast_slice(self.rows(rows.clone())));
            self.release(rows);
        }
        if sum.finalize() == self.row_sum {
            return Ok(());
        }
        Err(self.damaged("its rows do not match their checksum".into()))
    }

    /// All rows in ranges of about a megabyte.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = ((1 << 17) / self.width).max(1);
        let n_rows = self.n_rows();
        (0..n_rows)
            .step_by(rows)
            .map(move |start| start..n_rows.min(start + rows))
    }

    /// For each place in a row its moment over all rows, and its infinite values.
    fn moments(&self, places: &[usize]) -> Vec<(Moment, usize)> {
        let mut moments = vec![(Moment::default(), 0); places.len()];
        for rows in self.blocks() {
            for row in self.rows(rows.clone()).chunks_exact(self.width) {
                for ((moment, infinite), place) in moments.iter_mut().zip(places) {
                    *infinite += usize::from(row[*place].is_infinite());
                    if !row[*place].is_nan() {
                        moment.push(row[*place]);
                    }
                }
            }
            self.release(rows);
        }
        moments
    }

    fn typed(&self, column: &Stored, part: Vec<f64>) -> Result<Column, TableError> {
        Ok(match column.kind {
            Kind::Number => Column::Number(part),
            Kind::Matrix { width } => Column::Matrix {
                width,
                values: part,
            },
            Kind::Boolean => {
                let truth = |value: &f64| (!value.is_nan()).then_some(*value != 0.0);
                Column::Boolean(part.iter().map(truth).collect())
            }
            Kind::Category => {
                let codes = part.iter().map(|value| self.code(column, *value));
                Column::Category {
                    codes: codes.collect::<Result<_, _>>()?,
                    levels: Arc::clone(&column.levels),
                }
            }
        })
    }

    fn code(&self, column: &Stored, value: f64) -> Result<u32, TableError> {
        if value.is_nan() {
            return Ok(MISSING);
        }
        if value >= 0.0 && value < column.levels.len() as f64 && value.fract() == 0.0 {
            return Ok(value as u32);
        }
        Err(self.damaged(format!("{value} is no code of column {:?}", column.name)))
    }

    fn find(&self, name: &str) -> Result<(Range<usize>, &Stored), TableError> {
        let mut start = 0;
        for column in self.columns() {
            let end = start + column.kind.width();
            if column.name == name {
                return Ok((start..end, column));
            }
            start = end;
        }
        let names = self.columns().iter().map(|column| column.name.as_str());
        Err(TableError::UnknownColumn {
            name: name.into(),
            nearest: nearest(name, names).map(Into::into),
        })
    }

    fn damaged(&self, reason: String) -> TableError {
        TableError::Damaged {
            path: self.path.clone(),
            reason,
        }
    }
}
