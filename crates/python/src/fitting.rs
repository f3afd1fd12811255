//! From a formula and a table to fits.

use std::path::{Path, PathBuf};
use std::time::Instant;

use lehr::Error;
use lehr::regression::{BoundRegression, LearnError, Opening};
use lehr::table::Scratch;
use pyo3::prelude::*;

use crate::after::to_json;
use crate::error::refusal_error;
use crate::fit::Fit;
use crate::request::{Asked, How, Reading};
use crate::source::Source;
use crate::watch::{Watch, Watched, run_watched};

/// A model with its rows.
struct Task {
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

impl Task {
    /// Reads the columns that the formula names and builds the model.
    fn new(asked: &Asked, source: &Source, reading: &Reading, at: &Place<'_>) -> PyResult<Task> {
        let clock = Instant::now();
        let options = reading.read_options(None)?;
        let (names, dates) = source.names(&options)?;
        let specification = asked.make_specification(&names, dates)?;
        let opening = Opening {
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
        Ok(Task {
            bound: bound.map_err(refusal_error)?,
            rows,
        })
    }

    fn fit(&self, fit: lehr::infer::fit::Fit<'_>, watch: &Watch) -> PyResult<Fit> {
        let made = self.bound.fit(fit.observer(&mut Watched(watch)));
        Ok(Fit::new(made.map_err(refusal_error)?))
    }

    /// Removes rows on disk that are no longer needed.
    fn clear(self) {
        if let Some(rows) = self.rows {
            let _ = std::fs::remove_file(rows.path);
        }
    }
}

/// The resources of a task.
struct Place<'a> {
    rows: Option<&'a Path>,
    /// The memory in bytes for the columns.
    memory: u64,
    /// The methods that will fit the model.
    methods: &'a [&'a str],
    watch: &'a Watch,
}

/// A prior: its name, distribution and who set it.
type PriorEntry = (String, String, String);

/// The priors of a formula for a table, and, if draws and a seed are given, their predictive
/// quantiles as JSON.
#[pyfunction]
pub(crate) fn priors(
    asked: Asked,
    source: &Source,
    reading: Reading,
    drawn: Option<(usize, u64)>,
    py: Python<'_>,
) -> PyResult<(Vec<PriorEntry>, Option<String>)> {
    let memory = asked.memory_bytes()?;
    py.detach(|| {
        let place = Place {
            rows: None,
            memory,
            methods: &[],
            watch: &Watch::default(),
        };
        let task = Task::new(&asked, source, &reading, &place)?;
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
    asked: Asked,
    source: &Source,
    reading: Reading,
    how: How,
    py: Python<'_>,
) -> PyResult<Vec<Fit>> {
    let drawn = asked.prior_only.then(|| how.of_prior()).transpose()?;
    let fits = if drawn.is_some() {
        Vec::new()
    } else {
        how.make_fits()?
    };
    let memory = asked.memory_bytes()?;
    let methods: Vec<&str> = fits.iter().map(|fit| fit.method.info().name).collect();
    run_watched(&how, py, |watch| {
        let rows = how.rows.as_deref();
        let task = Task::new(
            &asked,
            source,
            &reading,
            &Place {
                rows,
                memory,
                methods: &methods,
                watch,
            },
        )?;
        let made = if let Some((draws, seed)) = drawn {
            let drawn = task.bound.prior_only(draws, seed).map_err(refusal_error)?;
            vec![Fit::new(drawn)]
        } else {
            let made = fits.into_iter().map(|fit| task.fit(fit, watch));
            made.collect::<PyResult<_>>()?
        };
        task.clear();
        Ok(made)
    })
}
