//! From a formula and a table to a model with its rows, which are in memory, stay in their files, or go to disk.

use std::path::PathBuf;
use std::time::Instant;

use lehr_infer::method::MethodInfo;
use lehr_regression::Specification;
use lehr_table::{ReadOptions, Table, TableFiles};

use crate::bound::BoundRegression;
use crate::error::Error;
use crate::file_table::{FileTable, ReadObserver};
use crate::streamed::StreamOptions;

/// A table that a model is made of.
pub enum TableInput<'a> {
    /// Files, which can be read more than once.
    Files(&'a TableFiles),
    /// A table of the caller, which is made once.
    Made(&'a dyn Fn(&ReadOptions) -> Result<Table, Error>),
}

/// The reading of a table.
pub struct OpenRequest<'a> {
    /// How cells are read. The formula chooses the columns.
    pub options: &'a ReadOptions,
    /// The bytes that columns may take in memory.
    pub memory: u64,
    /// The methods that are to fit the model.
    pub methods: &'a [&'a MethodInfo],
    /// Who watches.
    pub observer: &'a dyn ReadObserver,
    /// When the reading began.
    pub clock: Instant,
}

/// Makes the model of a table. Rows stay in their files where these allow it, the columns would take a good part of
/// the memory, and the methods need only a few passes. Other rows that do not fit into memory go to the file that
/// `row_file` names, in random order. All others are read into memory.
///
/// # Errors
/// If the table cannot be read, is not what the formula takes it for, or the file of rows cannot be written.
pub fn open<E: From<Error>>(
    specification: &Specification,
    table: &TableInput<'_>,
    opening: &OpenRequest<'_>,
    row_file: &mut dyn FnMut() -> Result<PathBuf, E>,
) -> Result<BoundRegression, E> {
    let columns = specification.columns().into_iter().map(str::to_owned);
    let options = ReadOptions {
        columns: Some(columns.collect()),
        ..opening.options.clone()
    };
    let options = options.keep_columns(&specification.optional_columns());
    let source = match table {
        TableInput::Files(source) => source,
        TableInput::Made(make) => return Ok(bind(specification, &make(&options)?, opening)?),
    };
    let files = FileTable::new(source, &options, opening.observer).map_err(Error::from)?;
    let streaming = StreamOptions {
        memory: opening.memory,
        methods: opening.methods,
        sample: StreamOptions::SAMPLE,
        distinct: StreamOptions::DISTINCT,
        clock: opening.clock,
    };
    if let Some(bound) = BoundRegression::streamed(specification, &files, &streaming)? {
        return Ok(bound);
    }
    if source.expected_bytes(&options).map_err(Error::from)? > opening.memory {
        let rows = row_file()?;
        let bound = BoundRegression::on_disk(specification, &files, &rows, opening.clock);
        return Ok(bound?);
    }
    Ok(bind(specification, &files.read()?, opening)?)
}

/// The model of a table in memory.
fn bind(
    specification: &Specification,
    table: &Table,
    opening: &OpenRequest<'_>,
) -> Result<BoundRegression, Error> {
    opening.observer.all_read();
    Ok(BoundRegression::new(specification, table, opening.clock)?)
}
