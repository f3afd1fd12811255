//! Columns of a table as the inputs of a plan: borrowed if they are in memory, otherwise copied.

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

/// Sets every row of the table, borrowed if it is in memory.
pub fn lend_all(workspace: &mut Workspace, source: &dyn RowSource, columns: &[(usize, Slot)]) {
    let rows = 0..source.n_rows();
    for &(column, slot) in columns {
        match (slot, source.whole_column(column)) {
            (Slot::Numbers(_), Some(values)) => workspace.lend(slot, &values),
            _ => lend_rows(workspace, source, rows.clone(), &[(column, slot)]),
        }
    }
}

/// Sets consecutive rows of the table, borrowed if they are in memory.
pub fn lend_rows(
    workspace: &mut Workspace,
    source: &dyn RowSource,
    rows: Range<usize>,
    columns: &[(usize, Slot)],
) {
    for &(column, slot) in columns {
        let is_lent = match slot {
            Slot::Numbers(_) => lend_numbers(workspace, (source, column), slot, rows.start),
            Slot::Indices(_) => lend_indices(workspace, (source, column), slot, rows.start),
        };
        if !is_lent {
            let rows = RowSet::Range(rows.clone());
            copy_rows(workspace, source, &rows, &[(column, slot)]);
        }
    }
}

/// Lends a column of numbers from this row on. Returns false if it is not in memory.
fn lend_numbers(
    workspace: &mut Workspace,
    (source, column): (&dyn RowSource, usize),
    slot: Slot,
    first: usize,
) -> bool {
    let Some(values) = source.whole_column(column) else {
        return false;
    };
    let width = values.len() / source.n_rows();
    workspace.lend_part(slot, &values, first * width);
    true
}

/// Lends an index column from this row on. Returns false if it is not in memory.
fn lend_indices(
    workspace: &mut Workspace,
    (source, column): (&dyn RowSource, usize),
    slot: Slot,
    first: usize,
) -> bool {
    let Some(values) = source.whole_indices(column) else {
        return false;
    };
    workspace.lend_indices(slot, &values, first);
    true
}
