//! A partition: some row groups of a table, in the process that has them.

use std::sync::Arc;

use lehr_density::job::local_rows;
use lehr_density::{ColumnKind, Density, RowData, RowSet, RowSource, Values};
use lehr_infer::job::read_job;
use lehr_learn::{Accumulator, AccumulatorMessage, LearnError};
use lehr_model::Bound;
use lehr_regression::{Regression, RegressionError};
use lehr_rows::store::memory::Machines;
use lehr_rows::watch::Wish;
use lehr_rows::{AnyControl, MachinePool, RowStore, RowsError};
use lehr_table::{Part, ReadOptions, Table, TableFiles};

use super::task::{AccumulatorAnswer, Folded, PartitionTask, RowCount, Sample, decoded, encoded};
use crate::error::Error;
use crate::part::{PartPass, PartRows};

/// Some row groups of a table. Rows are read when they are first needed and then kept. A partition
/// that is created again, in any process, gives the same answers.
pub struct Partition {
    rows: PartRows,
    keeping: RowStorage,
    held: RowCache,
}

/// Where the rows are kept after they were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowStorage {
    /// In memory.
    Memory,
    /// In the files, which are read again for every task.
    Files,
}

/// The rows in memory.
enum RowCache {
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
    /// A compiled model for rows that are streamed.
    Pass {
        model: Vec<u8>,
        pass: Option<Box<PartPass>>,
        compiled: MachinePool,
    },
}

impl Partition {
    /// A partition of a table, with the options for reading it.
    pub fn new(part: Part, options: ReadOptions) -> Partition {
        Partition {
            rows: PartRows { part, options },
            keeping: RowStorage::Memory,
            held: RowCache::Nothing,
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
        let task: PartitionTask = decoded(task)?;
        if let PartitionTask::Learn(accumulator) = task {
            return Ok(encoded(&self.learn(accumulator.accumulator())?));
        }
        let model = model.ok_or_else(no_model)?;
        if self.keeping == RowStorage::Files {
            return self.pass(model, task);
        }
        let rows = self.rows(model)?;
        Ok(match task {
            PartitionTask::Learn(_) => unreachable!("it was learnt"),
            PartitionTask::Count => encoded(&rows.count),
            PartitionTask::Sample(numbers) => encoded(&rows.sample(&numbers)?),
            PartitionTask::Fold(name, message) => encoded(&rows.fold(&name, &message)?),
        })
    }

    /// Answers a task on rows that are read for it.
    fn pass(&mut self, model: &[u8], task: PartitionTask) -> Result<Vec<u8>, Error> {
        let known = matches!(&self.held, RowCache::Pass { model: own, .. } if *own == model);
        if !known {
            self.held = RowCache::Pass {
                pass: row_pass(&self.rows, decoded(model)?)?,
                model: model.to_vec(),
                compiled: MachinePool::default(),
            };
        }
        let RowCache::Pass { pass, compiled, .. } = &mut self.held else {
            unreachable!("it was made");
        };
        match (task, pass) {
            (PartitionTask::Count, None) => {
                let dropped = self.rows.each(&[], &mut |_, _| Ok(()))? as u64;
                Ok(encoded(&RowCount { rows: 0, dropped }))
            }
            (PartitionTask::Count, Some(pass)) => {
                let mut rows = 0;
                let dropped = pass.each(&self.rows, &mut |block| rows += block.n_rows())?;
                Ok(encoded(&RowCount {
                    rows: rows as u64,
                    dropped: dropped as u64,
                }))
            }
            (PartitionTask::Sample(_), None) => Ok(encoded(&Sample::new())),
            (PartitionTask::Sample(numbers), Some(pass)) => {
                Ok(encoded(&sampled(pass, &self.rows, &numbers)?))
            }
            (PartitionTask::Fold(name, message), Some(pass)) => {
                let job = read_job(pass.model(), &name, &message)?;
                let found = pass.fold(&self.rows, &*job, compiled)?;
                let folded: Folded = found.map(|found| job.encode(&found));
                Ok(encoded(&folded))
            }
            (PartitionTask::Fold(..), None) => Ok(encoded(&Folded::None)),
            (PartitionTask::Learn(_), _) => unreachable!("it was learnt"),
        }
    }

    fn learn(&mut self, mut accumulator: Box<dyn Accumulator>) -> Result<AccumulatorAnswer, Error> {
        let first = self.rows.part.first as usize;
        let columns: Vec<String> = accumulator
            .columns()
            .iter()
            .map(ToString::to_string)
            .collect();
        if self.keeping == RowStorage::Files {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let mut rows = 0;
            self.rows.each(&columns, &mut |batch, first| {
                rows += batch.n_rows() as u64;
                Ok(accumulator.add_rows(batch, first as usize)?)
            })?;
            let accumulator = AccumulatorMessage::of(&*accumulator);
            return Ok(AccumulatorAnswer { accumulator, rows });
        }
        let table = self.table(columns)?;
        accumulator.add_rows(table, first)?;
        let rows = table.n_rows() as u64;
        let accumulator = AccumulatorMessage::of(&*accumulator);
        Ok(AccumulatorAnswer { accumulator, rows })
    }

    /// These columns as they are read.
    fn table(&mut self, columns: Vec<String>) -> Result<&Table, Error> {
        let known = matches!(&self.held, RowCache::Table { columns: own, .. } if *own == columns);
        if !known {
            self.held = RowCache::Nothing;
            let files = TableFiles::of_part(&self.rows.part)?;
            let options = ReadOptions {
                columns: Some(columns.clone()),
                ..self.rows.options.clone()
            };
            let table = files.read_table(&options, &mut |_| ())?;
            self.held = RowCache::Table { columns, table };
        }
        match &self.held {
            RowCache::Table { table, .. } => Ok(table),
            _ => unreachable!("it was read"),
        }
    }

    /// The rows in the form that this model reads; other rows are dropped.
    fn rows(&mut self, model: &[u8]) -> Result<&ModelRows, Error> {
        let known = matches!(&self.held, RowCache::Rows { model: own, .. } if *own == model);
        if !known {
            let regression: Regression = decoded(model)?;
            let columns = regression.columns();
            let columns = columns.into_iter().map(str::to_owned).collect();
            let first = self.rows.part.first as usize;
            let table = self.table(columns)?;
            let rows = ModelRows::new(&regression, table, first)?;
            let model = model.to_vec();
            self.held = RowCache::Rows { model, rows };
        }
        match &self.held {
            RowCache::Rows { rows, .. } => Ok(rows),
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
    count: RowCount,
    /// The compiled programs of the model.
    machines: Arc<Machines>,
}

impl ModelRows {
    fn new(regression: &Regression, table: &Table, first: usize) -> Result<ModelRows, Error> {
        let count = RowCount {
            rows: table.n_rows() as u64,
            dropped: table.dropped_rows() as u64,
        };
        if count.rows == 0 {
            return Ok(ModelRows {
                bound: None,
                count,
                machines: Arc::default(),
            });
        }
        let design = regression.design_block(table, first)?;
        let bound = regression.program()?.bind(&design);
        let bound = bound.map_err(RegressionError::from)?;
        Ok(ModelRows {
            bound: Some(bound),
            count,
            machines: Arc::default(),
        })
    }

    fn fold(&self, name: &str, message: &[u8]) -> Result<Folded, RowsError> {
        let Some(bound) = &self.bound else {
            return Ok(None);
        };
        let job = read_job(bound, name, message)?;
        let store = local_rows(bound).with_machines(Arc::clone(&self.machines));
        let mut control = AnyControl {
            resume: None,
            look: &mut |_, _| Wish::Continue,
        };
        let found = store.fold(&*job, &mut control)?;
        Ok(Some(job.encode(&found)))
    }

    fn sample(&self, numbers: &[u64]) -> Result<Sample, LearnError> {
        let Some(bound) = &self.bound else {
            return Ok(Vec::new());
        };
        check_numbers(numbers, self.count.rows)?;
        let numbers: Vec<usize> = numbers.iter().map(|number| *number as usize).collect();
        Ok(picked(bound, bound.source(), &numbers))
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

/// The model, bound to the first row only; `None` without rows.
fn row_pass(rows: &PartRows, regression: Regression) -> Result<Option<Box<PartPass>>, Error> {
    let Some(first) = rows.first(&regression.columns())? else {
        return Ok(None);
    };
    let bound = regression.bind(&first)?;
    Ok(Some(Box::new(PartPass::new(regression, bound)?)))
}

/// Rows by their increasing numbers, from the stream of all rows.
fn sampled(pass: &PartPass, rows: &PartRows, numbers: &[u64]) -> Result<Sample, Error> {
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
