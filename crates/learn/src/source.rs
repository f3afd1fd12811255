//! The checked columns of a table that a formula reads.

use std::collections::HashMap;
use std::sync::Arc;

use lehr_formula::{self as formula, Terms};
use lehr_numeric::column;
use lehr_table::{Column, Table, nearest};

use crate::error::LearnError;

/// A table whose columns, as far as they are read, have a finite value in every row.
pub struct Source<'t> {
    table: &'t Table,
    /// The number of rows of the whole table before these.
    pub first: usize,
    /// Boolean columns as numbers.
    truths: HashMap<&'t str, Vec<f64>>,
}

impl<'t> Source<'t> {
    /// Checks the named columns of a block that follows `first` rows; the optional ones may have
    /// gaps.
    pub fn block(
        table: &'t Table,
        names: &[&str],
        (optional, first): (&[&str], usize),
    ) -> Result<Source<'t>, LearnError> {
        if table.n_rows() == 0 {
            return Err(LearnError::NoRows);
        }
        let mut truths = HashMap::new();
        for (name, column) in table.columns().filter(|(name, _)| names.contains(name)) {
            check(name, column, (optional.contains(&name), first))?;
            if let Column::Boolean(_) = column {
                let mut numbers = Vec::with_capacity(column.len());
                (0..column.len()).for_each(|row| column.push_row(row, &mut numbers));
                truths.insert(name, numbers);
            }
        }
        match names.iter().find(|name| table.column(name).is_err()) {
            Some(name) => Err(unknown(table, name)),
            None => Ok(Source {
                table,
                first,
                truths,
            }),
        }
    }

    /// Checks the columns that terms read. `first` is the number of rows before the block.
    pub fn of_terms(
        terms: &Terms,
        block: &'t Table,
        first: usize,
    ) -> Result<Source<'t>, LearnError> {
        let optional = terms.optional_columns();
        Source::block(block, &terms.column_names(), (&optional, first))
    }

    /// The table's column. Panics if it was not checked.
    pub fn column(&self, name: &str) -> &'t Column {
        self.table.column(name).expect("checked with the source")
    }

    /// The rows of the table.
    pub fn n_rows(&self) -> usize {
        self.table.n_rows()
    }

    /// The column in the form of a formula.
    pub fn read(&self, name: &str) -> Option<formula::ColumnValues<'_>> {
        match self.table.column(name).ok()? {
            Column::Number(values) => Some(formula::ColumnValues::Numbers(values)),
            Column::Category { codes, levels } => {
                Some(formula::ColumnValues::Labels { codes, levels })
            }
            Column::Boolean(_) => Some(formula::ColumnValues::Numbers(self.truths.get(name)?)),
            Column::Matrix { .. } => None,
        }
    }

    /// The numbers of a column, unless it holds text.
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        match self.read(name)? {
            formula::ColumnValues::Numbers(values) => Some(values),
            formula::ColumnValues::Labels { .. } => None,
        }
    }

    /// The column as codes into level names.
    pub fn labels(&self, name: &str) -> (Vec<u32>, Arc<[String]>) {
        match self.column(name).to_category() {
            Some(Column::Category { codes, levels }) => (codes, levels),
            _ => unreachable!("rows of numbers were refused"),
        }
    }

    /// Expressions in every row, one after another.
    pub fn evaluate_all(&self, all: &[formula::ColumnExpr]) -> Result<Vec<Vec<f64>>, LearnError> {
        all.iter().map(|expr| self.evaluate(expr)).collect()
    }

    /// An expression in every row; refuses values that are not finite.
    pub fn evaluate(&self, expr: &formula::ColumnExpr) -> Result<Vec<f64>, LearnError> {
        if let Some(name) = (expr.column_names().into_iter())
            .find(|name| matches!(self.read(name), Some(formula::ColumnValues::Labels { .. })))
        {
            return Err(formula::BasisError::Text(name.to_owned()).into());
        }
        let values = expr.evaluate_columns(&|name| self.numbers(name));
        let mut values = values.map_err(formula::BasisError::from)?;
        if values.len() != self.n_rows() {
            values = vec![values[0]; self.n_rows()];
        }
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(row) => Err(LearnError::column(
                format!("{expr}, row {}", self.first + row + 1),
                "a finite number",
                values[row].to_string(),
                "look for a logarithm of zero or a division by zero",
            )),
        }
    }
}

/// The column is not in the table.
pub(crate) fn unknown(table: &Table, name: &str) -> LearnError {
    let names = table.names().iter().map(String::as_str);
    let hint = match nearest(name, names) {
        Some(near) => format!("did you mean {near:?}?"),
        None => "the formula reads it".into(),
    };
    LearnError::UnknownColumn {
        name: name.into(),
        hint,
    }
}

fn check(
    name: &str,
    column: &Column,
    (is_optional, before): (bool, usize),
) -> Result<(), LearnError> {
    let wrong = |expected: &str, found: String, hint: &str| {
        Err(LearnError::column(
            format!("column {name:?}"),
            expected,
            found,
            hint,
        ))
    };
    if let Column::Matrix { width, .. } = column {
        let hint = "give each number a column of its own";
        return wrong("one value per row", format!("{width} per row"), hint);
    }
    if matches!(column, Column::Number(values) if column::is_finite(values)) {
        return Ok(());
    }
    let missing = if is_optional {
        0
    } else {
        column.count_missing()
    };
    if missing == column.len() {
        let hint = "leave the column out of the formula, or out of the table";
        return wrong("a value in every row", "none at all".into(), hint);
    }
    if missing > 0 {
        let first = (0..column.len()).position(|row| column.is_missing(row));
        let found = format!(
            "{missing} missing, the first in row {}",
            first.map_or(0, |at| before + at + 1)
        );
        let hint = "leave such rows out with --missing drop";
        return wrong("a value in every row", found, hint);
    }
    let Column::Number(values) = column else {
        return Ok(());
    };
    let Some(first) = values.iter().position(|value| value.is_infinite()) else {
        return Ok(());
    };
    let (count, row) = (column.count_infinite(), before + first + 1);
    let found = format!("{count} infinite, the first in row {row}");
    let hint = "look for a logarithm of zero or a division by zero upstream";
    wrong("finite numbers", found, hint)
}
