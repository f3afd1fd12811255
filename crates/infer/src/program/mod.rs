//! A compiled program with everything it needs to run: learned values, noise and rows.

mod own;

pub(crate) use own::OwnRows;

use std::ops::Range;
use std::sync::Arc;

use lehr_density::{Density, RowSet, RowSource, Rows};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};
use lehr_numeric::batch::{BatchError, Epochs};
use lehr_numeric::stream::Stream;

use crate::guide::{Context, LearnedBlocks, ProgramInput, RowInput, WhitenedDensity, Whitening};
use lehr_rows::lend::{copy_rows, lend_all, lend_rows, read_columns};

/// The purpose of the batches that score a step.
pub(crate) const SCORE: &str = "score";

/// A plan and its workspace, with the inputs that each run provides.
///
/// Random inputs are named by (seed, purpose, step), so any step can be replayed. Filling and
/// running allocate nothing.
pub struct Program {
    plan: Plan,
    workspace: Workspace,
    learned: Vec<(Range<usize>, Slot)>,
    noise: Vec<Slot>,
    batches: Vec<Batch>,
    seed: u64,
}

/// A mini-batch that is drawn anew at every step.
struct Batch {
    epochs: Epochs,
    numbers: Vec<u32>,
    rows: Vec<usize>,
    columns: Vec<(usize, Slot)>,
    purpose: String,
    /// Rows that count as 0 in an input.
    others: Option<(Arc<[usize]>, Slot)>,
    /// The learned numbers of its rows.
    own: Option<Slot>,
}

impl Program {
    /// Compiles `outputs`, which were written in `context`, for this many lanes.
    ///
    /// # Errors
    /// If a batch is larger than the table.
    pub fn new<'g>(
        context: Context<'g, '_>,
        outputs: &[Expr<'g>],
        learned: &LearnedBlocks,
        lanes: usize,
        seed: u64,
    ) -> Result<Program, BatchError> {
        let density = context.density();
        let plan = Plan::new(outputs, lanes);
        let mut program = Program {
            workspace: plan.workspace(),
            plan,
            learned: Vec::new(),
            noise: Vec::new(),
            batches: Vec::new(),
            seed,
        };
        for need in context.into_inputs() {
            program.meet(need, density, learned)?;
        }
        Ok(program)
    }

    fn meet(
        &mut self,
        need: ProgramInput<'_>,
        density: &dyn Density,
        learned: &LearnedBlocks,
    ) -> Result<(), BatchError> {
        match need {
            ProgramInput::Learned(name, input) => {
                if let Some(slot) = self.plan.input(input) {
                    let range = learned.range_of(&name);
                    self.learned
                        .push((range.expect("a block of this fit"), slot));
                }
            }
            ProgramInput::Noise(input) => self.noise.extend(self.plan.input(input)),
            ProgramInput::Fixed(values, input) => {
                if let Some(slot) = self.plan.input(input) {
                    self.workspace.lend(slot, &values);
                }
            }
            ProgramInput::Rows(input, rows) => self.meet_rows(&input, &rows, density)?,
            ProgramInput::Others(purpose, rows, input) => {
                let slot = self.plan.input(input);
                let batch = self.batches.iter_mut().find(|b| b.purpose == purpose);
                if let (Some(slot), Some(batch)) = (slot, batch) {
                    batch.others = Some((rows, slot));
                }
            }
            ProgramInput::Own(input) => {
                let slot = self.plan.input(input);
                let batch = self.batches.iter_mut().find(|b| b.purpose == SCORE);
                if let Some(batch) = batch {
                    batch.own = slot;
                }
            }
        }
        Ok(())
    }

    fn meet_rows(
        &mut self,
        input: &RowInput,
        rows: &Rows<'_>,
        density: &dyn Density,
    ) -> Result<(), BatchError> {
        let columns = read_columns(&self.plan, rows);
        match input {
            RowInput::All => lend_all(&mut self.workspace, density.source(), &columns),
            RowInput::Fixed(data) => lend_all(&mut self.workspace, data.as_ref(), &columns),
            RowInput::Batch { size, purpose } => {
                let n_rows = density.n_rows() as u64;
                self.batches.push(Batch {
                    epochs: Epochs::new(n_rows, *size, self.seed, purpose)?,
                    numbers: vec![0; *size],
                    rows: vec![0; *size],
                    columns,
                    purpose: purpose.clone(),
                    others: None,
                    own: None,
                });
            }
        }
        Ok(())
    }

    /// Fills the random inputs of a step.
    pub fn fill(&mut self, source: &dyn RowSource, step: u64) {
        self.fill_noise(step);
        for batch in &mut self.batches {
            batch.fill(&mut self.workspace, source, step);
        }
    }

    /// Fills the random inputs of a step other than its rows.
    pub fn fill_noise(&mut self, step: u64) {
        let mut stream = Stream::new(self.seed, "noise", step);
        for &slot in &self.noise {
            stream.fill_normal(self.workspace.numbers_mut(slot));
        }
    }

    /// Copies the learned numbers of the present rows from a table.
    pub(crate) fn fill_own(&mut self, table: &OwnRows) {
        for batch in &self.batches {
            if let Some(slot) = batch.own {
                table.copy(&batch.rows, self.workspace.numbers_mut(slot));
            }
        }
    }

    /// The present rows with learned numbers of their own.
    pub(crate) fn own_rows(&self) -> &[usize] {
        let batch = self.batches.iter().find(|batch| batch.own.is_some());
        batch.map_or(&[], |batch| &batch.rows)
    }

    /// Sets the learned values.
    pub fn set_learned(&mut self, values: &[f64]) {
        for (range, slot) in &self.learned {
            self.workspace.set(*slot, &values[range.clone()]);
        }
    }

    /// Computes the outputs.
    pub fn run(&mut self) {
        self.plan.run(&mut self.workspace);
    }

    /// An output of the last run.
    pub fn output(&self, place: usize) -> &[f64] {
        self.workspace.output(place)
    }

    /// Copies several outputs of the last run, one after another.
    pub(crate) fn gather(&self, places: std::ops::RangeInclusive<usize>, to: &mut [f64]) {
        let mut rest = to;
        for place in places {
            let part = self.output(place);
            let (head, tail) = rest.split_at_mut(part.len());
            head.copy_from_slice(part);
            rest = tail;
        }
    }

    /// Whether a run reads a mini-batch, which all its lanes share.
    pub fn reads_batches(&self) -> bool {
        !self.batches.is_empty()
    }

    /// The plan, for inspection.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The memory, to set inputs by hand.
    pub fn workspace_mut(&mut self) -> &mut Workspace {
        &mut self.workspace
    }
}

impl Batch {
    fn fill(&mut self, workspace: &mut Workspace, source: &dyn RowSource, step: u64) {
        match source.shuffled_source() {
            Some(shuffled) => self.fill_consecutive(workspace, shuffled, step),
            None => self.fill_scattered(workspace, source, step),
        }
    }

    fn fill_scattered(&mut self, workspace: &mut Workspace, source: &dyn RowSource, step: u64) {
        self.epochs.fill_batch(step, &mut self.numbers);
        for (row, &number) in self.rows.iter_mut().zip(&self.numbers) {
            *row = number as usize;
        }
        self.fill_others(workspace);
        copy_rows(workspace, source, &RowSet::List(&self.rows), &self.columns);
    }

    /// Lends the rows without a copy, unless they wrap around the end of the table.
    fn fill_consecutive(&mut self, workspace: &mut Workspace, source: &dyn RowSource, step: u64) {
        let first = self.epochs.consecutive_start(step) as usize;
        let (size, n_rows) = (self.rows.len(), source.n_rows());
        let lent = first + size <= n_rows;
        if !lent || self.others.is_some() || self.own.is_some() {
            for (row, at) in self.rows.iter_mut().zip(first..) {
                *row = if at < n_rows { at } else { at % n_rows };
            }
            self.fill_others(workspace);
        }
        if lent {
            lend_rows(workspace, source, first..first + size, &self.columns);
        } else {
            copy_rows(workspace, source, &RowSet::List(&self.rows), &self.columns);
        }
    }

    /// Marks the present rows.
    fn fill_others(&self, workspace: &mut Workspace) {
        if let Some((left_out, slot)) = &self.others {
            let marks = workspace.numbers_mut(*slot);
            for (mark, row) in marks.iter_mut().zip(&self.rows) {
                *mark = f64::from(u8::from(left_out.binary_search(row).is_err()));
            }
        }
    }
}

/// Writes a program on a fresh graph and compiles it, in the latents' own coordinates.
///
/// # Errors
/// If a batch is larger than the table.
pub fn compile(
    density: &dyn Density,
    learned: &LearnedBlocks,
    run: (usize, u64),
    write: impl for<'g> FnOnce(&Context<'g, '_>) -> Vec<Expr<'g>>,
) -> Result<Program, BatchError> {
    let place = WhitenedDensity::new(density, &Whitening::Identity);
    compile_within(place, learned, run, write)
}

/// Writes a program on a fresh graph and compiles it for this many lanes and this seed.
///
/// # Errors
/// If a batch is larger than the table.
pub fn compile_within(
    place: WhitenedDensity<'_>,
    learned: &LearnedBlocks,
    (lanes, seed): (usize, u64),
    write: impl for<'g> FnOnce(&Context<'g, '_>) -> Vec<Expr<'g>>,
) -> Result<Program, BatchError> {
    let graph = Graph::new();
    let context = Context::within(&graph, place.density, place.whitening);
    let outputs = write(&context);
    Program::new(context, &outputs, learned, lanes, seed)
}
