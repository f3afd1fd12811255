//! The numeric covariates of rows as one matrix, and back to columns.

use lehr_density::{Column, ColumnKind, Columns, Role, RowSet, RowSource, Rows};
use lehr_graph::{Expr, Shape};

use super::SurrogateKind;
use crate::error::SurrogateError;

/// The numeric covariates (offsets included), by their places among the columns.
#[derive(Clone, Debug)]
pub(crate) struct Covariates {
    columns: Vec<(usize, Column)>,
}

impl Covariates {
    pub(crate) fn of(columns: &Columns) -> Covariates {
        let is_covariate = |column: &Column| {
            let numeric = matches!(column.kind, ColumnKind::Number { .. });
            numeric && matches!(column.role, Role::Covariate | Role::Offset)
        };
        let found = columns.iter().cloned().enumerate();
        Covariates {
            columns: found.filter(|(_, column)| is_covariate(column)).collect(),
        }
    }

    /// The same, which this kind of surrogate clusters, unless there are none.
    pub(crate) fn filled(self, kind: SurrogateKind) -> Result<Covariates, SurrogateError> {
        if self.width() == 0 {
            return Err(SurrogateError::refusal(format!(
                "{kind} clusters numeric covariates, but the model reads none\n  \
                 hint: rand serves every model"
            )));
        }
        Ok(self)
    }

    /// Numbers per row.
    pub(crate) fn width(&self) -> usize {
        self.columns.iter().map(|(_, c)| c.kind.width()).sum()
    }

    /// The place of each covariate column and the range of the matrix's columns it takes.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let mut start = 0;
        self.columns.iter().map(move |(place, column)| {
            let range = start..start + column.kind.width();
            start = range.end;
            (*place, range)
        })
    }

    /// The covariates of some rows, row after row.
    pub(crate) fn read(&self, source: &dyn RowSource, rows: &RowSet<'_>) -> Vec<f64> {
        let width = self.width();
        let mut matrix = vec![0.0; rows.len() * width];
        for (place, range) in self.ranges() {
            let mut values = vec![0.0; rows.len() * range.len()];
            source.copy_numbers(place, rows, &mut values);
            let parts = values.chunks_exact(range.len());
            for (row, part) in matrix.chunks_exact_mut(width).zip(parts) {
                row[range.clone()].copy_from_slice(part);
            }
        }
        matrix
    }

    /// The rows with their covariates replaced by a matrix `[n, width]`.
    pub(crate) fn replace<'g>(&self, rows: Rows<'g>, matrix: Expr<'g>) -> Rows<'g> {
        let length = rows.len();
        let columns = self.columns.iter().zip(self.ranges());
        columns.fold(rows, |rows, ((_, column), (_, range))| {
            let shape = match column.kind {
                ColumnKind::Number { width: Some(width) } => Shape::from([length, width]),
                _ => Shape::from([length]),
            };
            rows.with_column(&column.name, matrix.slice(1, range).reshape(shape))
        })
    }
}
