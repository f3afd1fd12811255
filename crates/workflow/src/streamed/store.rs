//! The store of rows in files that are read again for every pass.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_density::{Density, WeightedModel};
use lehr_infer::job::read_job;
use lehr_learn::LearnError;
use lehr_model::Bound;
use lehr_regression::RegressionError;
use lehr_rows::part::{OrderedMerge, fold_parts};
use lehr_rows::watch::Wish;
use lehr_rows::{
    AnyControl, AnyJob, AnyPartial, BlockFold, MachinePool, RowStore, RowsError, merge_next,
};
use lehr_table::{Part, ReadOptions};

use crate::error::Error;
use crate::part::{PartPass, PartRows};

/// The number of results to keep: the sums at the mode are requested again when draws are weighed.
const KEPT: usize = 8;

/// The rows of a model in files. Each part is decoded by one thread, block by block, and at most
/// one block per thread is in memory.
pub(crate) struct ParquetStore {
    parts: Vec<Part>,
    options: ReadOptions,
    pass: PartPass,
    /// The machines of the threads.
    pools: Mutex<Vec<MachinePool>>,
    recent: Mutex<Vec<CachedResult>>,
    passes: AtomicUsize,
}

/// A job and its result.
struct CachedResult {
    name: &'static str,
    message: Vec<u8>,
    result: AnyPartial,
}

/// The results of parts, merged in the order of the parts as soon as possible.
#[derive(Default)]
struct PartialMerger {
    order: OrderedMerge<Option<AnyPartial>>,
    all: Option<AnyPartial>,
    /// The number of parts that have been merged.
    parts: usize,
}

const CALM: &str = "no thread panics with it";

impl PartialMerger {
    /// Takes the result of a part, and merges all results that are next in order.
    fn take(&mut self, job: &dyn AnyJob, part: usize, found: Option<AnyPartial>) {
        for found in self.order.put(part, found) {
            self.parts += 1;
            // Parts without rows have no result.
            if let Some(found) = found {
                merge_next(job, &mut self.all, found);
            }
        }
    }
}

impl ParquetStore {
    pub(super) fn new((parts, options): (Vec<Part>, ReadOptions), pass: PartPass) -> ParquetStore {
        ParquetStore {
            parts,
            options,
            pass,
            pools: Mutex::default(),
            recent: Mutex::default(),
            passes: AtomicUsize::new(0),
        }
    }

    /// The number of passes over all rows.
    pub(crate) fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }

    /// The result of one part.
    fn part(&self, part: usize, job: &dyn AnyJob) -> Result<Option<AnyPartial>, Error> {
        let mut pool = self.pools.lock().expect(CALM).pop().unwrap_or_default();
        let rows = PartRows {
            part: self.parts[part].clone(),
            options: self.options.clone(),
        };
        let found = self.pass.fold(&rows, job, &mut pool)?;
        self.pools.lock().expect(CALM).push(pool);
        Ok(found)
    }

    /// The result of all parts.
    fn pass(&self, job: &dyn AnyJob, control: &mut AnyControl<'_>) -> Result<AnyPartial, Error> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        let (first, all) = match control.resume.take() {
            Some(passed) => (passed.next, Some(passed.partial)),
            None => (0, None),
        };
        let merged = Mutex::new(PartialMerger {
            all,
            ..PartialMerger::default()
        });
        let work = |part: usize| {
            let found = self.part(first + part, job)?;
            merged.lock().expect(CALM).take(job, part, found);
            Ok::<_, Error>(())
        };
        let mut watch = || {
            let merged = merged.lock().expect(CALM);
            let look = |all| (control.look)(first + merged.parts, all);
            merged.all.as_ref().map_or(Wish::Continue, look)
        };
        fold_parts(self.parts.len() - first, work, &mut watch)?;
        let merged = merged.into_inner().expect(CALM);
        Ok(merged.all.unwrap_or_else(|| job.empty()))
    }
}

impl RowStore for ParquetStore {
    fn fold(
        &self,
        job: &dyn AnyJob,
        control: &mut AnyControl<'_>,
    ) -> Result<AnyPartial, RowsError> {
        let (name, message) = (job.name(), job.message());
        let recent = || self.recent.lock().expect(CALM);
        let is_it = |known: &&CachedResult| known.name == name && known.message == message;
        if let Some(known) = recent().iter().find(is_it) {
            return Ok(job.copied(&known.result));
        }
        // The job refers to the model of the files, not to the model of the sample.
        let own = read_job(self.pass.model(), name, &message)?;
        let result = self.pass(&*own, control).map_err(lost)?;
        if own.is_repeated() {
            let mut recent = recent();
            if recent.len() == KEPT {
                recent.remove(0);
            }
            recent.push(CachedResult {
                name,
                message,
                result: own.copied(&result),
            });
        }
        Ok(result)
    }

    fn place(&self) -> &'static str {
        "in files that are read for every pass"
    }
}

/// The error of a part as an error of reading rows.
fn lost(error: Error) -> RowsError {
    match error {
        Error::Regression(RegressionError::Learn(LearnError::Stopped)) => RowsError::Stopped,
        error => RowsError::Lost(error.to_string()),
    }
}

/// The store of few distinct rows: the model on each distinct row, with its count. Nothing is read
/// again.
pub(crate) struct DistinctStore {
    model: WeightedModel<Bound>,
    pool: Mutex<MachinePool>,
}

impl DistinctStore {
    pub(super) fn new(model: WeightedModel<Bound>) -> DistinctStore {
        DistinctStore {
            model,
            pool: Mutex::default(),
        }
    }

    /// The number of distinct rows.
    pub(super) fn n_rows(&self) -> usize {
        self.model.n_rows()
    }
}

impl RowStore for DistinctStore {
    fn fold(&self, job: &dyn AnyJob, _: &mut AnyControl<'_>) -> Result<AnyPartial, RowsError> {
        let own = read_job(&self.model, job.name(), &job.message())?;
        let mut pool = self.pool.lock().expect(CALM);
        let mut passing = BlockFold::new(&*own, &mut pool);
        passing.add_block(self.model.source());
        Ok(passing.finish().unwrap_or_else(|| own.empty()))
    }

    fn place(&self) -> &'static str {
        "in files"
    }
}
