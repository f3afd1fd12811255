//! Sums over the rows of files that are read anew for every question.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_density::{Counted, Density, FullData, Query, RowsLost, Take};
use lehr_infer::observer::Wish;
use lehr_infer::streamed::RowSums;
use lehr_model::Bound;
use lehr_rows::part::{OrderedMerge, fold_parts};
use lehr_table::{Part, ReadOptions};

use super::pass::RowPass;
use crate::cluster::PartRows;
use crate::error::Error;

/// Answers that are kept: what was asked at the mode is asked again when draws are weighed.
const KEPT: usize = 8;

/// One array per function of a query, for each part.
type Answer = Vec<Vec<Vec<f64>>>;

/// The rows of a model in files. Parts are decoded block by block, each by one thread, and no more than a
/// block of each thread is in memory.
pub(crate) struct StreamedRows {
    parts: Vec<Part>,
    options: ReadOptions,
    pass: RowPass,
    /// What threads have compiled.
    compiled: Mutex<Vec<RowSums>>,
    recent: Mutex<Vec<Known>>,
    passes: AtomicUsize,
}

/// A question and its answer.
struct Known {
    query: Query,
    arguments: Vec<Vec<f64>>,
    answer: Answer,
}

impl Known {
    fn is_of(&self, query: Query, arguments: &[&[f64]]) -> bool {
        self.query == query
            && self
                .arguments
                .iter()
                .map(Vec::as_slice)
                .eq(arguments.iter().copied())
    }
}

impl StreamedRows {
    pub(super) fn new((parts, options): (Vec<Part>, ReadOptions), pass: RowPass) -> StreamedRows {
        StreamedRows {
            parts,
            options,
            pass,
            compiled: Mutex::default(),
            recent: Mutex::default(),
            passes: AtomicUsize::new(0),
        }
    }

    /// How often all rows were read.
    pub(crate) fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }

    /// The sums of one part.
    fn part(&self, part: usize, asked: (Query, &[&[f64]])) -> Result<Vec<Vec<f64>>, Error> {
        let compiled = || self.compiled.lock().expect("nobody panics with it");
        let mut own = compiled().pop().unwrap_or_default();
        let rows = PartRows {
            part: self.parts[part].clone(),
            options: self.options.clone(),
        };
        let found = self.pass.sums(&rows, asked, &mut own)?;
        compiled().push(own);
        Ok(found)
    }

    /// Hands on the sums of the parts as they come, in their order.
    fn hand_on(
        &self,
        query: Query,
        arguments: &[&[f64]],
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        let waiting = Mutex::new((OrderedMerge::default(), take));
        let work = |part: usize| {
            let found = self.part(part, (query, arguments))?;
            let mut waiting = waiting.lock().expect("nobody panics with it");
            let (order, take) = &mut *waiting;
            // Parts without rows say nothing.
            let ready = order.put(part, found).into_iter();
            ready.filter(|one| !one.is_empty()).for_each(take);
            Ok(())
        };
        fold_parts(self.parts.len(), work, &mut || Wish::Continue).map(|_| ())
    }

    fn ask(&self, query: Query, arguments: &[&[f64]]) -> Answer {
        self.passes.fetch_add(1, Ordering::Relaxed);
        let work = |part: usize| self.part(part, (query, arguments));
        let found = fold_parts(self.parts.len(), work, &mut || Wish::Continue);
        let found = found.unwrap_or_else(|error| RowsLost(error.to_string()).unwind());
        // Parts without rows say nothing.
        found.into_iter().filter(|one| !one.is_empty()).collect()
    }
}

/// Rows of files of which few differ: the model on each different one, with how often it occurs. Nothing is read again.
pub(crate) struct DistinctRows {
    model: Counted<Bound>,
    compiled: Mutex<RowSums>,
}

impl DistinctRows {
    pub(super) fn new(model: Counted<Bound>) -> DistinctRows {
        DistinctRows {
            model,
            compiled: Mutex::default(),
        }
    }

    /// How many rows differ.
    pub(super) fn n_rows(&self) -> usize {
        self.model.n_rows()
    }
}

impl FullData for DistinctRows {
    fn each(&self, query: Query, arguments: &[&[f64]]) -> Answer {
        let mut compiled = self.compiled.lock().expect("nobody panics with it");
        let mut passing = compiled.ask(&self.model, query, arguments);
        passing.see(self.model.source());
        vec![passing.finish()]
    }

    fn place(&self) -> &'static str {
        "in files"
    }
}

impl FullData for StreamedRows {
    fn in_order(&self, query: Query, arguments: &[&[f64]], take: &mut Take<'_>) {
        let done = self.hand_on(query, arguments, take);
        done.unwrap_or_else(|error| RowsLost(error.to_string()).unwind());
    }

    fn each(&self, query: Query, arguments: &[&[f64]]) -> Answer {
        let recent = || self.recent.lock().expect("nobody panics with it");
        if let Some(known) = recent().iter().find(|known| known.is_of(query, arguments)) {
            return known.answer.clone();
        }
        let answer = self.ask(query, arguments);
        let mut recent = recent();
        if recent.len() == KEPT {
            recent.remove(0);
        }
        recent.push(Known {
            query,
            arguments: arguments.iter().map(|one| one.to_vec()).collect(),
            answer: answer.clone(),
        });
        answer
    }

    fn place(&self) -> &'static str {
        "in files that are read for every pass"
    }
}
