//! Columns of a table as the inputs of a plan: lent if they are in memory, else copied.

use std::ops::Range;

use lehr_graph::{Plan, Slot, Workspace};

use crate::{RowSet, RowSource, Rows};

/// The columns of `rows` that a plan reads, by their place in the table.
pub fn read_columns(plan: &Plan, rows: &Rows<'_>) -> Vec<(usize, Slot)> {
    let columns = rows.columns().enumerate();
    columns
        .filter_map(|(place, (_, column))| Some((place, plan.input(column.expr())?)))
        .collect()
}

/// Copies rows of the table into the plan's inputs.
pub fn copy_rows(
    workspace: &mut Workspace,
    source: &dyn RowSource,
    rows: &RowSet<'_>,
    columns: &[(usize, Slot)],
) {
    for &(column, slot) in columns {
        match slot {
            Slot::Numbers(_) => source.copy_numbers(column, rows, workspace.numbers_mut(slot)),
            Slot::Indices(_) => source.copy_indices(column, rows, workspace.indices_mut(slot)),
        }
    }
}

/// Every row of the table, lent if it is in memory.
pub fn lend_all(workspace: &mut Workspace, source: &dyn RowSource, columns: &[(usize, Slot)]) {
    let rows = RowSet::Range(0..source.n_rows());
    for &(column, slot) in columns {
        match (slot, source.whole_column(column)) {
            (Slot::Numbers(_), Some(values)) => workspace.lend(slot, &values),
            _ => copy_rows(workspace, source, &rows, &[(column, slot)]),
        }
    }
}

/// Consecutive rows of the table, lent if they are in memory.
pub fn lend_rows(
    workspace: &mut Workspace,
    source: &dyn RowSource,
    rows: Range<usize>,
    columns: &[(usize, Slot)],
) {
    for &(column, slot) in columns {
        match (slot, source.whole_column(column)) {
            (Slot::Numbers(_), Some(values)) => {
                let width = values.len() / source.n_rows();
                workspace.lend_part(slot, &values, rows.start * width);
            }
            _ => copy_rows(
                workspace,
                source,
                &RowSet::Range(rows.clone()),
                &[(column, slot)],
            ),
        }
    }
}
