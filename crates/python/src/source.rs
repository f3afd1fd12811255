//! Tables in the forms that Python passes: files, Arrow streams, or columns of arrays.

use std::path::PathBuf;
use std::sync::Mutex;

use lehr::Error;
use lehr::regression::{
    BoundRegression, FileTable, LearnError, OpenRequest, ReadObserver, Specification, TableInput,
    open,
};
use lehr::table::{ArrowBatches, Column, Field, MISSING, ReadOptions, Table, TableFiles};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;

use crate::error::{message_error, refusal_error};

/// The mistake of reading a stream twice.
const READ_BEFORE: &str =
    "table: expected rows, found a stream that was read before\n  hint: make the table anew";

/// A table that has not been read yet.
#[pyclass(frozen, module = "lehr._lehr", name = "Source")]
pub(crate) struct PySource(SourceKind);

enum SourceKind {
    Files(TableFiles),
    Arrow(Mutex<Option<ArrowBatches>>, Vec<Field>),
    Columns(Table, Vec<String>),
}

/// One column of arrays.
#[derive(FromPyObject)]
enum ArrayColumn<'py> {
    /// Numbers; NaN is missing.
    #[pyo3(transparent)]
    Number(PyReadonlyArray1<'py, f64>),
    /// Several numbers per row.
    #[pyo3(transparent)]
    Matrix(PyReadonlyArray2<'py, f64>),
    /// Boolean values: 0, 1, or −1 if missing.
    #[pyo3(transparent)]
    Boolean(PyReadonlyArray1<'py, i8>),
    /// Codes (−1 if missing), the names of the levels, and whether the levels are ordered.
    Category(PyReadonlyArray1<'py, i64>, Vec<String>, bool),
}

#[pymethods]
impl PySource {
    /// The files, folders or patterns that together are one table.
    #[staticmethod]
    fn files(paths: Vec<PathBuf>) -> PyResult<PySource> {
        Ok(PySource(SourceKind::Files(
            TableFiles::open_inputs(&paths).map_err(refusal_error)?,
        )))
    }

    /// An object with the Arrow PyCapsule interface.
    #[staticmethod]
    fn arrow(batches: AnyRecordBatch) -> PyResult<PySource> {
        let batches = ArrowBatches::new(batches.into_reader()?).map_err(refusal_error)?;
        let fields = batches.fields().to_vec();
        Ok(PySource(SourceKind::Arrow(
            Mutex::new(Some(batches)),
            fields,
        )))
    }

    /// Columns by name; `dates` are those that were dates.
    #[staticmethod]
    fn columns(columns: Vec<(String, ArrayColumn<'_>)>, dates: Vec<String>) -> PyResult<PySource> {
        let mut table = Table::new();
        for (name, values) in columns {
            let column = column(&name, &values)?;
            table.insert(name, column).map_err(refusal_error)?;
        }
        Ok(PySource(SourceKind::Columns(table, dates)))
    }
}

impl PySource {
    /// The names of all columns, and of those that hold dates.
    pub(crate) fn names(&self, options: &ReadOptions) -> PyResult<(Vec<String>, Vec<String>)> {
        let fields = match &self.0 {
            SourceKind::Files(files) => files.read_schema(options).map_err(refusal_error)?,
            SourceKind::Arrow(_, fields) => fields.clone(),
            SourceKind::Columns(table, dates) => {
                return Ok((table.names().to_vec(), dates.clone()));
            }
        };
        let dates = fields.iter().filter(|field| field.is_date());
        let dates = dates.map(|field| field.name.clone()).collect();
        let names = fields.into_iter().map(|field| field.name).collect();
        Ok((names, dates))
    }

    /// The files, if the source consists of files.
    pub(crate) fn as_files(&self) -> Option<&TableFiles> {
        match &self.0 {
            SourceKind::Files(files) => Some(files),
            _ => None,
        }
    }

    /// The model of the table, with its rows.
    pub(crate) fn open(
        &self,
        specification: &Specification,
        opening: &OpenRequest<'_>,
        row_file: &mut dyn FnMut() -> Result<PathBuf, Error>,
    ) -> Result<BoundRegression, Error> {
        let make = |options: &ReadOptions| self.rows(options, opening.observer);
        let table = match &self.0 {
            SourceKind::Files(files) => TableInput::Files(files),
            SourceKind::Arrow(..) | SourceKind::Columns(..) => TableInput::Made(&make),
        };
        open(specification, &table, opening, row_file)
    }

    /// All rows of the columns that the options select.
    pub(crate) fn read(
        &self,
        options: &ReadOptions,
        observer: &dyn ReadObserver,
    ) -> PyResult<Table> {
        self.rows(options, observer).map_err(refusal_error)
    }

    fn rows(&self, options: &ReadOptions, observer: &dyn ReadObserver) -> Result<Table, Error> {
        match &self.0 {
            SourceKind::Files(files) => FileTable::new(files, options, observer)?.read(),
            SourceKind::Arrow(batches, _) => {
                let batches = batches.lock().ok().and_then(|mut one| one.take());
                let batches = batches.ok_or_else(|| LearnError::Read(READ_BEFORE.into()))?;
                Ok(batches.read_table(options)?)
            }
            SourceKind::Columns(table, _) => Ok(table.clone().with_options(options)?),
        }
    }
}

fn column(name: &str, values: &ArrayColumn<'_>) -> PyResult<Column> {
    let scattered = |_| message_error(&format!("column {name:?}: expected an array in one piece"));
    Ok(match values {
        ArrayColumn::Number(values) => {
            Column::Number(values.as_slice().map_err(scattered)?.to_vec())
        }
        ArrayColumn::Matrix(values) => Column::Matrix {
            width: values.as_array().ncols(),
            values: values.as_slice().map_err(scattered)?.to_vec(),
        },
        ArrayColumn::Boolean(values) => {
            let truth = |value: &i8| (*value >= 0).then_some(*value == 1);
            Column::Boolean(
                values
                    .as_slice()
                    .map_err(scattered)?
                    .iter()
                    .map(truth)
                    .collect(),
            )
        }
        ArrayColumn::Category(codes, levels, is_ordered) => {
            let code = |code: &i64| u32::try_from(*code).unwrap_or(MISSING);
            let codes: Vec<u32> = codes
                .as_slice()
                .map_err(scattered)?
                .iter()
                .map(code)
                .collect();
            if *is_ordered {
                let levels = levels.as_slice().into();
                Column::Category { codes, levels }
            } else {
                Column::sorted_category(codes, levels)
            }
        }
    })
}
