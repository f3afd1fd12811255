//! Applies the options to the rows that are read, and counts missing values.

use crate::{Column, Table, TableError};

use super::{Field, MissingPolicy, ReadOptions};

/// Turns columns into categories as the options request.
pub(super) fn as_asked(
    mut batch: Table,
    fields: &[Field],
    options: &ReadOptions,
) -> Result<Table, TableError> {
    for field in fields {
        let column = batch.column(&field.name)?;
        if field.kind != Some(column.kind()) {
            let category = column.to_category().unwrap_or_else(|| column.clone());
            batch.replace(&field.name, category)?;
        }
        if let Some(levels) = options.levels_of(&field.name) {
            let ordered = batch
                .column(&field.name)?
                .recode_levels(&field.name, levels);
            let ordered = ordered.map_err(|error| unlisted_level(error, levels))?;
            batch.replace(&field.name, ordered)?;
        }
    }
    Ok(batch)
}

/// The error for a value that is not among the levels given for a column.
fn unlisted_level(error: TableError, levels: &[String]) -> TableError {
    match error {
        TableError::UnseenLevel { name, example, .. } => TableError::UnlistedLevel {
            name,
            found: example,
            levels: levels.join(", "),
        },
        other => other,
    }
}

/// Whether missing values of the column are kept.
fn is_optional(options: &ReadOptions, name: &str) -> bool {
    options.optional.iter().any(|kept| kept == name)
}

/// The counts of a pass over all rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Rows passed on.
    pub rows: u64,
    /// Rows left out because a value was missing.
    pub dropped_rows: usize,
    /// Missing values of every column that has some, dropped rows included.
    pub missing: Vec<(String, usize)>,
}

/// Counts rows and missing values of a pass.
pub(super) struct Tally {
    pub(super) rows: u64,
    dropped_rows: usize,
    missing: Vec<usize>,
}

impl Tally {
    pub(super) fn new(fields: &[Field]) -> Self {
        Self {
            rows: 0,
            dropped_rows: 0,
            missing: vec![0; fields.len()],
        }
    }

    /// Counts a batch and drops its rows with missing values if the options request it.
    pub(super) fn take_batch(&mut self, batch: Table, options: &ReadOptions) -> Table {
        let counts: Vec<usize> = batch
            .columns()
            .map(|(name, column)| {
                let is_counted = !is_optional(options, name);
                if is_counted {
                    Column::count_missing(column)
                } else {
                    0
                }
            })
            .collect();
        for (all, more) in self.missing.iter_mut().zip(&counts) {
            *all += more;
        }
        let batch = match options.missing {
            MissingPolicy::Drop if counts.iter().any(|count| *count > 0) => {
                batch.drop_missing_in(|name| !is_optional(options, name))
            }
            _ => batch,
        };
        self.rows += batch.n_rows() as u64;
        self.dropped_rows += batch.dropped_rows();
        batch
    }

    pub(super) fn check_totals(
        self,
        fields: &[Field],
        policy: MissingPolicy,
    ) -> Result<Scan, TableError> {
        let missing: Vec<(String, usize)> = (fields.iter().zip(self.missing))
            .filter(|(_, count)| *count > 0)
            .map(|(field, count)| (field.name.clone(), count))
            .collect();
        if policy == MissingPolicy::Refuse && !missing.is_empty() {
            return Err(TableError::Missing {
                columns: missing,
                rows: self.rows as usize,
            });
        }
        Ok(Scan {
            rows: self.rows,
            dropped_rows: self.dropped_rows,
            missing,
        })
    }
}
