//! A partition: some row groups of a table, in the process that has them.

use std::sync::Arc;

use lehr_density::job::local_rows;
use lehr_density::{Density, RowData, RowSet, RowSource, Values};
use lehr_infer::job::read_job;
use lehr_learn::{Accumulator, AccumulatorMessage, LearnError};
use lehr_model::Bound;
use lehr_regression::{Purpose, Regression, TableBlock};
use lehr_rows::store::memory::Machines;
use lehr_rows::watch::Wish;
use lehr_rows::{AnyControl, MachinePool, RowStore};
use lehr_table::{Part, ReadOptions, Table, TableFiles};

use super::task::{AccumulatorAnswer, Folded, PartitionTask, RowCount, Sample, decoded, encoded};
use crate::error::Error;
use crate::part::{PartPass, PartRows};

/// Some row groups of a table. Rows are read when they are first needed and then kept. A partition
/// that is created again, in any process, gives the same answers.
pub struct Partition {
    rows: PartRows,
    keeping: RowStorage,
    /// Some columns as they were read, until a model is made of them.
    table: Option<(Vec<String>, Table)>,
    /// The last model on the rows, by its message.
    model: Option<(Vec<u8>, ModelRows)>,
}

/// Where the rows are kept after they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowStorage {
    /// In memory.
    Memory,
    /// In the files, which are read again for every task.
    Files,
}

impl Partition {
    /// A partition of a table, with the options for reading it.
    pub fn new(part: Part, options: ReadOptions) -> Partition {
        Partition {
            rows: PartRows { part, options },
            keeping: RowStorage::Memory,
            table: None,
            model: None,
        }
    }

    /// The partition with its rows kept in this way. Sums differ in their last digits.
    #[must_use]
    pub fn keeping(self, keeping: RowStorage) -> Partition {
        Partition { keeping, ..self }
    }

    /// Answers a task, with the current model if there is one.
    ///
    /// # Errors
    /// If the file is missing or damaged, or its rows do not suit the task.
    pub fn answer(&mut self, model: Option<&[u8]>, task: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(match decoded(task)? {
            PartitionTask::Learn(message) => encoded(&self.learn(message.accumulator())?),
            PartitionTask::Count => encoded(&self.bound(model)?.count()?),
            PartitionTask::Sample(numbers) => encoded(&self.bound(model)?.sample(&numbers)?),
            PartitionTask::Fold(name, message) => {
                encoded(&self.bound(model)?.fold(&name, &message)?)
            }
        })
    }

    fn learn(&mut self, mut accumulator: Box<dyn Accumulator>) -> Result<AccumulatorAnswer, Error> {
        let (columns, mut rows) = (accumulator.columns(), 0);
        if self.keeping == RowStorage::Files {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            self.rows.each(&columns, &mut |batch, first| {
                rows += batch.n_rows() as u64;
                Ok(accumulator.add_rows(batch, first as usize)?)
            })?;
        } else {
            let first = self.rows.part.first as usize;
            let table = self.table(columns)?;
            accumulator.add_rows(table, first)?;
            rows = table.n_rows() as u64;
        }
        let accumulator = AccumulatorMessage::of(&*accumulator);
        Ok(AccumulatorAnswer { accumulator, rows })
    }

    /// These columns as they are read.
    fn table(&mut self, columns: Vec<String>) -> Result<&Table, Error> {
        if self.table.as_ref().is_none_or(|(own, _)| *own != columns) {
            (self.table, self.model) = (None, None);
            let files = TableFiles::of_part(&self.rows.part)?;
            let options = ReadOptions {
                columns: Some(columns.clone()),
                ..self.rows.options.clone()
            };
            self.table = Some((columns, files.read_table(&options, &mut |_| ())?));
        }
        let (_, table) = self.table.as_ref().expect("it was read");
        Ok(table)
    }

    /// The rows in the form that this model reads; other rows are dropped.
    fn bound(&mut self, model: Option<&[u8]>) -> Result<&mut ModelRows, Error> {
        let model = model.ok_or_else(|| {
            let words = "cluster: expected a model before questions about it, found none";
            LearnError::Read(words.into())
        })?;
        if self.model.as_ref().is_none_or(|(own, _)| own != model) {
            let regression: Regression = decoded(model)?;
            let rows = match self.keeping {
                RowStorage::Files => ModelRows::in_files(self.rows.clone(), regression)?,
                RowStorage::Memory => {
                    let columns = regression.columns().into_iter().map(str::to_owned);
                    let first = self.rows.part.first as usize;
                    ModelRows::in_memory(&regression, self.table(columns.collect())?, first)?
                }
            };
            (self.table, self.model) = (None, Some((model.to_vec(), rows)));
        }
        let (_, rows) = self.model.as_mut().expect("it was bound");
        Ok(rows)
    }
}

/// A model on the rows of a partition; `None` without rows.
enum ModelRows {
    /// The columns that the model reads, in memory, and its compiled programs.
    Memory(Option<Bound>, RowCount, Arc<Machines>),
    /// A compiled model for rows that are read for every task.
    Files(Option<Box<PartPass>>, PartRows, MachinePool),
}

impl ModelRows {
    fn in_memory(regression: &Regression, table: &Table, first: usize) -> Result<ModelRows, Error> {
        let count = RowCount {
            rows: table.n_rows() as u64,
            dropped: table.dropped_rows() as u64,
        };
        let mut bound = None;
        if count.rows > 0 {
            let design = regression.design_rows(&TableBlock { table, first }, Purpose::Fit)?;
            bound = Some(regression.program()?.bind(&design)?);
        }
        Ok(ModelRows::Memory(bound, count, Arc::default()))
    }

    /// The model, bound to the first row only.
    fn in_files(rows: PartRows, regression: Regression) -> Result<ModelRows, Error> {
        let mut pass = None;
        if let Some(first) = rows.first(&regression.columns())? {
            let bound = regression.bind(&first)?;
            pass = Some(Box::new(PartPass::new(regression, bound)?));
        }
        Ok(ModelRows::Files(pass, rows, MachinePool::default()))
    }

    fn count(&self) -> Result<RowCount, Error> {
        let mut count = 0;
        let dropped = match self {
            ModelRows::Memory(_, count, _) => return Ok(*count),
            ModelRows::Files(None, rows, _) => rows.each(&[], &mut |_, _| Ok(()))?,
            ModelRows::Files(Some(pass), rows, _) => {
                pass.each(rows, &mut |block| count += block.n_rows() as u64)?
            }
        };
        Ok(RowCount {
            rows: count,
            dropped: dropped as u64,
        })
    }

    fn sample(&self, numbers: &[u64]) -> Result<Sample, Error> {
        match self {
            ModelRows::Memory(Some(bound), count, _) => {
                check_numbers(numbers, count.rows)?;
                let numbers: Vec<usize> = numbers.iter().map(|number| *number as usize).collect();
                Ok(picked(bound, bound.source(), &numbers))
            }
            ModelRows::Files(Some(pass), rows, _) => sampled(pass, rows, numbers),
            ModelRows::Memory(..) | ModelRows::Files(..) => Ok(Sample::new()),
        }
    }

    fn fold(&mut self, name: &str, message: &[u8]) -> Result<Folded, Error> {
        match self {
            ModelRows::Memory(Some(bound), _, machines) => {
                let job = read_job(bound, name, message)?;
                let store = local_rows(bound).with_machines(Arc::clone(machines));
                let mut control = AnyControl {
                    resume: None,
                    look: &mut |_, _| Wish::Continue,
                };
                Ok(Some(job.encode(&store.fold(&*job, &mut control)?)))
            }
            ModelRows::Files(Some(pass), rows, compiled) => {
                let job = read_job(pass.model(), name, message)?;
                let found = pass.fold(rows, &*job, compiled)?;
                Ok(found.map(|found| job.encode(&found)))
            }
            ModelRows::Memory(..) | ModelRows::Files(..) => Ok(None),
        }
    }
}

/// Refuses numbers of rows that a partition no longer has.
fn check_numbers(numbers: &[u64], rows: u64) -> Result<(), LearnError> {
    match numbers.last() {
        Some(last) if *last >= rows => Err(LearnError::Read(format!(
            "cluster: expected more than {last} rows in a partition, as when they were counted, found {rows}\n  \
             hint: leave the files as they are until the fit is done"
        ))),
        _ => Ok(()),
    }
}

/// Rows of a source in the columns of a density, column after column.
fn picked(density: &dyn Density, source: &dyn RowSource, numbers: &[usize]) -> Sample {
    let rows = RowSet::List(numbers);
    let columns = density.columns().iter().enumerate();
    let copied =
        columns.map(|(place, column)| Values::of_rows(source, (place, column.kind), &rows));
    copied.collect()
}

/// Rows by their increasing numbers, from the stream of all rows.
fn sampled(pass: &PartPass, rows: &PartRows, numbers: &[u64]) -> Result<Sample, Error> {
    let (mut seen, mut at, mut parts) = (0_u64, 0, Vec::new());
    pass.each(rows, &mut |block| {
        let end = seen + block.n_rows() as u64;
        let until = at + numbers[at..].partition_point(|row| *row < end);
        let own = numbers[at..until].iter().map(|row| (row - seen) as usize);
        let own: Vec<usize> = own.collect();
        if !own.is_empty() {
            parts.push(picked(pass.model(), block, &own));
        }
        (seen, at) = (end, until);
    })?;
    check_numbers(numbers, seen)?;
    let places: Vec<usize> = (0..numbers.len()).collect();
    Ok(joined_values(&parts, &places))
}

/// Rows of several partitions, one partition after another, in the order of `places`.
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
