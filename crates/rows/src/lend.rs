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
    lend_rows(workspace, source, 0..source.n_rows(), columns);
}

/// Sets consecutive rows of the table, borrowed if they are in memory.
pub fn lend_rows(
    workspace: &mut Workspace,
    source: &dyn RowSource,
    rows: Range<usize>,
    columns: &[(usize, Slot)],
) {
    for &(column, slot) in columns {
        let lent = match slot {
            Slot::Numbers(_) => source.whole_column(column).map(|values| {
                let width = values.len() / source.n_rows().max(1);
                workspace.lend_part(slot, &values, rows.start * width);
            }),
            Slot::Indices(_) => (source.whole_indices(column))
                .map(|values| workspace.lend_indices(slot, &values, rows.start)),
        };
        if lent.is_none() {
            let rows = RowSet::Range(rows.clone());
            copy_rows(workspace, source, &rows, &[(column, slot)]);
        }
    }
}
