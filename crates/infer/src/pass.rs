//! All rows of the table in one pass: sums such as the full-data value, slopes and curvature.

use std::ops::Range;

use lehr_density::{ColumnKind, Density, RowSet, RowSource, Rows};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};

use crate::lend::{batch_source, copy_rows, lend_all, read_columns};

/// z that share one pass over the rows.
pub(crate) const LANES: usize = 16;
/// Rows read at a time where the table is not in memory, or all of it at once would need too much.
const CHUNK: usize = 8192;
/// Bytes that a pass may need besides the rows before it goes over them in parts.
const MOST_BYTES: usize = 1 << 30;

/// An argument of the functions.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    /// One array for all lanes, of this length.
    Shared(usize),
    /// One array per lane, each of this length.
    PerLane(usize),
}

/// Functions of the rows and some arguments, computed for one block of rows after another.
pub(crate) struct Pass<'d> {
    source: &'d dyn RowSource,
    blocks: Vec<Block>,
    sums: Vec<Vec<f64>>,
}

/// A plan for so many rows, and where they start.
pub(crate) struct Block {
    plan: Plan,
    workspace: Workspace,
    arguments: Vec<Option<Slot>>,
    columns: Vec<(usize, Slot)>,
    starts: Vec<usize>,
    rows: usize,
    resident: bool,
}

impl<'d> Pass<'d> {
    /// A pass whose functions `write` gives; all rows are one block where they are in memory and
    /// what is computed of them fits there too.
    pub(crate) fn new(
        density: &'d dyn Density,
        lanes: usize,
        arguments: &[Argument],
        write: impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> Pass<'d> {
        if is_resident(density) {
            let all = (lanes, density.n_rows());
            let pass = Pass::in_blocks(density, all, arguments, &write);
            if density.n_rows() <= CHUNK || pass.bytes() <= MOST_BYTES {
                return pass;
            }
        }
        Pass::in_blocks(density, (lanes, CHUNK), arguments, &write)
    }

    /// Bytes of its largest block, besides the rows.
    fn bytes(&self) -> usize {
        self.blocks[0].plan.report().arena_bytes
    }

    /// A pass over blocks of so many rows, the last of which may be shorter.
    pub(crate) fn in_blocks(
        density: &'d dyn Density,
        (lanes, size): (usize, usize),
        arguments: &[Argument],
        write: impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> Pass<'d> {
        let n_rows = density.n_rows();
        let size = size.min(n_rows);
        let whole: Vec<usize> = (0..n_rows / size).map(|k| k * size).collect();
        let mut blocks = vec![Block::new(density, (lanes, size), arguments, &write)];
        blocks[0].lend(density);
        blocks[0].starts = whole;
        let rest = n_rows % size;
        if rest > 0 {
            let mut last = Block::new(density, (lanes, rest), arguments, &write);
            last.starts = vec![n_rows - rest];
            blocks.push(last);
        }
        Pass {
            source: density.source(),
            blocks,
            sums: Vec::new(),
        }
    }

    /// A pass over these rows alone, by their numbers in batches.
    pub(crate) fn of_rows(
        density: &'d dyn Density,
        (lanes, numbers): (usize, &[usize]),
        arguments: &[Argument],
        write: impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> Pass<'d> {
        let mut block = Block::new(density, (lanes, numbers.len()), arguments, &write);
        let source = batch_source(density);
        let rows = RowSet::List(numbers);
        copy_rows(&mut block.workspace, source, &rows, &block.columns);
        (block.resident, block.starts) = (true, vec![0]);
        Pass {
            source,
            blocks: vec![block],
            sums: Vec::new(),
        }
    }

    /// The same pass over the rows in the order of batches.
    pub(crate) fn in_batch_order(mut self, density: &'d dyn Density) -> Pass<'d> {
        self.source = batch_source(density);
        for block in &mut self.blocks {
            block.resident = false;
        }
        self
    }

    /// Shows what each block of rows gives at these arguments, until `visit` has found something.
    pub(crate) fn each<T>(
        &mut self,
        arguments: &[&[f64]],
        mut visit: impl FnMut(Range<usize>, &Workspace) -> Option<T>,
    ) -> Option<T> {
        self.each_block(|rows, block| visit(rows, block.run(arguments)))
    }

    /// Shows each block with its rows in place, until `visit` has found something.
    pub(crate) fn each_block<T>(
        &mut self,
        mut visit: impl FnMut(Range<usize>, &mut Block) -> Option<T>,
    ) -> Option<T> {
        self.each_block_from(0, &mut visit)
    }

    /// As [`Pass::each_block`], for the blocks that start at this row or later.
    pub(crate) fn each_block_from<T>(
        &mut self,
        first: usize,
        mut visit: impl FnMut(Range<usize>, &mut Block) -> Option<T>,
    ) -> Option<T> {
        let source = self.source;
        self.blocks.iter_mut().find_map(|block| {
            let later = (0..block.starts.len()).filter(|k| block.starts[*k] >= first);
            let later: Vec<usize> = later.collect();
            later
                .into_iter()
                .find_map(|k| visit(block.load(source, k), block))
        })
    }

    /// The sums of the functions over the blocks, at these arguments.
    pub(crate) fn run(&mut self, arguments: &[&[f64]]) -> &[Vec<f64>] {
        let mut sums = std::mem::take(&mut self.sums);
        sums.clear();
        let outputs = self.blocks[0].plan.n_outputs();
        self.each(arguments, |_, workspace| -> Option<()> {
            for k in 0..outputs {
                let part = workspace.output(k);
                match sums.get_mut(k) {
                    Some(sum) => sum.iter_mut().zip(part).for_each(|(s, p)| *s += p),
                    None => sums.push(part.to_vec()),
                }
            }
            None
        });
        self.sums = sums;
        &self.sums
    }
}

/// Whether all rows are here, and every column is in memory anyway.
pub(crate) fn is_resident(density: &dyn Density) -> bool {
    if density.elsewhere().is_some() {
        return false;
    }
    let source = density.source();
    let mut columns = density.columns().iter().enumerate();
    columns.all(|(place, column)| match column.kind {
        ColumnKind::Number { .. } => source.whole(place).is_some(),
        ColumnKind::Index { .. } => source.whole_indices(place).is_some(),
    })
}

impl Block {
    /// A plan for so many rows of the model, which are yet to be put in place.
    pub(crate) fn new(
        density: &dyn Density,
        (lanes, rows): (usize, usize),
        arguments: &[Argument],
        write: &impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> Block {
        let graph = Graph::new();
        let declare = |(k, argument): (usize, &Argument)| match argument {
            Argument::Shared(size) => graph.input(&format!("argument {k}"), [*size]),
            Argument::PerLane(size) => graph.laned_input(&format!("argument {k}"), [*size]),
        };
        let inputs: Vec<Expr<'_>> = arguments.iter().enumerate().map(declare).collect();
        let data = Rows::inputs(&graph, density.columns(), rows, "rows.");
        let plan = Plan::new(&write(&inputs, &data), lanes);
        Block {
            workspace: plan.workspace(),
            arguments: inputs.iter().map(|e| plan.input(*e)).collect(),
            columns: read_columns(&plan, &data),
            plan,
            starts: Vec::new(),
            rows,
            resident: false,
        }
    }

    /// Reads the rows where they are, if they are all in memory.
    fn lend(&mut self, density: &dyn Density) {
        self.resident = self.rows == density.n_rows() && is_resident(density);
        if self.resident {
            lend_all(&mut self.workspace, density.source(), &self.columns);
        }
    }

    /// Puts the rows of the k-th start in place.
    fn load(&mut self, source: &dyn RowSource, k: usize) -> Range<usize> {
        let range = self.starts[k]..self.starts[k] + self.rows;
        if !self.resident {
            self.place(source, range.clone());
        }
        range
    }

    /// How many rows are in place at a time.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Puts as many rows as the plan is for in place.
    pub(crate) fn place(&mut self, source: &dyn RowSource, range: Range<usize>) {
        let rows = RowSet::Range(range);
        copy_rows(&mut self.workspace, source, &rows, &self.columns);
    }

    /// How many functions there are.
    pub(crate) fn outputs(&self) -> usize {
        self.plan.n_outputs()
    }

    /// Sets one argument, for all runs that do not set it.
    pub(crate) fn set(&mut self, argument: usize, values: &[f64]) {
        if let Some(slot) = self.arguments[argument] {
            self.workspace.set(slot, values);
        }
    }

    /// What the last run has found.
    pub(crate) fn found(&self) -> &Workspace {
        &self.workspace
    }

    /// The functions of the rows in place, at these arguments; those that are not given stay as they are.
    pub(crate) fn run(&mut self, arguments: &[&[f64]]) -> &Workspace {
        for (slot, values) in self.arguments.iter().zip(arguments) {
            if let Some(slot) = slot {
                self.workspace.set(*slot, values);
            }
        }
        self.plan.run(&mut self.workspace);
        &self.workspace
    }
}
