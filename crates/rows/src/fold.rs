//! One pass over all rows: the interface of stores, the cutting of rows into blocks, and control of
//! the pass.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::job::{AnyJob, AnyMachine, AnyPartial, Cut, Placement, RowBlock, RowJob};
use crate::watch::Wish;
use crate::{RowSource, RowsError};

/// The largest number of streamed rows that are computed at a time.
const LARGEST: usize = 8192;

/// All rows of a model, local or elsewhere.
pub trait RowStore: Send + Sync {
    /// Runs a job over all rows.
    ///
    /// # Errors
    /// If rows cannot be reached, or the pass was stopped.
    fn fold(&self, job: &dyn AnyJob, control: &mut AnyControl<'_>)
    -> Result<AnyPartial, RowsError>;

    /// The location of the rows, as a clause.
    fn place(&self) -> &'static str {
        "on a cluster"
    }
}

impl<S: RowStore + ?Sized> RowStore for &S {
    fn fold(
        &self,
        job: &dyn AnyJob,
        control: &mut AnyControl<'_>,
    ) -> Result<AnyPartial, RowsError> {
        (**self).fold(job, control)
    }

    fn place(&self) -> &'static str {
        (**self).place()
    }
}

/// The state of a pass: the result of the rows so far, and the place of the next rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PassPosition<P> {
    /// The next row, or the next part of the files.
    pub next: usize,
    /// The result so far.
    pub partial: P,
}

/// Control of a pass: where it starts, and a function that can stop it.
pub struct PassControl<'a, P> {
    /// The state of a stopped pass to resume.
    pub resume: Option<PassPosition<P>>,
    /// Called with the state of the pass from time to time.
    pub look: &'a mut dyn FnMut(usize, &P) -> Wish,
}

/// A [`PassControl`] with a result of erased type.
pub type AnyControl<'a> = PassControl<'a, AnyPartial>;

/// The result of a job on all rows of a store.
///
/// # Errors
/// If rows cannot be reached.
pub fn fold<J: RowJob>(store: &dyn RowStore, job: &J) -> Result<J::Partial, RowsError> {
    let control = PassControl {
        resume: None,
        look: &mut |_, _| Wish::Continue,
    };
    fold_watched(store, job, control)
}

/// The result of a job in a pass that can be stopped and resumed.
///
/// # Errors
/// If rows cannot be reached, or the pass was stopped.
pub fn fold_watched<J: RowJob>(
    store: &dyn RowStore,
    job: &J,
    control: PassControl<'_, J::Partial>,
) -> Result<J::Partial, RowsError> {
    const OWN: &str = "a store returns the results of the job";
    let look = control.look;
    let mut control = AnyControl {
        resume: control.resume.map(|passed| PassPosition {
            next: passed.next,
            partial: Box::new(passed.partial) as AnyPartial,
        }),
        look: &mut |next, partial| look(next, partial.downcast_ref().expect(OWN)),
    };
    let found = store.fold(job, &mut control)?;
    Ok(*found.downcast().expect(OWN))
}

/// Machines that are kept from pass to pass, by the properties that they depend on.
#[derive(Default)]
pub struct MachinePool {
    machines: BTreeMap<Key, PooledMachine>,
}

/// The name of a job, its shape, and the number of rows of a block.
type Key = (&'static str, Vec<u64>, usize);

struct PooledMachine {
    machine: AnyMachine,
    /// Whether the machine borrows all rows of a table in memory.
    has_all: bool,
}

impl MachinePool {
    fn machine(&mut self, job: &dyn AnyJob, rows: usize) -> &mut PooledMachine {
        let key = (job.name(), job.shape(), rows);
        self.machines.entry(key).or_insert_with(|| PooledMachine {
            machine: job.machine(rows),
            has_all: false,
        })
    }

    /// Bytes that a machine for this many rows needs besides the rows.
    pub(crate) fn bytes(&mut self, job: &dyn AnyJob, rows: usize) -> usize {
        job.bytes(&self.machine(job, rows).machine)
    }

    /// Removes a machine that will not be used.
    pub(crate) fn drop_machine(&mut self, job: &dyn AnyJob, rows: usize) {
        self.machines.remove(&(job.name(), job.shape(), rows));
    }

    /// Adds all rows of a table in memory at once.
    pub(crate) fn add_all(
        &mut self,
        job: &dyn AnyJob,
        source: &dyn RowSource,
        into: &mut AnyPartial,
    ) {
        let range = 0..source.n_rows();
        let kept = self.machine(job, machine_rows(job, range.len()));
        let placement = match (job.cut(), kept.has_all) {
            (Cut::Any, _) => Placement::Copied,
            (_, true) => Placement::Kept,
            (_, false) => Placement::Lent,
        };
        kept.has_all = true;
        let block = RowBlock {
            source,
            range,
            placement,
        };
        job.add_block(&mut kept.machine, &block, into);
    }

    /// Adds a block whose rows are copied.
    pub(crate) fn add_copied(
        &mut self,
        job: &dyn AnyJob,
        (source, range): (&dyn RowSource, std::ops::Range<usize>),
        into: &mut AnyPartial,
    ) {
        let kept = self.machine(job, machine_rows(job, range.len()));
        let block = RowBlock {
            source,
            range,
            placement: Placement::Copied,
        };
        job.add_block(&mut kept.machine, &block, into);
    }
}

/// The number of rows for which the machine of such a block is compiled.
fn machine_rows(job: &dyn AnyJob, rows: usize) -> usize {
    match job.cut() {
        Cut::Any => 0,
        _ => rows,
    }
}

/// A job on streamed rows, which come in blocks of any length and are not kept. Blocks are cut into
/// pieces whose lengths are powers of 2, so that few machines are needed.
pub struct BlockFold<'a> {
    job: &'a dyn AnyJob,
    pool: &'a mut MachinePool,
    partial: Option<AnyPartial>,
}

impl<'a> BlockFold<'a> {
    /// A job without any rows yet.
    pub fn new(job: &'a dyn AnyJob, pool: &'a mut MachinePool) -> BlockFold<'a> {
        BlockFold {
            job,
            pool,
            partial: None,
        }
    }

    /// Adds a block of rows with the columns of the model.
    pub fn add_block(&mut self, source: &dyn RowSource) {
        let partial = self.partial.get_or_insert_with(|| self.job.empty());
        let most = match self.job.cut() {
            Cut::Whole => LARGEST,
            Cut::AtMost(most) => most,
            Cut::Any => usize::MAX,
        };
        let (mut first, n_rows) = (0, source.n_rows());
        while first < n_rows {
            let left = n_rows - first;
            let length = match self.job.cut() {
                Cut::Any => left,
                _ => most.min(1 << left.ilog2()),
            };
            let range = first..first + length;
            self.pool.add_copied(self.job, (source, range), partial);
            first += length;
        }
    }

    /// The result of all blocks; `None` without a block.
    pub fn finish(self) -> Option<AnyPartial> {
        self.partial
    }
}

/// Merges the next result into the previous ones.
pub fn merge_next(job: &dyn AnyJob, all: &mut Option<AnyPartial>, next: AnyPartial) {
    match all {
        Some(all) => job.merge(all, next),
        None => *all = Some(next),
    }
}
