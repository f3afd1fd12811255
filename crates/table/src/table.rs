//! Named columns of equal length.

use std::collections::HashMap;
use std::sync::Arc;

use lehr_numeric::order::permutation;

use crate::{Column, Kind, MISSING, TableError, nearest};

/// A table in memory: named, typed columns, all with the same number of rows, in the order in
/// which they were added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Column>,
    index: HashMap<String, usize>,
    dropped_rows: usize,
}

impl Table {
    /// A table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// The rows every column has; 0 without columns.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns with their names, in order.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, &Column)> {
        self.names.iter().map(String::as_str).zip(&self.columns)
    }

    /// The rows that reading left out because a value was missing.
    pub fn dropped_rows(&self) -> usize {
        self.dropped_rows
    }

    /// The column of that name; the error suggests the nearest one.
    pub fn column(&self, name: &str) -> Result<&Column, TableError> {
        match self.index.get(name) {
            Some(&at) => Ok(&self.columns[at]),
            None => Err(self.unknown_column(name)),
        }
    }

    /// The values of a number column.
    pub fn number(&self, name: &str) -> Result<&[f64], TableError> {
        match self.column(name)? {
            Column::Number(values) => Ok(values),
            other => Err(wrong_kind(name, "a number", other)),
        }
    }

    /// The width and the row-major values of a matrix; a number column is a matrix of width 1.
    pub fn matrix(&self, name: &str) -> Result<(usize, &[f64]), TableError> {
        match self.column(name)? {
            Column::Number(values) => Ok((1, values)),
            Column::Matrix { width, values } => Ok((*width, values)),
            other => Err(wrong_kind(name, "numbers", other)),
        }
    }

    /// The codes and levels of a category.
    pub fn category(&self, name: &str) -> Result<(&[u32], &Arc<[String]>), TableError> {
        match self.column(name)? {
            Column::Category { codes, levels } => Ok((codes, levels)),
            other => Err(wrong_kind(name, "a category", other)),
        }
    }

    /// Adds a column at the end. Refuses a name that is in use, a length that differs from the
    /// table's, a matrix that is not full and a code without a level.
    pub fn insert(&mut self, name: impl Into<String>, column: Column) -> Result<(), TableError> {
        let name = name.into();
        if self.index.contains_key(&name) {
            return Err(TableError::DuplicateColumn { name });
        }
        check_column(&name, &column)?;
        self.same_length(&name, &column)?;
        self.index.insert(name.clone(), self.names.len());
        self.names.push(name);
        self.columns.push(column);
        Ok(())
    }

    /// Replaces the column of that name, under the same conditions as [`insert`](Self::insert).
    pub fn replace(&mut self, name: &str, column: Column) -> Result<(), TableError> {
        let at = *self
            .index
            .get(name)
            .ok_or_else(|| self.unknown_column(name))?;
        check_column(name, &column)?;
        if self.columns.len() > 1 {
            self.same_length(name, &column)?;
        }
        self.columns[at] = column;
        Ok(())
    }

    /// This table and a column of numbers.
    pub fn with_number(mut self, name: &str, values: Vec<f64>) -> Result<Self, TableError> {
        self.insert(name, Column::Number(values))?;
        Ok(self)
    }

    /// This table and a column of `cols` numbers per row, given row after row.
    pub fn with_matrix(
        mut self,
        name: &str,
        rows: usize,
        cols: usize,
        values: Vec<f64>,
    ) -> Result<Self, TableError> {
        if cols == 0 || rows.checked_mul(cols) != Some(values.len()) {
            return Err(TableError::Shape {
                name: name.into(),
                rows,
                width: cols,
                values: values.len(),
            });
        }
        self.insert(
            name,
            Column::Matrix {
                width: cols,
                values,
            },
        )?;
        Ok(self)
    }

    /// This table and a column of codes into `levels`; [`MISSING`] marks a missing value.
    pub fn with_category(
        mut self,
        name: &str,
        codes: Vec<u32>,
        levels: Vec<String>,
    ) -> Result<Self, TableError> {
        let levels = levels.into();
        self.insert(name, Column::Category { codes, levels })?;
        Ok(self)
    }

    /// This table and a column of Boolean values.
    pub fn with_boolean(mut self, name: &str, values: Vec<bool>) -> Result<Self, TableError> {
        let values = values.into_iter().map(Some).collect();
        self.insert(name, Column::Boolean(values))?;
        Ok(self)
    }

    /// The given columns side by side as one matrix, Boolean values as 0 and 1 and missing ones as
    /// NaN. Refuses categories and an empty list.
    pub fn gather_columns(&self, names: &[&str]) -> Result<Column, TableError> {
        let parts: Vec<&Column> = (names.iter())
            .map(|name| match self.column(name)? {
                column @ Column::Category { .. } => Err(wrong_kind(name, "numbers", column)),
                column => Ok(column),
            })
            .collect::<Result<_, _>>()?;
        let width = parts.iter().map(|part| part.kind().width()).sum();
        if width == 0 {
            return Err(TableError::Length {
                what: "columns of a matrix",
                expected: 1,
                found: 0,
            });
        }
        let mut values = Vec::with_capacity(width * self.n_rows());
        for row in 0..self.n_rows() {
            for part in &parts {
                part.push_row(row, &mut values);
            }
        }
        Ok(Column::Matrix { width, values })
    }

    /// The given rows in the given order, repetitions allowed. Panics on a row that does not
    /// exist.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        let columns = self.columns.iter().map(|column| column.select_rows(rows));
        Self {
            columns: columns.collect(),
            ..self.clone_names()
        }
    }

    /// The first `n` rows, or all if there are fewer.
    pub fn head(&self, n: usize) -> Self {
        let rows: Vec<usize> = (0..n.min(self.n_rows())).collect();
        self.select_rows(&rows)
    }

    /// A random split of the rows into two tables: `fraction` of them (rounded, and clamped to 0 to
    /// 1) and the rest. The same seed gives the same tables.
    pub fn split(&self, fraction: f64, seed: u64) -> (Self, Self) {
        let order = permutation(self.n_rows(), seed);
        let first = (fraction.clamp(0.0, 1.0) * order.len() as f64).round() as usize;
        let (first, second) = order.split_at(first);
        (self.select_rows(first), self.select_rows(second))
    }

    /// The columns that have missing values, and how many.
    pub fn count_missing(&self) -> Vec<(String, usize)> {
        self.columns()
            .map(|(name, column)| (name.to_string(), column.count_missing()))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// The table without the rows in which any value is missing; they are counted in
    /// [`dropped_rows`](Self::dropped_rows).
    pub fn drop_missing(self) -> Self {
        self.drop_missing_in(|_| true)
    }

    /// As [`drop_missing`](Self::drop_missing), for values of these columns alone.
    pub fn drop_missing_in(self, counts: impl Fn(&str) -> bool) -> Self {
        let counted = self.columns().filter(|(name, _)| counts(name));
        let columns: Vec<&Column> = counted.map(|(_, column)| column).collect();
        let complete = |row: &usize| !columns.iter().any(|column| column.is_missing(*row));
        let rows: Vec<usize> = (0..self.n_rows()).filter(complete).collect();
        let dropped = self.n_rows() - rows.len();
        if dropped == 0 {
            return self;
        }
        let mut kept = self.select_rows(&rows);
        kept.dropped_rows += dropped;
        kept
    }

    /// Drops the columns whose names are not wanted.
    #[cfg_attr(not(feature = "files"), expect(dead_code, reason = "readers call it"))]
    pub(crate) fn keep_columns(&mut self, wanted: impl Fn(&str) -> bool) {
        let names = std::mem::take(&mut self.names);
        let columns = std::mem::take(&mut self.columns);
        let kept = names
            .into_iter()
            .zip(columns)
            .filter(|(name, _)| wanted(name));
        (self.names, self.columns) = kept.unzip();
        self.index = self.names.iter().cloned().zip(0..).collect();
    }

    /// Counts rows that were dropped before this table was made.
    #[cfg_attr(not(feature = "files"), expect(dead_code, reason = "readers call it"))]
    pub(crate) fn count_dropped(&mut self, rows: usize) {
        self.dropped_rows += rows;
    }

    fn clone_names(&self) -> Self {
        Self {
            names: self.names.clone(),
            columns: Vec::new(),
            index: self.index.clone(),
            dropped_rows: self.dropped_rows,
        }
    }

    fn unknown_column(&self, name: &str) -> TableError {
        TableError::UnknownColumn {
            name: name.into(),
            nearest: nearest(name, self.names.iter().map(String::as_str)).map(Into::into),
        }
    }

    fn same_length(&self, name: &str, column: &Column) -> Result<(), TableError> {
        match self.columns().find(|(other, _)| *other != name) {
            Some((other, first)) if first.len() != column.len() => Err(TableError::RowMismatch {
                name: name.into(),
                rows: column.len(),
                other: other.into(),
                other_rows: first.len(),
            }),
            _ => Ok(()),
        }
    }
}

/// Checks the invariants of a column.
fn check_column(name: &str, column: &Column) -> Result<(), TableError> {
    match column {
        Column::Matrix { width, values } if *width == 0 || values.len() % width != 0 => {
            Err(TableError::Shape {
                name: name.into(),
                rows: values.len().checked_div(*width).unwrap_or(0),
                width: *width,
                values: values.len(),
            })
        }
        Column::Category { codes, levels } => {
            let bad = |code: &u32| *code as usize >= levels.len() && *code != MISSING;
            match codes.iter().position(bad) {
                None => Ok(()),
                Some(at) => Err(TableError::CodeOutOfRange {
                    name: name.into(),
                    row: at + 1,
                    code: codes[at],
                    levels: levels.len(),
                }),
            }
        }
        _ => Ok(()),
    }
}

fn wrong_kind(name: &str, expected: &'static str, found: &Column) -> TableError {
    let found: Kind = found.kind();
    TableError::WrongKind {
        name: name.into(),
        expected,
        found,
    }
}
