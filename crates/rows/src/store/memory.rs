//! Local rows: one block if they are in memory, otherwise block after block as they are read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::fold::{AnyControl, MachinePool, PassPosition, RowStore};
use crate::job::{AnyJob, AnyPartial, Cut};
use crate::watch::Wish;
use crate::{LocalRows, RowsError};

/// Rows read at a time if the table is not in memory, or if all of it at once would need too much
/// memory.
const CHUNK: usize = 8192;
/// Bytes, besides the rows, above which a pass works in parts.
const MOST_BYTES: usize = 1 << 30;

/// The rows of this process.
pub struct MemoryStore<'d> {
    rows: LocalRows<'d>,
    machines: Arc<Machines>,
}

/// The machines of one model on the rows of one table, kept from pass to pass.
#[derive(Default)]
pub struct Machines(Mutex<SizedPool>);

#[derive(Default)]
struct SizedPool {
    pool: MachinePool,
    /// The number of rows of a block, by the name and the shape of a job.
    sizes: BTreeMap<(&'static str, Vec<u64>), usize>,
}

impl<'d> MemoryStore<'d> {
    /// A store of these rows.
    pub fn new(rows: LocalRows<'d>) -> MemoryStore<'d> {
        MemoryStore {
            rows,
            machines: Arc::default(),
        }
    }

    /// The store with the machines of an earlier store of the same model on the same rows.
    #[must_use]
    pub fn with_machines(self, machines: Arc<Machines>) -> MemoryStore<'d> {
        MemoryStore { machines, ..self }
    }

    /// The number of rows of a block for this job.
    fn block_size(&self, job: &dyn AnyJob, kept: &mut SizedPool) -> usize {
        let n_rows = self.rows.source().n_rows();
        match job.cut() {
            Cut::Any => n_rows,
            Cut::AtMost(most) => most.min(n_rows),
            Cut::Whole if !self.rows.is_resident() => CHUNK.min(n_rows),
            Cut::Whole if n_rows <= CHUNK => n_rows,
            Cut::Whole => {
                let pool = &mut kept.pool;
                let known = kept.sizes.entry((job.name(), job.shape()));
                *known.or_insert_with(|| {
                    if pool.bytes(job, n_rows) <= MOST_BYTES {
                        return n_rows;
                    }
                    pool.drop_machine(job, n_rows);
                    CHUNK
                })
            }
        }
    }
}

impl RowStore for MemoryStore<'_> {
    fn fold(
        &self,
        job: &dyn AnyJob,
        control: &mut AnyControl<'_>,
    ) -> Result<AnyPartial, RowsError> {
        let mut kept = self.machines.0.lock().expect("no job panics half-way");
        let (source, n_rows) = (self.rows.source(), self.rows.source().n_rows());
        let size = self.block_size(job, &mut kept);
        let (first, mut partial) = match control.resume.take() {
            Some(PassPosition { next, partial }) => (next, partial),
            None => (0, job.empty()),
        };
        let pool = &mut kept.pool;
        for start in (first..n_rows).step_by(size.max(1)) {
            let end = n_rows.min(start + size);
            if size == n_rows && self.rows.is_resident() {
                pool.add_all(job, source, &mut partial);
            } else {
                pool.add_copied(job, (source, start..end), &mut partial);
            }
            if let Some(lost) = source.failure() {
                return Err(lost);
            }
            if (control.look)(end, &partial) == Wish::Stop {
                return Err(RowsError::Stopped);
            }
        }
        Ok(partial)
    }

    fn place(&self) -> &'static str {
        "in this process"
    }
}
