//! Shuffled rows, mapped into memory.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;

use crate::file::io;
use crate::{Column, Kind, MISSING, Moment, Scale, Standardizer, Table, TableError, nearest};

use super::header::{Header, Stored};
use super::mapping::map;

/// A table on disk whose rows are in random order. A block of consecutive rows is a random
/// sample, read sequentially; memory does not grow with the number of rows.
#[derive(Debug)]
pub struct Shuffled {
    path: PathBuf,
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
        let mut scales = Vec::new();
        for name in names {
            let (places, column) = self.find(name)?;
            if !matches!(column.kind, Kind::Number | Kind::Matrix { .. }) {
                let name = (*name).into();
                let expected = "numbers";
                let found = column.kind;
                return Err(TableError::WrongKind {
                    name,
                    expected,
                    found,
                });
            }
            for (within, place) in places.enumerate() {
                scales.push(Scale::new(name, within, &self.moment(name, place)?)?);
            }
        }
        Ok(Standardizer::from_scales(scales))
    }

    /// Reads all rows and compares them with their checksum.
    pub fn verify(&self) -> Result<(), TableError> {
        if crc32fast::hash(&self.map[self.start..]) == self.row_sum {
            return Ok(());
        }
        Err(self.damaged("its rows do not match their checksum".into()))
    }

    fn moment(&self, name: &str, place: usize) -> Result<Moment, TableError> {
        let mut moment = Moment::default();
        let mut infinite = 0;
        let values = self
            .rows(0..self.n_rows())
            .iter()
            .skip(place)
            .step_by(self.width);
        for value in values.filter(|value| !value.is_nan()) {
            infinite += usize::from(value.is_infinite());
            moment.push(*value);
        }
        match infinite {
            0 => Ok(moment),
            count => Err(TableError::Infinite {
                name: name.into(),
                count,
            }),
        }
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
