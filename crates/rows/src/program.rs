//! Functions of some rows and some arguments, compiled for a number of rows at a time.

use std::ops::Range;

use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};

use crate::lend::{copy_rows, lend_all, read_columns};
use crate::{Columns, RowSet, RowSource, Rows};

/// Points that share one pass over the rows.
pub const LANES: usize = 16;

/// An argument of the functions.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// One array for all lanes, of this length.
    Shared(usize),
    /// One array per lane, each of this length.
    PerLane(usize),
}

impl Argument {
    /// The length of one array.
    fn size(self) -> usize {
        match self {
            Argument::Shared(size) | Argument::PerLane(size) => size,
        }
    }
}

/// Functions of a number of rows.
pub struct RowProgram {
    plan: Plan,
    workspace: Workspace,
    arguments: Vec<Option<Slot>>,
    /// The length of each argument.
    sizes: Vec<usize>,
    columns: Vec<(usize, Slot)>,
    rows: usize,
    lanes: usize,
}

impl RowProgram {
    /// The functions of this many rows with these columns; the rows are set later.
    pub fn new(
        columns: &Columns,
        (lanes, rows): (usize, usize),
        arguments: &[Argument],
        write: &impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> RowProgram {
        let graph = Graph::new();
        let declare = |(k, argument): (usize, &Argument)| match argument {
            Argument::Shared(size) => graph.input(&format!("argument {k}"), [*size]),
            Argument::PerLane(size) => graph.laned_input(&format!("argument {k}"), [*size]),
        };
        let inputs: Vec<Expr<'_>> = arguments.iter().enumerate().map(declare).collect();
        let data = Rows::inputs(&graph, columns, rows, "rows.");
        let plan = Plan::new(&write(&inputs, &data), lanes);
        RowProgram {
            workspace: plan.workspace(),
            sizes: arguments.iter().map(|one| one.size()).collect(),
            arguments: inputs.iter().map(|e| plan.input(*e)).collect(),
            columns: read_columns(&plan, &data),
            plan,
            rows,
            lanes,
        }
    }

    /// How many rows are set at a time.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many functions there are.
    pub fn outputs(&self) -> usize {
        self.plan.n_outputs()
    }

    /// Bytes that a run needs besides the rows.
    pub fn bytes(&self) -> usize {
        self.plan.report().arena_bytes
    }

    /// Sets consecutive rows, as many as the plan needs.
    pub fn place(&mut self, source: &dyn RowSource, range: Range<usize>) {
        self.place_set(source, &RowSet::Range(range));
    }

    /// Sets these rows, as many as the plan needs.
    pub fn place_set(&mut self, source: &dyn RowSource, rows: &RowSet<'_>) {
        copy_rows(&mut self.workspace, source, rows, &self.columns);
    }

    /// Sets all rows of a source in memory, without a copy.
    pub fn place_all(&mut self, source: &dyn RowSource) {
        lend_all(&mut self.workspace, source, &self.columns);
    }

    /// Sets one argument, for all runs that do not set it.
    pub fn set(&mut self, argument: usize, values: &[f64]) {
        self.workspace.set_input(self.arguments[argument], values);
    }

    /// The results of the last run.
    pub fn found(&self) -> &Workspace {
        &self.workspace
    }

    /// The first function at many points. Each point is the first argument of a lane, and all share
    /// the second argument. Calls `visit` with each point and its `width` values.
    pub fn each_point(
        &mut self,
        (points, width): (&[f64], usize),
        shared: &[f64],
        mut visit: impl FnMut(usize, &[f64]),
    ) {
        let size = self.sizes[0];
        let mut lanes = vec![0.0; self.lanes * size];
        let mut point = 0;
        for some in points.chunks(lanes.len().max(1)) {
            lanes[..some.len()].copy_from_slice(some);
            let found = self.run(&[&lanes, shared]).output(0);
            // A function that does not depend on the point is the same for every lane.
            for values in found.chunks_exact(width).cycle().take(some.len() / size) {
                visit(point, values);
                point += 1;
            }
        }
    }

    /// The functions of the present rows at these arguments; arguments that are not given keep
    /// their values.
    pub fn run(&mut self, arguments: &[&[f64]]) -> &Workspace {
        for (slot, values) in self.arguments.iter().zip(arguments) {
            self.workspace.set_input(*slot, values);
        }
        self.plan.run(&mut self.workspace);
        &self.workspace
    }
}
