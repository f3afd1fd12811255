//! Concatenates batches to one table.

use crate::level::relabel_codes;
use crate::{Column, Labels, Table, TableError};

use super::Field;

/// A table that grows by batches with the same columns.
#[derive(Debug)]
pub struct Stack {
    names: Vec<String>,
    piles: Vec<Pile>,
}

#[derive(Debug)]
enum Pile {
    Plain(Column),
    Category(Vec<u32>, Labels),
}

impl Stack {
    /// An empty table with these columns.
    pub fn new(fields: &[Field]) -> Self {
        let pile = |field: &Field| match field.kind {
            Some(crate::Kind::Category) => Pile::Category(Vec::new(), Labels::default()),
            Some(crate::Kind::Matrix { width }) => Pile::Plain(Column::Matrix {
                width,
                values: Vec::new(),
            }),
            Some(crate::Kind::Boolean) => Pile::Plain(Column::Boolean(Vec::new())),
            Some(crate::Kind::Number) | None => Pile::Plain(Column::Number(Vec::new())),
        };
        Self {
            names: fields.iter().map(|field| field.name.clone()).collect(),
            piles: fields.iter().map(pile).collect(),
        }
    }

    /// Appends a batch below the rows so far.
    ///
    /// # Panics
    /// If its columns are not of the types in the fields.
    pub fn push_batch(&mut self, batch: &Table) {
        for (pile, (name, column)) in self.piles.iter_mut().zip(batch.columns()) {
            match (pile, column) {
                (Pile::Plain(Column::Number(all)), Column::Number(more))
                | (
                    Pile::Plain(Column::Matrix { values: all, .. }),
                    Column::Matrix { values: more, .. },
                ) => all.extend_from_slice(more),
                (Pile::Plain(Column::Boolean(all)), Column::Boolean(more)) => {
                    all.extend_from_slice(more);
                }
                (Pile::Category(all, known), Column::Category { codes, levels }) => {
                    all.extend(known.merged_codes(codes, levels));
                }
                _ => unreachable!("column {name:?} is decoded as its field says"),
            }
        }
    }

    /// The table; levels are sorted unless all batches agree on another order.
    ///
    /// # Errors
    /// If a batch had fewer rows in some columns.
    pub fn into_table(self) -> Result<Table, TableError> {
        let mut table = Table::new();
        for (name, pile) in self.names.into_iter().zip(self.piles) {
            let column = match pile {
                Pile::Plain(column) => column,
                Pile::Category(mut codes, known) => {
                    let (levels, place) = known.sorted_labels();
                    relabel_codes(&mut codes, &place);
                    Column::Category { codes, levels }
                }
            };
            table.insert(name, column)?;
        }
        Ok(table)
    }
}
