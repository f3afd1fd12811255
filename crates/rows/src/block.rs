//! Rows that borrow the columns of a table in memory.

use std::ops::Range;
use std::sync::Arc;

use lehr_table::{Column, Table};

use crate::{ColumnKind, Columns, RowSet, RowSource};

/// Borrowed columns of a table, and additional columns.
pub struct TableRows<'t> {
    n_rows: usize,
    columns: Vec<Lent<'t>>,
}

/// A function that writes some rows of a column, one after another.
pub(crate) type Fill<'t> = dyn Fn(Range<usize>, &mut [f64]) + Sync + 't;

/// A column that is computed on request.
#[derive(Clone, Copy)]
pub struct ComputedColumn<'t> {
    /// The name of the column.
    pub name: &'t str,
    /// Numbers per row.
    pub width: usize,
    /// The function that computes some rows.
    pub fill: &'t Fill<'t>,
}

/// One column.
#[derive(Clone, Copy)]
enum Lent<'t> {
    Numbers { width: usize, values: Numbers<'t> },
    Codes(&'t [u32]),
}

#[derive(Clone, Copy)]
enum Numbers<'t> {
    There(&'t [f64]),
    Computed(&'t Fill<'t>),
}

impl<'t> TableRows<'t> {
    /// The columns of a density: numbers from a table that has them under the same names, except
    /// for computed ones, and codes by their names. `None` if a column is missing, of another kind
    /// or of another width. Values are not checked: the caller guarantees them.
    pub fn from_table(
        table: &'t Table,
        (computed, codes): (&[ComputedColumn<'t>], &'t [(String, Vec<u32>)]),
        columns: &Columns,
    ) -> Option<TableRows<'t>> {
        let found = columns.iter().map(|column| {
            let ColumnKind::Number { width } = column.kind else {
                let (_, codes) = codes.iter().find(|(name, _)| *name == column.name)?;
                return (codes.len() == table.n_rows()).then_some(Lent::Codes(codes));
            };
            let made = computed.iter().find(|made| made.name == column.name);
            let (found, values) = match made {
                Some(made) => (made.width, Numbers::Computed(made.fill)),
                None => find_column(table, &column.name)?,
            };
            let lent = Lent::Numbers {
                width: found,
                values,
            };
            (found == width.unwrap_or(1)).then_some(lent)
        });
        Some(TableRows {
            n_rows: table.n_rows(),
            columns: found.collect::<Option<_>>()?,
        })
    }
}

fn find_column<'t>(table: &'t Table, name: &str) -> Option<(usize, Numbers<'t>)> {
    match table.column(name).ok()? {
        Column::Number(values) => Some((1, Numbers::There(values))),
        Column::Matrix { width, values } => Some((*width, Numbers::There(values))),
        Column::Category { .. } | Column::Boolean(_) => None,
    }
}

impl RowSource for TableRows<'_> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn copy_numbers(&self, column: usize, rows: &RowSet<'_>, into: &mut [f64]) {
        let Lent::Numbers { width, values } = self.columns[column] else {
            panic!("column {column} holds indices, not numbers");
        };
        match (rows, values) {
            (RowSet::Range(range), Numbers::There(values)) => {
                into.copy_from_slice(&values[range.start * width..range.end * width]);
            }
            (RowSet::Range(range), Numbers::Computed(fill)) => fill(range.clone(), into),
            (RowSet::List(list), values) => {
                for (row, to) in list.iter().zip(into.chunks_exact_mut(width)) {
                    match values {
                        Numbers::There(values) => {
                            to.copy_from_slice(&values[row * width..][..width]);
                        }
                        Numbers::Computed(fill) => fill(*row..row + 1, to),
                    }
                }
            }
        }
    }

    fn copy_indices(&self, column: usize, rows: &RowSet<'_>, into: &mut [u32]) {
        let Lent::Codes(codes) = self.columns[column] else {
            panic!("column {column} holds numbers, not indices");
        };
        match rows {
            RowSet::Range(range) => into.copy_from_slice(&codes[range.clone()]),
            RowSet::List(list) => {
                let places = into.iter_mut().zip(*list);
                places.for_each(|(to, row)| *to = codes[*row]);
            }
        }
    }

    fn whole_column(&self, _: usize) -> Option<Arc<[f64]>> {
        None
    }

    fn whole_indices(&self, _: usize) -> Option<Arc<[u32]>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::Role;

    use super::*;

    #[test]
    fn rows_are_those_of_the_table_and_other_kinds_are_left_to_others() {
        let column = |name: &str, width| crate::Column {
            name: name.into(),
            kind: ColumnKind::Number { width },
            role: Role::Covariate,
        };
        let table = Table::new().with_number("y", vec![1.0, 2.0, 3.0]).unwrap();
        let table = table.with_matrix("x", 3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let table = table.unwrap();
        let columns = Columns(vec![column("x", Some(2)), column("y", None)]);
        let rows = TableRows::from_table(&table, (&[], &[]), &columns).unwrap();
        let mut found = [0.0; 4];
        rows.copy_numbers(0, &RowSet::Range(1..3), &mut found);
        assert_eq!(found, [3.0, 4.0, 5.0, 6.0]);
        rows.copy_numbers(0, &RowSet::List(&[2, 0]), &mut found);
        assert_eq!(found, [5.0, 6.0, 1.0, 2.0]);
        for other in [column("x", Some(3)), column("z", None)] {
            assert!(TableRows::from_table(&table, (&[], &[]), &Columns(vec![other])).is_none());
        }
    }

    #[test]
    fn computed_rows_are_those_of_a_table_that_has_them() {
        let column = |name: &str, width| crate::Column {
            name: name.into(),
            kind: ColumnKind::Number { width },
            role: Role::Covariate,
        };
        let table = Table::new().with_number("y", vec![1.0, 2.0, 3.0]).unwrap();
        let fill = |rows: Range<usize>, to: &mut [f64]| {
            for (row, to) in rows.zip(to.chunks_exact_mut(2)) {
                to.copy_from_slice(&[row as f64, -1.0]);
            }
        };
        let computed = ComputedColumn {
            name: "x",
            width: 2,
            fill: &fill,
        };
        let columns = Columns(vec![column("x", Some(2)), column("y", None)]);
        let rows = TableRows::from_table(&table, (&[computed], &[]), &columns).unwrap();
        let mut found = [0.0; 4];
        rows.copy_numbers(0, &RowSet::Range(1..3), &mut found);
        assert_eq!(found, [1.0, -1.0, 2.0, -1.0]);
        rows.copy_numbers(0, &RowSet::List(&[2, 0]), &mut found);
        assert_eq!(found, [2.0, -1.0, 0.0, -1.0]);
        let wider = Columns(vec![column("x", Some(3))]);
        assert!(TableRows::from_table(&table, (&[computed], &[]), &wider).is_none());
    }

    #[test]
    fn codes_beside_a_table_stay_what_they_are() {
        let index = crate::Column {
            name: "g".into(),
            kind: ColumnKind::Index { levels: 3 },
            role: Role::Index,
        };
        let table = Table::new().with_number("y", vec![1.0, 2.0, 3.0]).unwrap();
        let codes = [("g".to_owned(), vec![2, 0, 1])];
        let columns = Columns(vec![index]);
        let rows = TableRows::from_table(&table, (&[], &codes), &columns).unwrap();
        let mut found = [0; 2];
        rows.copy_indices(0, &RowSet::Range(0..2), &mut found);
        assert_eq!(found, [2, 0]);
        rows.copy_indices(0, &RowSet::List(&[2, 2]), &mut found);
        assert_eq!(found, [1, 1]);
        assert!(TableRows::from_table(&table, (&[], &[]), &columns).is_none());
    }
}
