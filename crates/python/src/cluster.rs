//! Tables whose rows are in other processes: the partitions on the workers, and the fit on the
//! driver.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use lehr::regression::cluster::{self, ClusterDraft, RowStorage, Tasks};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList};

use crate::error::{LehrError, message_error, refusal_error};
use crate::fit::PyFit;
use crate::part::{PartOf, table_files, to_part};
use crate::request::{FitSettings, FormulaRequest, ReadingOptions};
use crate::source::PySource;
use crate::watch::{MonitorObserver, run_watched};

/// The row groups of a worker.
#[pyclass(frozen, module = "lehr._lehr")]
pub(crate) struct Partition(Mutex<cluster::Partition>);

#[pymethods]
impl Partition {
    #[new]
    fn new(own: PartOf, reading: ReadingOptions, rows: &str) -> PyResult<Partition> {
        let options = reading.read_options(None)?;
        let keeping = match rows {
            "memory" => RowStorage::Memory,
            "files" => RowStorage::Files,
            other => {
                let words = format!("rows: expected \"memory\" or \"files\", found {other:?}");
                return Err(message_error(&words));
            }
        };
        let partition = cluster::Partition::new(to_part(own), options);
        Ok(Partition(Mutex::new(partition.keeping(keeping))))
    }

    /// The answer to a task about a model.
    #[pyo3(signature = (model, task))]
    fn answer<'py>(
        &self,
        model: Option<PyBackedBytes>,
        task: PyBackedBytes,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let answer = py.detach(|| {
            let mut partition = self.0.lock().expect("no answer panics half-way");
            partition.answer(model.as_deref(), &task)
        });
        Ok(PyBytes::new(py, &answer.map_err(refusal_error)?))
    }
}

/// A table on a cluster, from keyword arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Cluster {
    source: Py<PySource>,
    /// An object with `bind(bytes)` and `answer(list of bytes)`.
    workers: Py<PyAny>,
    partitions: usize,
    /// The number of rows that are sampled to the driver.
    sample: usize,
}

/// The workers as Python objects.
struct PyWorkers {
    workers: Py<PyAny>,
    partitions: usize,
}

impl cluster::Workers for PyWorkers {
    fn partitions(&self) -> usize {
        self.partitions
    }

    fn bind(&self, model: &[u8]) -> Result<(), String> {
        Python::attach(|py| {
            let model = PyBytes::new(py, model);
            let bound = self.workers.call_method1(py, "bind", (model,));
            bound.map(|_| ()).map_err(|error| error_message(&error, py))
        })
    }

    fn answer(&self, tasks: Tasks<'_>) -> Result<Vec<Vec<u8>>, String> {
        Python::attach(|py| {
            let asked = || -> PyResult<Vec<Vec<u8>>> {
                let tasks: Vec<&[u8]> = match tasks {
                    Tasks::Same(task) => vec![task],
                    Tasks::Each(tasks) => tasks.iter().map(Vec::as_slice).collect(),
                };
                let tasks = tasks.into_iter().map(|task| PyBytes::new(py, task));
                let tasks = PyList::new(py, tasks.collect::<Vec<_>>())?;
                let answers = self.workers.call_method1(py, "answer", (tasks,))?;
                let answers: Vec<PyBackedBytes> = answers.extract(py)?;
                Ok(answers.iter().map(|bytes| bytes.to_vec()).collect())
            };
            asked().map_err(|error| error_message(&error, py))
        })
    }
}

/// The error in words for the user.
fn error_message(error: &PyErr, py: Python<'_>) -> String {
    let message = error.value(py).to_string();
    if error.is_instance_of::<LehrError>(py) {
        return message;
    }
    let kind = error.get_type(py).name();
    let kind = kind.map_or_else(|_| "error".to_owned(), |name| name.to_string());
    format!("cluster: {kind}: {message}")
}

/// Fits a formula to a table on a cluster by one method after another.
#[pyfunction]
pub(crate) fn fit_cluster(
    asked: FormulaRequest,
    table: Cluster,
    reading: ReadingOptions,
    how: FitSettings,
    py: Python<'_>,
) -> PyResult<Vec<PyFit>> {
    let fits = how.make_fits()?;
    let (source, workers) = (table.source.get(), table.workers.clone_ref(py));
    let seed = how.seed;
    run_watched(&how, py, |watch| {
        let clock = Instant::now();
        let (names, dates) = source.names(&reading.read_options(None)?)?;
        let specification = asked.make_specification(&names, dates)?;
        let columns = specification.columns().into_iter().map(str::to_owned);
        let options = reading.read_options(Some(columns.collect()))?;
        let draft = ClusterDraft {
            specification: &specification,
            fields: table_files(source)?
                .read_schema(&options)
                .map_err(refusal_error)?,
            sample: table.sample,
            seed,
            clock,
        };
        let workers = PyWorkers {
            workers,
            partitions: table.partitions,
        };
        let regression = draft.learn(Arc::new(workers)).map_err(refusal_error)?;
        let made = fits.into_iter().map(|fit| {
            let fitted = regression.fit(fit.observer(&mut MonitorObserver(watch)));
            Ok(PyFit::new(fitted.map_err(refusal_error)?))
        });
        made.collect()
    })
}
