//! A table in memory as rows, without a copy.

use std::ops::Range;
use std::sync::Arc;

use lehr_table::{Column, Table};

use crate::{ColumnKind, Columns, RowSet, RowSource};

/// Numeric columns of a borrowed table.
pub struct TableRows<'t> {
    n_rows: usize,
    /// The width of each column, and its numbers.
    columns: Vec<(usize, Numbers<'t>)>,
}

/// Writes some rows of a column, row after row.
pub(crate) type Fill<'t> = dyn Fn(Range<usize>, &mut [f64]) + Sync + 't;

/// A column that is computed on request.
#[derive(Clone, Copy)]
pub struct Computed<'t> {
    /// Its name.
    pub name: &'t str,
    /// Numbers per row.
    pub width: usize,
    /// Computes some rows.
    pub fill: &'t Fill<'t>,
}

#[derive(Clone, Copy)]
enum Numbers<'t> {
    There(&'t [f64]),
    Computed(&'t Fill<'t>),
}

impl<'t> TableRows<'t> {
    /// The columns of a density in a table that has them under the same names, except for computed
    /// ones. `None` if a column is not numeric or has another width. Values are not checked: the
    /// caller guarantees them.
    pub fn from_table(
        table: &'t Table,
        computed: &[Computed<'t>],
        columns: &Columns,
    ) -> Option<TableRows<'t>> {
        let found = columns.iter().map(|column| {
            let ColumnKind::Number { width } = column.kind else {
                return None;
            };
            let made = computed.iter().find(|made| made.name == column.name);
            let (found, values) = match made {
                Some(made) => (made.width, Numbers::Computed(made.fill)),
                None => find_column(table, &column.name)?,
            };
            (found == width.unwrap_or(1)).then_some((found, values))
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
        let (width, values) = self.columns[column];
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

    fn copy_indices(&self, column: usize, _: &RowSet<'_>, _: &mut [u32]) {
        panic!("column {column} holds numbers, not indices");
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
        let rows = TableRows::from_table(&table, &[], &columns).unwrap();
        let mut found = [0.0; 4];
        rows.copy_numbers(0, &RowSet::Range(1..3), &mut found);
        assert_eq!(found, [3.0, 4.0, 5.0, 6.0]);
        rows.copy_numbers(0, &RowSet::List(&[2, 0]), &mut found);
        assert_eq!(found, [5.0, 6.0, 1.0, 2.0]);
        for other in [column("x", Some(3)), column("z", None)] {
            assert!(TableRows::from_table(&table, &[], &Columns(vec![other])).is_none());
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
        let computed = Computed {
            name: "x",
            width: 2,
            fill: &fill,
        };
        let columns = Columns(vec![column("x", Some(2)), column("y", None)]);
        let rows = TableRows::from_table(&table, &[computed], &columns).unwrap();
        let mut found = [0.0; 4];
        rows.copy_numbers(0, &RowSet::Range(1..3), &mut found);
        assert_eq!(found, [1.0, -1.0, 2.0, -1.0]);
        rows.copy_numbers(0, &RowSet::List(&[2, 0]), &mut found);
        assert_eq!(found, [2.0, -1.0, 0.0, -1.0]);
        let wider = Columns(vec![column("x", Some(3))]);
        assert!(TableRows::from_table(&table, &[computed], &wider).is_none());
    }
}
