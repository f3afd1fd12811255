//! Files while a regression learns from them: every part by itself, on all threads, and a random sample
//! of the rows on the way.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use lehr_infer::observer::Wish;
use lehr_numeric::order::permutation;
use lehr_numeric::stream::Stream;
use lehr_table::{Field, Part, Progress, ReadOptions, Stack, Stage, Table, TableError};

use super::crew::each_part;
use crate::blocks::{Blocks, EachBlock, Taught};
use crate::cluster::{PartRows, decoded, encoded};
use crate::error::{Error, RegressionError};
use crate::file_table::FileTable;
use crate::lesson::Lesson;

/// A few more rows than are wanted are drawn, so that there are enough but for bad luck.
const SURPLUS: f64 = 1.1;

/// Parquet files that are read anew for every lesson, by all threads.
pub(super) struct StreamedTable<'a> {
    files: &'a FileTable<'a>,
    reader: Reader<'a>,
    seen: RefCell<Seen>,
}

/// What every thread needs to know.
struct Reader<'a> {
    parts: &'a [Part],
    options: &'a ReadOptions,
    fields: &'a [Field],
    /// Rows of all parts.
    total: u64,
    /// Rows that are wanted at random.
    wanted: usize,
}

/// What the passes so far have met.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) passes: usize,
    pub(super) rows: u64,
    pub(super) dropped: usize,
    /// Rows in random order, from the first pass.
    pub(super) sample: Option<Table>,
}

/// A lesson, or what some row has in its way.
type Learnt = Result<Lesson, RegressionError>;

/// What was learnt of one part.
struct PartLessons {
    lessons: Vec<Learnt>,
    rows: u64,
    dropped: usize,
    picked: Option<Table>,
    /// The missing values of each column, where there may be none.
    missing: Vec<(String, usize)>,
}

/// What all parts so far have taught, put together in their order as they come, so that no more than a few of
/// them are in memory however many there are.
struct Gathered {
    next: usize,
    /// Parts that came before their turn.
    waiting: BTreeMap<usize, PartLessons>,
    taught: Vec<Learnt>,
    rows: u64,
    dropped: usize,
    picked: Vec<Table>,
    missing: Vec<(String, usize)>,
}

const CALM: &str = "nobody panics with it";

impl Gathered {
    fn new(lessons: Vec<Lesson>) -> Gathered {
        Gathered {
            next: 0,
            waiting: BTreeMap::new(),
            taught: lessons.into_iter().map(Ok).collect(),
            rows: 0,
            dropped: 0,
            picked: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn take(&mut self, part: usize, learnt: PartLessons) {
        self.waiting.insert(part, learnt);
        while let Some(learnt) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.add(learnt);
        }
    }

    fn add(&mut self, learnt: PartLessons) {
        self.rows += learnt.rows;
        self.dropped += learnt.dropped;
        self.picked.extend(learnt.picked);
        for (name, count) in learnt.missing {
            match self.missing.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => *all += count,
                None => self.missing.push((name, count)),
            }
        }
        for (all, own) in self.taught.iter_mut().zip(learnt.lessons) {
            match (all, own) {
                (Ok(all), Ok(own)) => all.merge(own),
                (all @ Ok(_), Err(error)) => *all = Err(error),
                (Err(_), _) => {}
            }
        }
    }

    /// Refuses missing values with their counts in all parts.
    fn refuse_missing(&self) -> Result<(), RegressionError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let error = TableError::Missing {
            columns: self.missing.clone(),
            rows: self.rows as usize,
        };
        Err(RegressionError::Read(error.to_string()))
    }
}

impl Blocks for StreamedTable<'_> {
    fn names(&self) -> &[String] {
        self.files.names()
    }

    fn is_text(&self, name: &str) -> bool {
        self.files.is_text(name)
    }

    fn each(&self, columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), RegressionError> {
        self.files.each(columns, visit)
    }

    /// The first rows of the first part.
    fn glance(&self, columns: &[&str]) -> Result<Option<Table>, RegressionError> {
        self.reader.rows(0).first(columns).map_err(read_error)
    }

    fn teach(&self, lesson: &mut Lesson) -> Result<usize, RegressionError> {
        let own = decoded(&encoded(lesson))?;
        let (rows, mut taught) = self.pass(vec![own])?;
        *lesson = taught.swap_remove(0)?;
        Ok(rows)
    }

    fn teach_all(&self, lessons: Vec<Lesson>) -> Result<(usize, Taught), RegressionError> {
        let (rows, taught) = self.pass(lessons)?;
        Ok((rows, taught.into_iter().map(Result::ok).collect()))
    }
}

impl<'a> StreamedTable<'a> {
    /// Shows all rows to these lessons, each of which may fail.
    fn pass(&self, lessons: Vec<Lesson>) -> Result<(usize, Vec<Learnt>), RegressionError> {
        let before = encoded(&lessons);
        let done = AtomicU64::new(0);
        let (reader, total) = (&self.reader, self.reader.total);
        let picks = self.seen.borrow().sample.is_none();
        let gathered = Mutex::new(Gathered::new(lessons));
        let work = |part: usize| {
            let learnt = reader.learn(part, decoded(&before)?, (picks, &done))?;
            gathered.lock().expect(CALM).take(part, learnt);
            Ok(())
        };
        let watch = &mut || self.tell(done.load(Ordering::Relaxed), total);
        each_part(reader.parts.len(), work, watch).map_err(read_error)?;
        let gathered = gathered.into_inner().expect(CALM);
        gathered.refuse_missing()?;
        let mut seen = self.seen.borrow_mut();
        seen.passes += 1;
        (seen.rows, seen.dropped) = (gathered.rows, gathered.dropped);
        if picks {
            seen.sample = Some(reader.sample(&gathered.picked)?);
        }
        Ok((seen.rows as usize, gathered.taught))
    }

    /// These parts of files, and how many of their rows are wanted at random.
    pub(super) fn new(files: &'a FileTable<'a>, parts: &'a [Part], wanted: usize) -> Self {
        StreamedTable {
            files,
            reader: Reader {
                parts,
                options: files.options,
                fields: &files.fields,
                total: parts.iter().map(|part| part.rows).sum(),
                wanted,
            },
            seen: RefCell::default(),
        }
    }

    pub(super) fn into_seen(self) -> Seen {
        self.seen.into_inner()
    }

    fn tell(&self, rows: u64, total: u64) -> Wish {
        self.files.observer.rows(Progress {
            stage: Stage::Reading,
            rows,
            share: (rows as f64 / total.max(1) as f64).min(1.0),
        })
    }
}

impl Reader<'_> {
    fn rows(&self, part: usize) -> PartRows {
        PartRows {
            part: self.parts[part].clone(),
            options: self.options.clone(),
        }
    }

    /// A table of these columns, without rows so far.
    fn stack<S: AsRef<str>>(&self, columns: &[S]) -> Stack {
        let wanted = |field: &&Field| columns.iter().any(|name| name.as_ref() == field.name);
        let fields: Vec<Field> = self.fields.iter().filter(wanted).cloned().collect();
        Stack::new(&fields)
    }

    /// Learns from the rows of one part, and draws some of them.
    fn learn(
        &self,
        part: usize,
        lessons: Vec<Lesson>,
        (picks, done): (bool, &AtomicU64),
    ) -> Result<PartLessons, Error> {
        let columns: Vec<String> = lessons[0]
            .columns()
            .iter()
            .map(ToString::to_string)
            .collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut lessons: Vec<Learnt> = lessons.into_iter().map(Ok).collect();
        let share = SURPLUS * self.wanted as f64 / self.total as f64;
        let mut picker = picks.then(|| Picker::new(share, part as u64));
        let (mut stack, mut rows) = (self.stack(&columns), 0);
        let scanned = self.rows(part).each(&columns, &mut |batch, first| {
            for lesson in &mut lessons {
                if let Ok(own) = lesson
                    && let Err(error) = own.see(batch, first as usize)
                {
                    *lesson = Err(error);
                }
            }
            if let Some(picker) = &mut picker {
                stack.push(&batch.select_rows(&picker.of(batch.n_rows())));
            }
            rows += batch.n_rows() as u64;
            done.fetch_add(batch.n_rows() as u64, Ordering::Relaxed);
            Ok(())
        });
        let (dropped, missing) = match scanned {
            Ok(dropped) => (dropped, Vec::new()),
            Err(Error::Table(TableError::Missing { columns, .. })) => (0, columns),
            Err(error) => return Err(error),
        };
        let picked = picks.then(|| stack.finish()).transpose()?;
        Ok(PartLessons {
            lessons,
            rows,
            dropped,
            picked,
            missing,
        })
    }

    /// The rows that were drawn, in random order, and no more than are wanted.
    fn sample(&self, picked: &[Table]) -> Result<Table, RegressionError> {
        let names = picked.first().map_or(&[][..], |first| first.names());
        let mut stack = self.stack(names);
        for picked in picked {
            stack.push(picked);
        }
        let all = stack.finish();
        let all = all.map_err(|error| RegressionError::Read(error.to_string()))?;
        let mut order = permutation(all.n_rows(), 0);
        order.truncate(self.wanted);
        Ok(all.select_rows(&order))
    }
}

fn read_error(error: Error) -> RegressionError {
    match error {
        Error::Regression(error) => error,
        error => RegressionError::Read(error.to_string()),
    }
}

/// Draws each row of a part with the same probability, by the rows that are passed over in between.
struct Picker {
    share: f64,
    stream: Stream,
    /// Rows to pass over before the next one that is drawn.
    over: f64,
}

impl Picker {
    fn new(share: f64, part: u64) -> Picker {
        let mut picker = Picker {
            share,
            stream: Stream::new(0, "sample of rows", part),
            over: 0.0,
        };
        picker.over = picker.gap();
        picker
    }

    /// How many rows are passed over: geometric.
    fn gap(&mut self) -> f64 {
        if self.share >= 1.0 {
            return 0.0;
        }
        // 1 − u is never 0.
        ((1.0 - self.stream.uniform()).ln() / (-self.share).ln_1p()).floor()
    }

    /// The rows that are drawn of so many, by their numbers.
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
            let mut picker = Picker::new(0.1, part);
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
        assert!(Picker::new(2.0, 0).of(5).into_iter().eq(0..5));
    }
}
