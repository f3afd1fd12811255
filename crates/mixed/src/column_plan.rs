//! A compiled program that reads columns of the table.

use lehr_graph::{Expr, Plan, Slot, Workspace};
use lehr_rows::lend::{copy_rows, read_columns};
use lehr_rows::{RowSet, RowSource, Rows};

/// A plan over some rows, and the columns that it reads.
pub(crate) struct ColumnPlan {
    pub(crate) plan: Plan,
    columns: Vec<(usize, Slot)>,
    /// The number of rows.
    pub(crate) rows: usize,
}

impl ColumnPlan {
    pub(crate) fn new(outputs: &[Expr<'_>], rows: &Rows<'_>, lanes: usize) -> ColumnPlan {
        let plan = Plan::new(outputs, lanes);
        ColumnPlan {
            columns: read_columns(&plan, rows),
            plan,
            rows: rows.len(),
        }
    }

    /// Sets an input if the plan reads it.
    pub(crate) fn set(&self, workspace: &mut Workspace, name: &str, values: &[f64]) {
        workspace.set_input(self.plan.input_named(name), values);
    }

    /// Sets the rows, as many as the plan has.
    pub(crate) fn set_rows(&self, to: &mut Workspace, source: &dyn RowSource, rows: &[usize]) {
        copy_rows(to, source, &RowSet::List(rows), &self.columns);
    }
}
