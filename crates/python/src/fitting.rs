//! From a formula and a table to fits.

use std::path::{Path, PathBuf};
use std::time::Instant;

use lehr::Error;
use lehr::infer::method::MethodInfo;
use lehr::regression::{BoundRegression, LearnError, OpenRequest};
use lehr::table::Scratch;
use pyo3::prelude::*;

use crate::after::to_json;
use crate::error::refusal_error;
use crate::fit::PyFit;
use crate::request::{FitSettings, FormulaRequest, ReadingOptions};
use crate::source::PySource;
use crate::watch::{FitMonitor, MonitorObserver, run_watched};

/// A model with its rows.
struct FitTask {
    bound: BoundRegression,
    /// The file of the rows, if they are on disk.
    rows: Option<RowFile>,
}

/// A file of rows, which is removed with the task.
struct RowFile {
    path: PathBuf,
    _folder: Option<Scratch>,
}

impl RowFile {
    fn new(named: Option<&Path>) -> Result<RowFile, Error> {
        if let Some(path) = named {
            return Ok(RowFile {
                path: path.into(),
                _folder: None,
            });
        }
        let place = std::env::temp_dir();
        let folder = Scratch::new_in(&place, "lehr-rows-").map_err(|error| {
            LearnError::Read(format!("{}: cannot write: {error}", place.display()))
        })?;
        Ok(RowFile {
            path: folder.path().join("rows"),
            _folder: Some(folder),
        })
    }
}

impl FitTask {
    /// Reads the columns that the formula names and builds the model.
    fn new(
        asked: &FormulaRequest,
        source: &PySource,
        reading: &ReadingOptions,
        at: &TaskResources<'_>,
    ) -> PyResult<FitTask> {
        let clock = Instant::now();
        let options = reading.read_options(None)?;
        let (names, dates) = source.names(&options)?;
        let specification = asked.make_specification(&names, dates)?;
        let opening = OpenRequest {
            options: &options,
            memory: at.memory,
            methods: at.methods,
            observer: at.watch,
            clock,
        };
        let mut rows = None;
        let bound = source.open(&specification, &opening, &mut || {
            Ok(rows.insert(RowFile::new(at.rows)?).path.clone())
        });
        Ok(FitTask {
            bound: bound.map_err(refusal_error)?,
            rows,
        })
    }

    fn fit(&self, fit: lehr::infer::fit::Fit<'_>, watch: &FitMonitor) -> PyResult<PyFit> {
        let made = self.bound.fit(fit.observer(&mut MonitorObserver(watch)));
        Ok(PyFit::new(made.map_err(refusal_error)?))
    }

    /// Removes rows on disk that are no longer needed.
    fn clear(self) {
        if let Some(rows) = self.rows {
            let _ = std::fs::remove_file(rows.path);
        }
    }
}

/// The resources of a task.
struct TaskResources<'a> {
    rows: Option<&'a Path>,
    /// The memory in bytes for the columns.
    memory: u64,
    /// The methods that will fit the model.
    methods: &'a [&'a MethodInfo],
    watch: &'a FitMonitor,
}

/// A prior: its name, distribution and who set it.
type PriorEntry = (String, String, String);

/// The priors of a formula for a table, and, if draws and a seed are given, their predictive
/// quantiles as JSON.
#[pyfunction]
pub(crate) fn priors(
    asked: FormulaRequest,
    source: &PySource,
    reading: ReadingOptions,
    drawn: Option<(usize, u64)>,
    py: Python<'_>,
) -> PyResult<(Vec<PriorEntry>, Option<String>)> {
    let memory = asked.memory_bytes()?;
    py.detach(|| {
        let place = TaskResources {
            rows: None,
            memory,
            methods: &[],
            watch: &FitMonitor::default(),
        };
        let task = FitTask::new(&asked, source, &reading, &place)?;
        let lines = task.bound.subject.prior_lines().into_iter();
        let lines = lines.map(|one| (one.name, one.distribution, one.origin.to_string()));
        let drawn = drawn.map(|(draws, seed)| {
            let found = task.bound.prior_predictive(draws, seed);
            to_json(&found.map_err(refusal_error)?.into_summary())
        });
        let found = (lines.collect(), drawn.transpose()?);
        task.clear();
        Ok(found)
    })
}

/// Fits a formula to a table by one method after another.
#[pyfunction]
pub(crate) fn fit(
    asked: FormulaRequest,
    source: &PySource,
    reading: ReadingOptions,
    how: FitSettings,
    py: Python<'_>,
) -> PyResult<Vec<PyFit>> {
    let drawn = asked.prior_only.then(|| how.of_prior()).transpose()?;
    let fits = if drawn.is_some() {
        Vec::new()
    } else {
        how.make_fits()?
    };
    let memory = asked.memory_bytes()?;
    let methods: Vec<&MethodInfo> = fits.iter().map(|fit| fit.method.info()).collect();
    run_watched(&how, py, |watch| {
        let rows = how.rows.as_deref();
        let task = FitTask::new(
            &asked,
            source,
            &reading,
            &TaskResources {
                rows,
                memory,
                methods: &methods,
                watch,
            },
        )?;
        let made = if let Some((draws, seed)) = drawn {
            let drawn = task.bound.prior_only(draws, seed).map_err(refusal_error)?;
            vec![PyFit::new(drawn)]
        } else {
            let made = fits.into_iter().map(|fit| task.fit(fit, watch));
            made.collect::<PyResult<_>>()?
        };
        task.clear();
        Ok(made)
    })
}
