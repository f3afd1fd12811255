//! Passes over local rows: functions of the rows, computed for one block after another.

use std::ops::Range;

use lehr_graph::{Expr, Workspace};

use crate::program::{Argument, RowProgram};
use crate::{ColumnKind, Columns, RowSet, RowSource, Rows};

/// Rows read at a time if the table is not in memory, or if all of it at once would need too much
/// memory.
const CHUNK: usize = 8192;
/// Bytes, besides the rows, above which a pass works in parts.
const MOST_BYTES: usize = 1 << 30;

/// Local rows, with the columns that a model reads.
#[derive(Clone, Copy)]
pub struct LocalRows<'d> {
    columns: &'d Columns,
    source: &'d dyn RowSource,
    is_resident: bool,
}

/// Functions of the rows and some arguments, computed for one block of rows after another.
pub struct RowPass<'d> {
    source: &'d dyn RowSource,
    blocks: Vec<Block>,
    sums: Vec<Vec<f64>>,
}

/// A program for a block of rows, and the first rows of its blocks.
struct Block {
    program: RowProgram,
    starts: Vec<usize>,
    /// Whether its rows have been set permanently.
    is_placed: bool,
}

impl<'d> LocalRows<'d> {
    /// All rows of a table.
    pub fn new(columns: &'d Columns, source: &'d dyn RowSource) -> LocalRows<'d> {
        let mut kinds = columns.iter().map(|column| column.kind).enumerate();
        let is_resident = kinds.all(|(place, kind)| match kind {
            ColumnKind::Number { .. } => source.whole_column(place).is_some(),
            ColumnKind::Index { .. } => source.whole_indices(place).is_some(),
        });
        LocalRows {
            columns,
            source,
            is_resident,
        }
    }

    /// A sample of the rows of a table, which are always read in blocks.
    pub fn sample(columns: &'d Columns, source: &'d dyn RowSource) -> LocalRows<'d> {
        LocalRows {
            columns,
            source,
            is_resident: false,
        }
    }

    /// The rows.
    pub fn source(&self) -> &'d dyn RowSource {
        self.source
    }

    /// Whether all rows are local and every column is in memory.
    pub fn is_resident(&self) -> bool {
        self.is_resident
    }

    /// The rows in the order in which batches number them.
    pub fn batch_order(&self) -> &'d dyn RowSource {
        self.source.shuffled_source().unwrap_or(self.source)
    }
}

impl<'d> RowPass<'d> {
    /// A pass with the functions that `write` builds. All rows are one block if they and the
    /// results fit into memory.
    pub fn new(
        all: LocalRows<'d>,
        lanes: usize,
        arguments: &[Argument],
        write: impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> RowPass<'d> {
        let n_rows = all.source.n_rows();
        if all.is_resident {
            let pass = RowPass::in_blocks(all, (lanes, n_rows), arguments, &write);
            if n_rows <= CHUNK || pass.blocks[0].program.bytes() <= MOST_BYTES {
                return pass;
            }
        }
        RowPass::in_blocks(all, (lanes, CHUNK), arguments, &write)
    }

    /// A pass over blocks of this many rows, the last of which may be shorter.
    pub fn in_blocks(
        all: LocalRows<'d>,
        (lanes, size): (usize, usize),
        arguments: &[Argument],
        write: impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> RowPass<'d> {
        let n_rows = all.source.n_rows();
        let size = size.min(n_rows);
        let compile = |rows: usize| RowProgram::new(all.columns, (lanes, rows), arguments, &write);
        let mut first = compile(size);
        let is_placed = all.is_resident && size == n_rows;
        if is_placed {
            first.place_all(all.source);
        }
        let mut blocks = vec![Block {
            program: first,
            starts: (0..n_rows / size).map(|k| k * size).collect(),
            is_placed,
        }];
        let rest = n_rows % size;
        if rest > 0 {
            blocks.push(Block {
                program: compile(rest),
                starts: vec![n_rows - rest],
                is_placed: false,
            });
        }
        RowPass {
            source: all.source,
            blocks,
            sums: Vec::new(),
        }
    }

    /// A pass over only these rows, by their numbers in batches.
    pub fn of_rows(
        all: LocalRows<'d>,
        (lanes, numbers): (usize, &[usize]),
        arguments: &[Argument],
        write: impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> RowPass<'d> {
        let source = all.batch_order();
        let shape = (lanes, numbers.len());
        let mut program = RowProgram::new(all.columns, shape, arguments, &write);
        program.place_set(source, &RowSet::List(numbers));
        RowPass {
            source,
            blocks: vec![Block {
                program,
                starts: vec![0],
                is_placed: true,
            }],
            sums: Vec::new(),
        }
    }

    /// The same pass over the rows in the order of batches.
    #[must_use]
    pub fn in_batch_order(mut self) -> RowPass<'d> {
        self.source = self.source.shuffled_source().unwrap_or(self.source);
        for block in &mut self.blocks {
            block.is_placed = false;
        }
        self
    }

    /// Calls `visit` with the results of each block of rows at these arguments, until it returns
    /// something.
    pub fn each<T>(
        &mut self,
        arguments: &[&[f64]],
        mut visit: impl FnMut(Range<usize>, &Workspace) -> Option<T>,
    ) -> Option<T> {
        self.each_block(|rows, program| visit(rows, program.run(arguments)))
    }

    /// Calls `visit` with each block after its rows are set, until it returns something.
    pub fn each_block<T>(
        &mut self,
        mut visit: impl FnMut(Range<usize>, &mut RowProgram) -> Option<T>,
    ) -> Option<T> {
        let source = self.source;
        self.blocks.iter_mut().find_map(|block| {
            let mut places = 0..block.starts.len();
            places.find_map(|k| visit(block.load(source, k), &mut block.program))
        })
    }

    /// The sums of the functions over the blocks, at these arguments.
    pub fn run(&mut self, arguments: &[&[f64]]) -> &[Vec<f64>] {
        let mut sums = std::mem::take(&mut self.sums);
        sums.clear();
        let outputs = self.blocks[0].program.outputs();
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

impl Block {
    /// Sets the rows of the k-th block.
    fn load(&mut self, source: &dyn RowSource, k: usize) -> Range<usize> {
        let range = self.starts[k]..self.starts[k] + self.program.rows();
        if !self.is_placed {
            self.program.place(source, range.clone());
        }
        range
    }
}
