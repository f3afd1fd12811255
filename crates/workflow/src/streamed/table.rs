//! Files from which a regression learns: every part by itself, on all threads. A random sample of
//! the rows is drawn in the same pass.

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lehr_learn::{Accumulator, Blocks, EachBlock, LearnError, LearningResult};
use lehr_numeric::order::permutation;
use lehr_numeric::stream::Stream;
use lehr_rows::part::{OrderedMerge, fold_parts};
use lehr_table::{Field, Part, Progress, ReadOptions, Stack, Stage, Table, TableError};

use super::distinct::{CountedTable, DistinctCounter};
use crate::error::Error;
use crate::file_table::FileTable;
use crate::part::PartRows;

/// The factor by which more rows are drawn than requested, so that there are almost certainly
/// enough.
const SURPLUS: f64 = 1.1;

/// Parquet files that all threads read again for every pass of learning.
pub(super) struct StreamedTable<'a> {
    files: &'a FileTable<'a>,
    reader: PartReader<'a>,
    pub(super) seen: RefCell<PassResults>,
}

/// The data that every thread needs.
struct PartReader<'a> {
    parts: &'a [Part],
    options: &'a ReadOptions,
    fields: &'a [Field],
    /// The number of rows of all parts.
    total: u64,
    /// The number of rows to draw at random, and the largest number of distinct rows to keep.
    wanted: (usize, usize),
}

/// The results of the passes so far.
#[derive(Default)]
pub(super) struct PassResults {
    pub(super) passes: usize,
    pub(super) rows: u64,
    pub(super) dropped: usize,
    /// Rows in random order, from the first pass.
    pub(super) sample: Option<Table>,
    /// The distinct rows from the first pass, if there are few.
    pub(super) distinct: Option<CountedTable>,
}

/// An accumulator, or the reason why it refused a row.
type AccumulatorResult = Result<Box<dyn Accumulator>, LearnError>;

/// The results of one part.
struct PartResult {
    accumulators: Vec<AccumulatorResult>,
    rows: u64,
    dropped: usize,
    picked: Option<Table>,
    distinct: Option<CountedTable>,
    /// The missing values of each column in which none are allowed.
    missing: Vec<(String, usize)>,
}

/// The state that all parts share while the rows are read.
struct PassState {
    /// Whether rows are kept: a sample of them, and the distinct ones if there are few.
    picks: bool,
    /// Whether there are more distinct rows than may be kept.
    many: AtomicBool,
    /// The number of rows so far.
    done: AtomicU64,
}

/// The results of all parts so far, merged in order as soon as possible, so that only a few of them
/// are in memory at a time.
struct PartMerger {
    order: OrderedMerge<PartResult>,
    learned: Vec<AccumulatorResult>,
    rows: u64,
    dropped: usize,
    picked: Vec<Table>,
    distinct: Option<DistinctCounter>,
    missing: Vec<(String, usize)>,
}

const CALM: &str = "nobody panics with it";

impl PartMerger {
    fn new(
        accumulators: Vec<Box<dyn Accumulator>>,
        distinct: Option<DistinctCounter>,
    ) -> PartMerger {
        PartMerger {
            distinct,
            order: OrderedMerge::default(),
            learned: accumulators.into_iter().map(Ok).collect(),
            rows: 0,
            dropped: 0,
            picked: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn take(&mut self, part: usize, learnt: PartResult) {
        for learnt in self.order.put(part, learnt) {
            self.rows += learnt.rows;
            self.dropped += learnt.dropped;
            self.picked.extend(learnt.picked);
            self.distinct = self.distinct.take().zip(learnt.distinct).and_then(join);
            for (name, count) in learnt.missing {
                match self.missing.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, all)) => *all += count,
                    None => self.missing.push((name, count)),
                }
            }
            for (all, own) in self.learned.iter_mut().zip(learnt.accumulators) {
                match (all, own) {
                    (Ok(all), Ok(own)) => all.merge(own),
                    (all @ Ok(_), Err(error)) => *all = Err(error),
                    (Err(_), _) => {}
                }
            }
        }
    }

    /// Returns an error with the number of missing values in all parts.
    fn refuse_missing(&self) -> Result<(), LearnError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let error = TableError::Missing {
            columns: self.missing.clone(),
            rows: self.rows as usize,
        };
        Err(LearnError::Read(error.to_string()))
    }
}

impl Blocks for StreamedTable<'_> {
    fn names(&self) -> &[String] {
        self.files.names()
    }

    fn is_text(&self, name: &str) -> bool {
        self.files.is_text(name)
    }

    fn each(&self, columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), LearnError> {
        self.files.each(columns, visit)
    }

    /// The first rows of the first part.
    fn peek_rows(&self, columns: &[&str]) -> Result<Option<Table>, LearnError> {
        let first = self.reader.rows(0).first(columns);
        first.map_err(Error::into_learn_error)
    }

    fn accumulate(
        &self,
        accumulator: Box<dyn Accumulator>,
    ) -> Result<(usize, Box<dyn Accumulator>), LearnError> {
        let (rows, mut learned) = self.pass(vec![accumulator])?;
        Ok((rows, learned.swap_remove(0)?))
    }

    fn accumulate_all(
        &self,
        accumulators: Vec<Box<dyn Accumulator>>,
    ) -> Result<(usize, LearningResult), LearnError> {
        let (rows, learned) = self.pass(accumulators)?;
        Ok((rows, learned.into_iter().map(Result::ok).collect()))
    }
}

impl<'a> StreamedTable<'a> {
    /// Passes all rows to these accumulators, each of which may fail.
    fn pass(
        &self,
        accumulators: Vec<Box<dyn Accumulator>>,
    ) -> Result<(usize, Vec<AccumulatorResult>), LearnError> {
        let before = copies(&accumulators);
        let reader = &self.reader;
        let picks = self.seen.borrow().sample.is_none();
        let passing = PassState {
            picks,
            many: AtomicBool::new(!picks),
            done: AtomicU64::new(0),
        };
        let distinct = picks.then(|| reader.distinct(&accumulators[0].columns()));
        let gathered = Mutex::new(PartMerger::new(accumulators, distinct));
        let work = |part: usize| {
            let learnt = reader.learn(part, copies(&before), &passing)?;
            let mut gathered = gathered.lock().expect(CALM);
            gathered.take(part, learnt);
            (passing.many).fetch_or(gathered.distinct.is_none(), Ordering::Relaxed);
            Ok(())
        };
        let watch = &mut || {
            let rows = passing.done.load(Ordering::Relaxed);
            self.files.observer.rows(Progress {
                stage: Stage::Reading,
                rows,
                share: (rows as f64 / reader.total.max(1) as f64).min(1.0),
            })
        };
        fold_parts(reader.parts.len(), work, watch).map_err(Error::into_learn_error)?;
        let gathered = gathered.into_inner().expect(CALM);
        gathered.refuse_missing()?;
        let mut seen = self.seen.borrow_mut();
        seen.passes += 1;
        (seen.rows, seen.dropped) = (gathered.rows, gathered.dropped);
        if picks {
            seen.sample = Some(reader.sample(&gathered.picked)?);
            let distinct = gathered.distinct.map(DistinctCounter::finish).transpose();
            let distinct = distinct.map_err(|error| Error::from(error).into_learn_error())?;
            seen.distinct = distinct.filter(CountedTable::pays);
        }
        Ok((seen.rows as usize, gathered.learned))
    }

    /// The table in these parts of files. `wanted` is the number of rows to draw at random and the
    /// largest number of distinct rows to keep.
    pub(super) fn new(files: &'a FileTable<'a>, parts: &'a [Part], wanted: (usize, usize)) -> Self {
        StreamedTable {
            files,
            reader: PartReader {
                parts,
                options: files.options,
                fields: &files.fields,
                total: parts.iter().map(|part| part.rows).sum(),
                wanted,
            },
            seen: RefCell::default(),
        }
    }
}

impl PartReader<'_> {
    fn rows(&self, part: usize) -> PartRows {
        PartRows {
            part: self.parts[part].clone(),
            options: self.options.clone(),
        }
    }

    fn fields<S: AsRef<str>>(&self, columns: &[S]) -> Vec<Field> {
        let wanted = |field: &&Field| columns.iter().any(|name| name.as_ref() == field.name);
        self.fields.iter().filter(wanted).cloned().collect()
    }

    /// An empty table with these columns.
    fn stack<S: AsRef<str>>(&self, columns: &[S]) -> Stack {
        Stack::new(&self.fields(columns))
    }

    /// Learns from the rows of one part, draws some of them, and counts the distinct ones while
    /// they are few.
    fn learn(
        &self,
        part: usize,
        accumulators: Vec<Box<dyn Accumulator>>,
        passing: &PassState,
    ) -> Result<PartResult, Error> {
        let columns = accumulators[0].columns();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut accumulators: Vec<AccumulatorResult> = accumulators.into_iter().map(Ok).collect();
        let mut keeper = passing.picks.then(|| self.keeper(part, &columns));
        let mut rows = 0;
        let scanned = self.rows(part).each(&columns, &mut |batch, first| {
            for accumulator in &mut accumulators {
                if let Ok(own) = accumulator
                    && let Err(error) = own.add_rows(batch, first as usize)
                {
                    *accumulator = Err(error);
                }
            }
            if let Some(keeper) = &mut keeper {
                keeper.see(batch, &passing.many);
            }
            rows += batch.n_rows() as u64;
            (passing.done).fetch_add(batch.n_rows() as u64, Ordering::Relaxed);
            Ok(())
        });
        let (dropped, missing) = match scanned {
            Ok(dropped) => (dropped, Vec::new()),
            Err(Error::Table(TableError::Missing { columns, .. })) => (0, columns),
            Err(error) => return Err(error),
        };
        let (picked, distinct) = keeper.map(SampleCollector::finish).transpose()?.unzip();
        Ok(PartResult {
            accumulators,
            rows,
            dropped,
            picked,
            distinct: distinct.flatten(),
            missing,
        })
    }

    fn distinct<S: AsRef<str>>(&self, columns: &[S]) -> DistinctCounter {
        DistinctCounter::new(&self.fields(columns), self.wanted.1)
    }

    fn keeper(&self, part: usize, columns: &[&str]) -> SampleCollector {
        let share = SURPLUS * self.wanted.0 as f64 / self.total as f64;
        SampleCollector {
            picker: BernoulliSampler::new(share, part as u64),
            stack: self.stack(columns),
            distinct: Some(self.distinct(columns)),
        }
    }

    /// The rows that were drawn, in random order, and no more than requested.
    fn sample(&self, picked: &[Table]) -> Result<Table, LearnError> {
        let names = picked.first().map_or(&[][..], |first| first.names());
        let mut stack = self.stack(names);
        for picked in picked {
            stack.push_batch(picked);
        }
        let all = stack.into_table();
        let all = all.map_err(|error| Error::from(error).into_learn_error())?;
        let mut order = permutation(all.n_rows(), 0);
        order.truncate(self.wanted.0);
        Ok(all.select_rows(&order))
    }
}

/// A copy of each accumulator, to read other rows.
fn copies(accumulators: &[Box<dyn Accumulator>]) -> Vec<Box<dyn Accumulator>> {
    accumulators.iter().map(|own| own.copied()).collect()
}

/// Adds the distinct rows of one more part; `None` if there are too many.
fn join((mut all, own): (DistinctCounter, CountedTable)) -> Option<DistinctCounter> {
    all.add(&own.table, Some(&own.counts)).ok()?;
    Some(all)
}

/// The rows of a part that are kept.
struct SampleCollector {
    picker: BernoulliSampler,
    stack: Stack,
    /// The distinct rows, while they are few.
    distinct: Option<DistinctCounter>,
}

impl SampleCollector {
    fn see(&mut self, batch: &Table, many: &AtomicBool) {
        self.stack
            .push_batch(&batch.select_rows(&self.picker.of(batch.n_rows())));
        let few = self.distinct.as_mut().is_some_and(|distinct| {
            !many.load(Ordering::Relaxed) && distinct.add(batch, None).is_ok()
        });
        if !few {
            self.distinct = None;
            many.store(true, Ordering::Relaxed);
        }
    }

    fn finish(self) -> Result<(Table, Option<CountedTable>), TableError> {
        let distinct = self.distinct.map(DistinctCounter::finish).transpose()?;
        Ok((self.stack.into_table()?, distinct))
    }
}

/// Draws each row of a part with the same probability, by the number of rows to skip between two
/// draws.
struct BernoulliSampler {
    share: f64,
    stream: Stream,
    /// The number of rows to skip before the next drawn row.
    over: f64,
}

impl BernoulliSampler {
    fn new(share: f64, part: u64) -> BernoulliSampler {
        let mut picker = BernoulliSampler {
            share,
            stream: Stream::new(0, "sample of rows", part),
            over: 0.0,
        };
        picker.over = picker.gap();
        picker
    }

    /// The number of rows to skip, from a geometric distribution.
    fn gap(&mut self) -> f64 {
        if self.share >= 1.0 {
            return 0.0;
        }
        // 1 − u is never 0.
        ((1.0 - self.stream.uniform()).ln() / (-self.share).ln_1p()).floor()
    }

    /// The numbers of the rows that are drawn from `rows` rows.
    fn of(&mut self, rows: usize) -> Vec<usize> {
        let mut drawn = Vec::new();
        let mut at = self.over;
        while at < rows as f64 {
            drawn.push(at as usize);
            at += 1.0 + self.gap();
        }
        self.over = at - rows as f64;
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_drawn_equally_often_whatever_the_blocks() {
        let mut halves = [0_usize; 2];
        for part in 0..200 {
            let mut picker = BernoulliSampler::new(0.1, part);
            for block in 0..10 {
                let drawn = picker.of(100);
                assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(drawn.iter().all(|row| *row < 100));
                halves[block / 5] += drawn.len();
            }
        }
        // Binomial with n = 100,000 and p = 0.1: its standard deviation is 95.
        for half in halves {
            assert!((half as f64 - 10_000.0).abs() < 4.0 * 95.0, "{halves:?}");
        }
        assert!(BernoulliSampler::new(2.0, 0).of(5).into_iter().eq(0..5));
    }
}
