//! Rows that stay on disk: shuffled in a file and copied on request.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use lehr_table::{ShuffledRows, TableError};

use crate::{Columns, RowSet, RowSource, RowsError};

/// Rows that are read at a time: as many as passes over all rows request.
const BLOCK: usize = 8192;

/// The rows of a file of shuffled rows as the source of a density. Memory does not grow with their
/// number.
#[derive(Debug)]
pub struct StoredRows {
    file: ShuffledRows,
    /// The position of each column's numbers within a row.
    places: Vec<Range<usize>>,
    scratch: Mutex<Scratch>,
}

/// The rows that were read last, because the columns of a mini-batch are requested one by one.
#[derive(Debug, Default)]
struct Scratch {
    rows: Vec<usize>,
    numbers: Vec<f64>,
    /// The reason why the file can no longer be read, since when all rows are NaN.
    lost: Option<RowsError>,
}

impl StoredRows {
    /// The columns of a density, in a file that has them under the same names.
    pub fn new(file: ShuffledRows, columns: &Columns) -> Result<StoredRows, TableError> {
        let places = columns.iter().map(|column| file.column_place(&column.name));
        Ok(StoredRows {
            places: places.collect::<Result<_, _>>()?,
            file,
            scratch: Mutex::default(),
        })
    }

    /// Passes on the numbers of the rows, in order: the place of the row and its numbers.
    fn visit(&self, column: usize, rows: &RowSet<'_>, each: &mut dyn FnMut(usize, &[f64])) {
        let place = self.places[column].clone();
        let width = self.file.width();
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let count = rows.len();
        for start in (0..count).step_by(BLOCK) {
            scratch.load_rows(&self.file, rows, start..count.min(start + BLOCK));
            for (at, row) in scratch.numbers.chunks_exact(width).enumerate() {
                each(start + at, &row[place.clone()]);
            }
        }
    }
}

impl Scratch {
    /// Reads the rows at some places of a set, in runs of consecutive ones.
    fn load_rows(&mut self, file: &ShuffledRows, rows: &RowSet<'_>, places: Range<usize>) {
        let row = |place: usize| match rows {
            RowSet::List(list) => list[place],
            RowSet::Range(range) => range.start + place,
        };
        let wanted = places.clone().map(row);
        if self.rows.iter().copied().eq(wanted.clone()) {
            return;
        }
        self.rows.clear();
        self.rows.extend(wanted);
        let width = file.width();
        self.numbers.resize(self.rows.len() * width, 0.0);
        let mut rest = &mut self.numbers[..];
        for run in self.rows.chunk_by(|before, after| before + 1 == *after) {
            let (part, after) = rest.split_at_mut(run.len() * width);
            rest = after;
            if let Err(error) = file.copy_rows(run[0]..run[0] + run.len(), part) {
                self.lost = Some(RowsError::Lost(error.to_string()));
            }
        }
        if self.lost.is_some() {
            self.numbers.fill(f64::NAN);
        }
    }
}

impl RowSource for StoredRows {
    fn n_rows(&self) -> usize {
        self.file.n_rows()
    }

    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]) {
        let width = self.places[column].len();
        assert_eq!(into.len(), rows.len() * width, "one place per number");
        self.visit(column, rows, &mut |at, numbers| {
            into[at * width..(at + 1) * width].copy_from_slice(numbers);
        });
    }

    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]) {
        assert_eq!(into.len(), rows.len(), "one place per index");
        self.visit(column, rows, &mut |at, numbers| {
            into[at] = numbers[0] as u32;
        });
    }

    fn failure(&self) -> Option<RowsError> {
        let scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        scratch.lost.clone()
    }

    fn shuffled_source(&self) -> Option<&dyn RowSource> {
        Some(self)
    }

    fn whole_column(&self, _column: usize) -> Option<Arc<[f64]>> {
        None
    }

    fn whole_indices(&self, _column: usize) -> Option<Arc<[u32]>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, ColumnKind, Role};
    use lehr_table::{Kind, Provenance, Shuffler, Table};

    fn columns() -> Columns {
        let column = |name: &str, kind| Column {
            name: name.into(),
            kind,
            role: Role::Covariate,
        };
        Columns(vec![
            column("g", ColumnKind::Index { levels: 7 }),
            column("x", ColumnKind::Number { width: Some(2) }),
        ])
    }

    /// Rows (k, −k, k mod 7), shuffled.
    fn stored(rows: usize) -> (tempfile::TempDir, StoredRows) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("rows");
        let kinds = vec![
            ("x".to_owned(), Kind::Matrix { width: 2 }),
            ("g".to_owned(), Kind::Number),
        ];
        let mut shuffler = Shuffler::create(&path, kinds, 3, 1 << 16).unwrap();
        let x = (0..rows).flat_map(|k| [k as f64, -(k as f64)]).collect();
        let table = Table::new().with_matrix("x", rows, 2, x).unwrap();
        let g = (0..rows).map(|k| (k % 7) as f64).collect();
        shuffler
            .push_table(table.with_number("g", g).unwrap())
            .unwrap();
        let file = shuffler
            .into_rows(Provenance::default(), &mut |_| ())
            .unwrap();
        (place, StoredRows::new(file, &columns()).unwrap())
    }

    #[test]
    fn columns_of_the_same_rows_belong_together_by_range_and_by_list() {
        let (_place, rows) = stored(10_000);
        assert!(rows.shuffled_source().is_some() && rows.whole_column(1).is_none());
        let list: Vec<usize> = (0..6000).map(|k| (k * 37) % 10_000).collect();
        for set in [RowSet::Range(0..10_000), RowSet::List(&list)] {
            let mut x = vec![0.0; 2 * set.len()];
            let mut g = vec![0; set.len()];
            rows.copy_numbers(1, &set, &mut x);
            rows.copy_indices(0, &set, &mut g);
            for (pair, g) in x.chunks(2).zip(&g) {
                assert_eq!((pair[1], *g), (-pair[0], pair[0] as u32 % 7));
            }
            assert!(!x.iter().step_by(2).is_sorted());
        }
    }

    #[test]
    fn a_file_that_is_cut_off_is_an_error_and_its_rows_are_no_numbers() {
        let (place, rows) = stored(10_000);
        let path = place.path().join("rows");
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_len(100).unwrap();
        let mut x = vec![0.0; 20];
        rows.copy_numbers(1, &RowSet::Range(0..10), &mut x);
        assert!(x.iter().all(|x| x.is_nan()));
        let lost = rows.failure().expect("the file has no more rows");
        assert!(lost.to_string().contains("rows"), "{lost}");
    }
}
