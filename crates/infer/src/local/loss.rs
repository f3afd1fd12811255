//! The loss of chains over local latents relative to the integrals that they bound.

use lehr_density::{Density, RowSet, Rows, rows_here};
use lehr_graph::{Graph, Slot};
use lehr_numeric::batch::BatchError;
use lehr_rows::LANES;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::guide::{Context, Guide, LearnedBlocks, ROW_NUMBERS};
use crate::program::Program;
use crate::run::{Run, StageFingerprint};
use lehr_rows::lend::{copy_rows, read_columns};
use lehr_rows::watch::{End, Progress};

/// Rows that are processed together.
const ROWS: usize = 1024;
/// Separates the noise from that of training and of draws.
const APART: u64 = 0x5eed_0000_10ca_1055;

/// A guide with its learned quantities.
#[derive(Clone, Copy)]
pub struct TrainedGuide<'a> {
    /// The guide.
    pub guide: &'a dyn Guide,
    /// Its learned quantities.
    pub learned: &'a LearnedBlocks,
}

/// Sums over the rows processed so far.
#[derive(Serialize, Deserialize)]
struct Sums {
    rows: usize,
    losses: Vec<f64>,
}

/// Σₙ [log p(yₙ | z) − ℒₙ(z)] over all rows, for each draw of z: the loss of a guide's estimates
/// relative to the log likelihood of its density. A stage of a run.
///
/// # Errors
/// If the observer stops the fit, or the table has too many rows to number.
pub fn row_losses(
    density: &dyn Density,
    trained: TrainedGuide<'_>,
    draws: &[f64],
    run: &mut Run<'_>,
) -> Result<Vec<f64>, TrainError> {
    let (size, n_rows) = (density.latents().size(), density.n_rows());
    let mut stamp = StageFingerprint::of(draws);
    let mut sums = run.resume(&stamp)?.unwrap_or_else(|| Sums {
        rows: 0,
        losses: vec![0.0; draws.len() / size],
    });
    let mut block: Option<Block> = None;
    while sums.rows < n_rows {
        let count = ROWS.min(n_rows - sums.rows);
        let known = block.take().filter(|known| known.rows == count);
        let mut now = match known {
            Some(known) => known,
            None => Block::new(density, trained, count, run.seed)?,
        };
        now.load(density, trained.learned, sums.rows);
        now.add_to(&mut sums, draws, size);
        sums.rows += count;
        block = Some(now);
        let progress = Progress::counted(sums.rows as u64, "rows", End::At(n_rows as u64));
        run.look(&mut stamp, &progress, &sums)?;
    }
    run.finish(&stamp, &sums)?;
    Ok(sums.losses)
}

/// The program for the losses of a block of rows.
struct Block {
    program: Program,
    latents: Option<Slot>,
    own: Option<Slot>,
    columns: Vec<(usize, Slot)>,
    rows: usize,
}

impl Block {
    fn new(
        density: &dyn Density,
        trained: TrainedGuide<'_>,
        count: usize,
        seed: u64,
    ) -> Result<Block, BatchError> {
        let graph = Graph::new();
        let context = Context::new(&graph, density);
        let z = graph.laned_input("draws", [density.latents().size()]);
        let rows = Rows::inputs(&graph, density.columns(), count, "rows.");
        let at = context.at(z);
        let whole = density.log_likelihood(&at, &rows);
        let own = trained.guide.log_likelihood(&context, &at, &rows);
        let lost = (whole - own).sum();
        let seed = seed.wrapping_add(APART);
        let mut program = Program::new(context, &[lost], trained.learned, LANES, seed)?;
        program.set_learned(&trained.learned.values);
        let plan = program.plan();
        Ok(Block {
            latents: plan.input(z),
            own: plan.input_named(ROW_NUMBERS),
            columns: read_columns(plan, &rows),
            rows: count,
            program,
        })
    }

    /// Sets the rows from `first` on, in the order of batches.
    fn load(&mut self, density: &dyn Density, learned: &LearnedBlocks, first: usize) {
        let range = first..first + self.rows;
        let workspace = self.program.workspace_mut();
        if let (Some(slot), Some(values)) = (self.own, learned.get(ROW_NUMBERS)) {
            let width = values.len() / density.n_rows();
            workspace.set(slot, &values[range.start * width..range.end * width]);
        }
        let rows = RowSet::Range(range);
        copy_rows(
            workspace,
            rows_here(density).batch_order(),
            &rows,
            &self.columns,
        );
    }

    /// Adds the losses of the present rows at each draw.
    fn add_to(&mut self, sums: &mut Sums, draws: &[f64], size: usize) {
        let mut lanes = vec![0.0; LANES * size];
        let rounds = draws.len().div_ceil(LANES * size) as u64;
        let first = (sums.rows / ROWS) as u64 * rounds;
        let to = sums.losses.chunks_mut(LANES);
        for ((step, some), to) in (first..).zip(draws.chunks(LANES * size)).zip(to) {
            lanes[..some.len()].copy_from_slice(some);
            // Each step has its own noise.
            self.program.fill_noise(step);
            self.program.workspace_mut().set_input(self.latents, &lanes);
            self.program.run();
            let found = self.program.output(0).iter();
            to.iter_mut().zip(found).for_each(|(to, part)| *to += part);
        }
    }
}
