//! The rows of a surrogate, copied from the table.

use std::sync::Arc;

use lehr_density::{
    Column, ColumnKind, Columns, Density, RowData, RowSet, RowSource, Rows, Values,
};
use serde::{Deserialize, Serialize};

use super::covariate::Covariates;
use crate::error::SurrogateError;
use crate::guide::{Context, RowInput};
use lehr_density::rows_here;

/// A few rows with the columns of a density, and the number of rows that they represent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "RowRecord", into = "RowRecord")]
pub struct FixedRows {
    columns: Columns,
    data: Arc<RowData>,
    total: usize,
}

impl FixedRows {
    /// Copies of rows of the density's table; repetitions are allowed.
    ///
    /// # Panics
    /// If a row is outside the table.
    pub fn of(density: &dyn Density, rows: &[usize]) -> FixedRows {
        FixedRows::from_source(density, density.source(), rows)
    }

    /// Copies of rows by their numbers in batches.
    pub(crate) fn in_batch_order(density: &dyn Density, rows: &[usize]) -> FixedRows {
        FixedRows::from_source(density, rows_here(density).batch_order(), rows)
    }

    fn from_source(density: &dyn Density, source: &dyn RowSource, rows: &[usize]) -> FixedRows {
        let columns = density.columns();
        let set = RowSet::List(rows);
        let places = columns.iter().enumerate();
        let values =
            places.map(|(place, column)| Values::of_rows(source, (place, column.kind), &set));
        FixedRows {
            columns: columns.clone(),
            data: Arc::new(RowData::new(rows.len(), values.collect())),
            total: density.n_rows(),
        }
    }

    /// Rows that are not in the table, by their columns in order.
    pub(crate) fn from_values(
        density: &dyn Density,
        length: usize,
        values: Vec<Values>,
    ) -> FixedRows {
        FixedRows {
            columns: density.columns().clone(),
            data: Arc::new(RowData::new(length, values)),
            total: density.n_rows(),
        }
    }

    /// The rows with one numeric column set to zero, so that unneeded data are not stored.
    #[must_use]
    pub(crate) fn without(&self, name: &str) -> FixedRows {
        let blank = |(place, column): (usize, &Column)| match self.values(place, column) {
            Values::Numbers { width, values } if column.name == name => Values::Numbers {
                width,
                values: vec![0.0; values.len()].into(),
            },
            values => values,
        };
        let values = self.columns.iter().enumerate().map(blank).collect();
        FixedRows {
            data: Arc::new(RowData::new(self.len(), values)),
            ..self.clone()
        }
    }

    /// The rows once for each label, one copy after the other.
    #[must_use]
    pub(crate) fn with_labels(&self, response: &str, labels: &[f64]) -> FixedRows {
        let (count, length) = (self.len(), self.len() * labels.len());
        let again: Vec<usize> = (0..length).map(|row| row % count).collect();
        let labelled = |(place, column): (usize, &Column)| {
            if column.name == response {
                let values = (0..length).map(|row| labels[row / count]).collect();
                return Values::Numbers { width: 1, values };
            }
            Values::of_rows(&*self.data, (place, column.kind), &RowSet::List(&again))
        };
        let values = self.columns.iter().enumerate().map(labelled).collect();
        FixedRows {
            data: Arc::new(RowData::new(length, values)),
            ..self.clone()
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.data.n_rows()
    }

    /// True without a row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// N, the number of rows that these represent.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The columns in order.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The rows as expressions; repeated calls for one program give the same inputs.
    pub(crate) fn rows<'g>(&self, context: &Context<'g, '_>) -> Rows<'g> {
        context.rows("surrogate", &RowInput::Fixed(self.data.clone()))
    }

    /// Refuses a model that reads other columns than these.
    pub(crate) fn check(&self, density: &dyn Density) -> Result<(), SurrogateError> {
        let names = |columns: &Columns| {
            let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
            names.join(", ")
        };
        if self.columns == *density.columns() {
            return Ok(());
        }
        let (saved, read) = (names(&self.columns), names(density.columns()));
        Err(SurrogateError::refusal(format!(
            "the saved surrogate has columns {saved}, but the model reads {read}"
        )))
    }

    /// The covariates, row after row.
    pub(crate) fn read(&self, covariates: &Covariates) -> Vec<f64> {
        covariates.read(&*self.data, &RowSet::Range(0..self.len()))
    }

    fn values(&self, place: usize, column: &Column) -> Values {
        Values::of_rows(
            &*self.data,
            (place, column.kind),
            &RowSet::Range(0..self.len()),
        )
    }
}

/// The stored form of the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RowRecord {
    rows: usize,
    stand_for: usize,
    columns: Columns,
    values: Vec<ValueRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum ValueRecord {
    Numbers(Vec<f64>),
    Indices(Vec<u32>),
}

impl From<FixedRows> for RowRecord {
    fn from(rows: FixedRows) -> RowRecord {
        let places = rows.columns.iter().enumerate();
        let stored = places.map(|(place, column)| match rows.values(place, column) {
            Values::Numbers { values, .. } => ValueRecord::Numbers(values.to_vec()),
            Values::Indices(values) => ValueRecord::Indices(values.to_vec()),
        });
        RowRecord {
            rows: rows.len(),
            stand_for: rows.total,
            values: stored.collect(),
            columns: rows.columns,
        }
    }
}

impl TryFrom<RowRecord> for FixedRows {
    type Error = SurrogateError;

    fn try_from(record: RowRecord) -> Result<FixedRows, SurrogateError> {
        if record.values.len() != record.columns.len() {
            return Err(SurrogateError::Damaged);
        }
        let both = record.columns.iter().zip(record.values);
        let values = both.map(|(column, found)| restored(column, found, record.rows));
        let values: Option<Vec<Values>> = values.collect();
        Ok(FixedRows {
            data: Arc::new(RowData::new(
                record.rows,
                values.ok_or(SurrogateError::Damaged)?,
            )),
            columns: record.columns,
            total: record.stand_for,
        })
    }
}

/// The values, if they fill their column.
fn restored(column: &Column, values: ValueRecord, rows: usize) -> Option<Values> {
    let width = column.kind.width();
    match (column.kind, values) {
        (ColumnKind::Number { .. }, ValueRecord::Numbers(values)) => {
            let fits = values.len() == rows * width;
            let values = values.into();
            fits.then_some(Values::Numbers { width, values })
        }
        (ColumnKind::Index { levels }, ValueRecord::Indices(values)) => {
            let inside = values.iter().all(|&level| (level as usize) < levels.max(1));
            let fits = values.len() == rows && inside;
            fits.then(|| Values::Indices(values.into()))
        }
        _ => None,
    }
}
