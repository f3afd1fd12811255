//! Some row groups of a table, in the process that answers for them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

use lehr_density::{ColumnKind, Density, FullData, Query, RowData, RowSet, RowSource, Values};
use lehr_infer::full_data::LocalRows;
use lehr_infer::streamed::RowSums;
use lehr_learn::{Accumulator, AccumulatorMessage, LearnError};
use lehr_model::Bound;
use lehr_regression::{Regression, RegressionError};
use lehr_table::{Part, ReadOptions, Table, TableFiles};

use super::PartRows;
use super::task::{Arrays, Count, Learnt, Sample, Task, decoded, encoded};
use crate::error::Error;
use crate::streamed::RowPass;

/// Stack of a thread: deep models are walked recursively.
const STACK_BYTES: usize = 16 << 20;

/// Some row groups of a table. Rows are read when they are first needed and then kept; a partition that
/// was made anew, in whatever process, gives the same answers.
pub struct Partition {
    rows: PartRows,
    keeping: Keeping,
    held: Held,
}

/// What becomes of rows that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// They stay in memory.
    Memory,
    /// They are read anew for every task.
    Files,
}

/// What is in memory.
enum Held {
    Nothing,
    /// Some columns as they were read.
    Table {
        columns: Vec<String>,
        table: Table,
    },
    /// The columns that a model reads.
    Rows {
        model: Vec<u8>,
        rows: ModelRows,
    },
    /// A model that rows are shown to, and what was compiled of it.
    Pass {
        model: Vec<u8>,
        pass: Option<Box<RowPass>>,
        compiled: RowSums,
    },
}

impl Partition {
    /// A partition of a table that is read by these options.
    pub fn new(part: Part, options: ReadOptions) -> Partition {
        Partition {
            rows: PartRows { part, options },
            keeping: Keeping::Memory,
            held: Held::Nothing,
        }
    }

    /// The same with its rows kept so. Sums differ in their last digits.
    #[must_use]
    pub fn keeping(self, keeping: Keeping) -> Partition {
        Partition { keeping, ..self }
    }

    /// The answer to a task, about a model if there is one yet.
    ///
    /// # Errors
    /// If the file is not there or is damaged, or its rows are not what the task takes them for.
    pub fn answer(&mut self, model: Option<&[u8]>, task: &[u8]) -> Result<Vec<u8>, Error> {
        let task: Task = decoded(task)?;
        if let Task::Learn(lesson) = task {
            return Ok(encoded(&self.learn(lesson.accumulator())?));
        }
        let model = model.ok_or_else(no_model)?;
        if self.keeping == Keeping::Files {
            return self.pass(model, task);
        }
        let rows = self.rows(model)?;
        Ok(match task {
            Task::Learn(_) => unreachable!("it was learnt"),
            Task::Count => encoded(&rows.count),
            Task::Sample(numbers) => encoded(&rows.sample(&numbers)),
            Task::Sum(query, arguments) => encoded(&rows.sum(query, arguments)),
        })
    }

    /// The answer to a task by rows that are read for it.
    fn pass(&mut self, model: &[u8], task: Task) -> Result<Vec<u8>, Error> {
        let known = matches!(&self.held, Held::Pass { model: own, .. } if *own == model);
        if !known {
            self.held = Held::Pass {
                pass: row_pass(&self.rows, decoded(model)?)?,
                model: model.to_vec(),
                compiled: RowSums::default(),
            };
        }
        let Held::Pass { pass, compiled, .. } = &mut self.held else {
            unreachable!("it was made");
        };
        match (task, pass) {
            (Task::Count, None) => {
                let dropped = self.rows.each(&[], &mut |_, _| Ok(()))? as u64;
                Ok(encoded(&Count { rows: 0, dropped }))
            }
            (Task::Count, Some(pass)) => {
                let mut rows = 0;
                let dropped = pass.each(&self.rows, &mut |block| rows += block.n_rows())?;
                Ok(encoded(&Count {
                    rows: rows as u64,
                    dropped: dropped as u64,
                }))
            }
            (Task::Sample(_), None) => Ok(encoded(&Sample::new())),
            (Task::Sample(numbers), Some(pass)) => {
                Ok(encoded(&sampled(pass, &self.rows, &numbers)?))
            }
            (Task::Sum(query, arguments), Some(pass)) => {
                let arguments: Vec<&[f64]> = arguments.iter().map(Vec::as_slice).collect();
                Ok(encoded(&pass.sums(
                    &self.rows,
                    (query, &arguments),
                    compiled,
                )?))
            }
            (Task::Sum(..), None) => Ok(encoded(&Arrays::new())),
            (Task::Learn(_), _) => unreachable!("it was learnt"),
        }
    }

    fn learn(&mut self, mut lesson: Box<dyn Accumulator>) -> Result<Learnt, Error> {
        let first = self.rows.part.first as usize;
        let columns: Vec<String> = lesson.columns().iter().map(ToString::to_string).collect();
        if self.keeping == Keeping::Files {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let mut rows = 0;
            self.rows.each(&columns, &mut |batch, first| {
                rows += batch.n_rows() as u64;
                Ok(lesson.add_rows(batch, first as usize)?)
            })?;
            let lesson = AccumulatorMessage::of(&*lesson);
            return Ok(Learnt { lesson, rows });
        }
        let table = self.table(columns)?;
        lesson.add_rows(table, first)?;
        let rows = table.n_rows() as u64;
        let lesson = AccumulatorMessage::of(&*lesson);
        Ok(Learnt { lesson, rows })
    }

    /// These columns as they are read.
    fn table(&mut self, columns: Vec<String>) -> Result<&Table, Error> {
        let known = matches!(&self.held, Held::Table { columns: own, .. } if *own == columns);
        if !known {
            self.held = Held::Nothing;
            let files = TableFiles::of_part(&self.rows.part)?;
            let options = ReadOptions {
                columns: Some(columns.clone()),
                ..self.rows.options.clone()
            };
            let table = files.read_table(&options, &mut |_| ())?;
            self.held = Held::Table { columns, table };
        }
        match &self.held {
            Held::Table { table, .. } => Ok(table),
            _ => unreachable!("it was read"),
        }
    }

    /// The rows as this model reads them; all else is forgotten.
    fn rows(&mut self, model: &[u8]) -> Result<&ModelRows, Error> {
        let known = matches!(&self.held, Held::Rows { model: own, .. } if *own == model);
        if !known {
            let regression: Regression = decoded(model)?;
            let columns = regression.columns();
            let columns = columns.into_iter().map(str::to_owned).collect();
            let first = self.rows.part.first as usize;
            let table = self.table(columns)?;
            let rows = ModelRows::new(&regression, table, first)?;
            let model = model.to_vec();
            self.held = Held::Rows { model, rows };
        }
        match &self.held {
            Held::Rows { rows, .. } => Ok(rows),
            _ => unreachable!("they were bound"),
        }
    }
}

fn no_model() -> LearnError {
    LearnError::Read("cluster: expected a model before questions about it, found none".into())
}

/// A model on the rows of a partition.
struct ModelRows {
    /// `None` without rows.
    bound: Option<Bound>,
    count: Count,
    sums: Option<Sums>,
}

impl ModelRows {
    fn new(regression: &Regression, table: &Table, first: usize) -> Result<ModelRows, Error> {
        let count = Count {
            rows: table.n_rows() as u64,
            dropped: table.dropped_rows() as u64,
        };
        if count.rows == 0 {
            return Ok(ModelRows {
                bound: None,
                count,
                sums: None,
            });
        }
        let design = regression.design_block(table, first)?;
        let bound = regression.program()?.bind(&design);
        let bound = bound.map_err(RegressionError::from)?;
        Ok(ModelRows {
            sums: Some(Sums::new(bound.clone())),
            bound: Some(bound),
            count,
        })
    }

    fn sum(&self, query: Query, arguments: Vec<Vec<f64>>) -> Arrays {
        let sums = self.sums.as_ref();
        sums.map_or_else(Vec::new, |sums| sums.ask(query, arguments))
    }

    fn sample(&self, numbers: &[u64]) -> Sample {
        let Some(bound) = &self.bound else {
            return Vec::new();
        };
        let numbers: Vec<usize> = numbers.iter().map(|number| *number as usize).collect();
        picked(bound, bound.source(), &numbers)
    }
}

/// Rows of a source with the columns of a density, column after column.
fn picked(density: &dyn Density, source: &dyn RowSource, numbers: &[usize]) -> Sample {
    let rows = RowSet::List(numbers);
    let columns = density.columns().iter().enumerate();
    let copied = columns.map(|(place, column)| match column.kind {
        ColumnKind::Number { width } => {
            let width = width.unwrap_or(1);
            let mut values = vec![0.0; numbers.len() * width];
            source.copy_numbers(place, &rows, &mut values);
            Values::Numbers {
                width,
                values: values.into(),
            }
        }
        ColumnKind::Index { .. } => {
            let mut values = vec![0; numbers.len()];
            source.copy_indices(place, &rows, &mut values);
            Values::Indices(values.into())
        }
    });
    copied.collect()
}

/// The model, bound to the first of its rows; `None` without rows.
fn row_pass(rows: &PartRows, regression: Regression) -> Result<Option<Box<RowPass>>, Error> {
    let Some(first) = rows.first(&regression.columns())? else {
        return Ok(None);
    };
    let bound = regression.bind(&first)?;
    Ok(Some(Box::new(RowPass::new(regression, bound)?)))
}

/// Rows by their numbers, which increase, as they pass by.
fn sampled(pass: &RowPass, rows: &PartRows, numbers: &[u64]) -> Result<Sample, Error> {
    let (mut seen, mut at, mut parts) = (0_u64, 0, Vec::new());
    pass.each(rows, &mut |block| {
        let end = seen + block.n_rows() as u64;
        let until = at + numbers[at..].partition_point(|row| *row < end);
        let own: Vec<usize> = (numbers[at..until].iter())
            .map(|row| (row - seen) as usize)
            .collect();
        if !own.is_empty() {
            parts.push(picked(pass.model(), block, &own));
        }
        (seen, at) = (end, until);
    })?;
    let places: Vec<usize> = (0..numbers.len()).collect();
    Ok(joined_values(&parts, &places))
}

/// Rows of several partitions one after another, in the order of `places`.
pub(super) fn joined(parts: &[Sample], places: &[usize]) -> RowData {
    RowData::new(places.len(), joined_values(parts, places))
}

fn joined_values(parts: &[Sample], places: &[usize]) -> Sample {
    let columns = parts.first().map_or(0, Vec::len);
    let column = |place: usize| {
        let own = parts.iter().map(|part| &part[place]);
        let (mut width, mut numbers, mut indices) = (1, Vec::new(), Vec::new());
        for values in own {
            match values {
                Values::Numbers { width: own, values } => {
                    width = *own;
                    numbers.extend_from_slice(values);
                }
                Values::Indices(values) => indices.extend_from_slice(values),
            }
        }
        if numbers.is_empty() {
            return Values::Indices(places.iter().map(|row| indices[*row]).collect());
        }
        let rows = places.iter().map(|row| &numbers[row * width..][..width]);
        Values::Numbers {
            width,
            values: rows.flatten().copied().collect(),
        }
    };
    (0..columns).map(column).collect()
}

/// A thread that sums over rows. It keeps what it has compiled, which borrows from the rows.
struct Sums {
    questions: Sender<Question>,
}

struct Question {
    query: Query,
    arguments: Vec<Vec<f64>>,
    answer: Sender<Arrays>,
}

impl Sums {
    fn new(bound: Bound) -> Sums {
        let (questions, asked) = channel();
        let thread = Builder::new().stack_size(STACK_BYTES);
        let _ = (thread.spawn(move || answer_all(&bound, &asked))).expect("memory for a thread");
        Sums { questions }
    }

    fn ask(&self, query: Query, arguments: Vec<Vec<f64>>) -> Arrays {
        let (answer, answered) = channel();
        let question = Question {
            query,
            arguments,
            answer,
        };
        let sent = self.questions.send(question);
        sent.expect("the thread lasts as long as its questions");
        answered.recv().expect("every question is answered")
    }
}

fn answer_all(bound: &Bound, asked: &Receiver<Question>) {
    let rows = LocalRows::new(bound);
    for question in asked {
        let arguments: Vec<&[f64]> = question.arguments.iter().map(Vec::as_slice).collect();
        let mut parts = rows.each(question.query, &arguments);
        // Whoever asked may have left.
        let _ = question.answer.send(parts.swap_remove(0));
    }
}
