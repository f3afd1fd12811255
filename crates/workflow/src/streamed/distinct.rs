//! The distinct rows of a table with few of them, and the number of times that each occurs.

use lehr_rows::RowCounts;
use lehr_table::{Column, Field, Kind, Labels, Stack, Table};

/// The average number of equal rows from which keeping only the distinct rows saves time.
const PAYS: u64 = 4;

/// The distinct rows of a table in the order of their first occurrence.
pub(super) struct DistinctCounter {
    stack: Stack,
    /// The labels of each column so far; `None` for numeric columns.
    labels: Vec<Option<Labels>>,
    rows: RowCounts,
    /// The largest number of distinct rows.
    most: usize,
}

/// Distinct rows, and the number of times that each occurs.
pub(super) struct CountedTable {
    pub(super) table: Table,
    pub(super) counts: Vec<u64>,
}

/// There are more distinct rows than may be kept.
#[derive(Debug, PartialEq)]
pub(super) struct TooManyRows;

impl DistinctCounter {
    /// An empty table with these columns for at most `most` distinct rows.
    pub(super) fn new(fields: &[Field], most: usize) -> DistinctCounter {
        let labels = |field: &Field| {
            let is_text = matches!(field.kind, Some(Kind::Category));
            is_text.then(Labels::default)
        };
        DistinctCounter {
            stack: Stack::new(fields),
            labels: fields.iter().map(labels).collect(),
            rows: RowCounts::default(),
            most,
        }
    }

    /// Adds rows, each of which occurs once, or as often as `counts` says.
    pub(super) fn add(&mut self, batch: &Table, counts: Option<&[u64]>) -> Result<(), TooManyRows> {
        let width: usize = batch.columns().map(|(_, one)| one.kind().width()).sum();
        let values = self.values(batch, width);
        let mut fresh = Vec::new();
        for row in 0..batch.n_rows() {
            let own = &values[row * width..][..width];
            let times = counts.map_or(1, |counts| counts[row]);
            if self.rows.add_row(own, times) {
                fresh.push(row);
            }
            if self.rows.counts().len() > self.most {
                return Err(TooManyRows);
            }
        }
        self.stack.push_batch(&batch.select_rows(&fresh));
        Ok(())
    }

    /// The values of all rows, row after row, as numbers that are equal if and only if the values
    /// are.
    fn values(&mut self, batch: &Table, width: usize) -> Vec<u64> {
        let mut values = vec![0; width * batch.n_rows()];
        let mut first = 0;
        for ((_, column), labels) in batch.columns().zip(&mut self.labels) {
            let own = column.kind().width();
            let mut put = |row: usize, value: u64| values[row * width + first] = value;
            match column {
                Column::Number(numbers) => {
                    (numbers.iter().enumerate()).for_each(|(row, one)| put(row, one.to_bits()));
                }
                Column::Boolean(marks) => {
                    (marks.iter().enumerate())
                        .for_each(|(row, one)| put(row, one.map_or(2, u64::from)));
                }
                Column::Category { codes, levels } => {
                    let labels = labels.get_or_insert_default();
                    let codes = labels.merged_codes(codes, levels).into_iter().enumerate();
                    codes.for_each(|(row, code)| put(row, u64::from(code)));
                }
                Column::Matrix { values: all, .. } => {
                    let rows = values.chunks_exact_mut(width).zip(all.chunks_exact(own));
                    for (to, from) in rows {
                        let places = to[first..first + own].iter_mut().zip(from);
                        places.for_each(|(to, one)| *to = one.to_bits());
                    }
                }
            }
            first += own;
        }
        values
    }

    /// The distinct rows.
    pub(super) fn finish(self) -> Result<CountedTable, lehr_table::TableError> {
        Ok(CountedTable {
            table: self.stack.into_table()?,
            counts: self.rows.counts().to_vec(),
        })
    }
}

impl CountedTable {
    /// Whether there are so few distinct rows that keeping them saves time.
    pub(super) fn pays(&self) -> bool {
        let all: u64 = self.counts.iter().sum();
        self.counts.len() as u64 * PAYS <= all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(f64, &str)]) -> Table {
        let mut names: Vec<String> = rows.iter().map(|(_, name)| (*name).to_owned()).collect();
        names.sort();
        names.dedup();
        let codes = rows.iter().map(|(_, name)| {
            let place = names.iter().position(|known| known == name);
            place.unwrap_or_default() as u32
        });
        let codes = codes.collect();
        let x = rows.iter().map(|(x, _)| *x).collect();
        let table = Table::new().with_number("x", x).unwrap();
        table.with_category("kind", codes, names).unwrap()
    }

    fn fields() -> [Field; 2] {
        let field = |name: &str, kind| Field {
            name: name.into(),
            kind: Some(kind),
            type_name: String::new(),
        };
        [field("x", Kind::Number), field("kind", Kind::Category)]
    }

    #[test]
    fn equal_rows_are_counted_whatever_the_codes_of_their_batch() {
        let mut all = DistinctCounter::new(&fields(), 3);
        all.add(&table(&[(1.0, "b"), (1.0, "b"), (2.0, "b")]), None)
            .unwrap();
        // Here "b" has another code, and "a" has the code that "b" had.
        all.add(&table(&[(1.0, "a"), (1.0, "b")]), Some(&[5, 7]))
            .unwrap();
        let found = all.finish().unwrap();
        assert_eq!(found.counts, [9, 1, 5]);
        assert_eq!(found.table.number("x").unwrap(), [1.0, 2.0, 1.0]);
        let (codes, names) = found.table.category("kind").unwrap();
        let names: Vec<&str> = codes.iter().map(|code| &*names[*code as usize]).collect();
        assert_eq!(names, ["b", "b", "a"]);
    }

    #[test]
    fn more_rows_than_are_kept_are_refused() {
        let x = |n: usize| Table::new().with_number("x", (0..n).map(|k| k as f64).collect());
        let add = |n: usize| DistinctCounter::new(&fields()[..1], 100).add(&x(n).unwrap(), None);
        assert_eq!(add(100), Ok(()));
        assert_eq!(add(101), Err(TooManyRows));
    }
}
