//! Model functions of Python, recorded as the closures of Rust are.
//!
//! The recorder of a model and its graph live on a separate thread. The function runs where Python
//! called it and requests one value after another from the recorder. So a mistake is raised in the
//! line that makes it.

mod ask;
mod operation;
mod server;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use lehr::graph::Graph;
use lehr::model::Model;
use lehr::model::distribution::{Distribution, Parametrisation, RECIPES};
use lehr::regression::SavedFit;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;

use crate::error::{message_error, refusal_error};
use crate::fit::PyFit;
use crate::request::{FitSettings, ReadingOptions};
use crate::source::PySource;
use crate::watch::{MonitorObserver, run_watched};

use ask::{Answer, Ask, DistributionCall, Handle, ModelOperand};
use server::RecordingServer;

pub(crate) use ask::Handle as Value;

/// Both ends of the channel, as the recorder's thread holds them.
struct RecordingChannel {
    asks: Receiver<Ask>,
    answers: Sender<Answer>,
}

/// Python's end of the channel, through which a model function requests values.
#[pyclass(frozen, module = "lehr._lehr")]
pub(crate) struct Recorder {
    asks: Mutex<Option<Sender<Ask>>>,
    answers: Mutex<Receiver<Answer>>,
}

/// A model with its rows.
#[pyclass(frozen, module = "lehr._lehr")]
pub(crate) struct BoundModel(lehr::model::Bound);

/// Runs a model function against a table. Exceptions of the function are passed on.
#[pyfunction]
pub(crate) fn record(
    function: &Bound<'_, PyAny>,
    source: &PySource,
    reading: ReadingOptions,
    py: Python<'_>,
) -> PyResult<BoundModel> {
    let table = Arc::new(source.read(&reading.read_options(None)?, &())?);
    let ((asks, asked), (answered, answers)) = (channel(), channel());
    let line = Mutex::new(RecordingChannel {
        asks: asked,
        answers: answered,
    });
    let rows = Arc::clone(&table);
    let worker = std::thread::spawn(move || {
        let shared = Arc::clone(&rows);
        let model = Model::new(move |tracer| {
            let line = line.lock().expect("a model is recorded once");
            RecordingServer::new(tracer, &shared).serve_line(&line);
        });
        model.bind(&rows)
    });
    let recorder = Py::new(
        py,
        Recorder {
            asks: Mutex::new(Some(asks)),
            answers: Mutex::new(answers),
        },
    )?;
    let called = function.call1((&recorder,));
    recorder.get().hang_up();
    let bound = py.detach(|| worker.join());
    called?;
    let bound = bound.map_err(|_| {
        message_error(
            "model: the recorder broke down\n  hint: this is a fault of lehr; please report it",
        )
    })?;
    Ok(BoundModel(bound.map_err(refusal_error)?))
}

impl Recorder {
    fn hang_up(&self) {
        if let Ok(mut asks) = self.asks.lock() {
            asks.take();
        }
    }

    fn ask(&self, ask: Ask) -> PyResult<Answer> {
        let over =
            || message_error("model: expected a call while its function runs, found one after it");
        let asks = self.asks.lock().map_err(|_| over())?;
        let sender = asks.as_ref().ok_or_else(over)?;
        sender.send(ask).map_err(|_| over())?;
        let answers = self.answers.lock().map_err(|_| over())?;
        match answers.recv().map_err(|_| over())? {
            Answer::Refused(message) => Err(message_error(&message)),
            answer => Ok(answer),
        }
    }

    fn value(&self, ask: Ask) -> PyResult<Handle> {
        match self.ask(ask)? {
            Answer::Value(handle) => Ok(handle),
            _ => Err(message_error("model: expected a value")),
        }
    }
}

#[pymethods]
impl Recorder {
    fn apply(
        &self,
        operation: String,
        operands: Vec<ModelOperand>,
        numbers: Vec<i64>,
    ) -> PyResult<Handle> {
        self.value(Ask::Apply {
            operation,
            operands,
            numbers,
        })
    }

    fn at(&self, array: ModelOperand, column: String) -> PyResult<Handle> {
        self.value(Ask::At { array, column })
    }

    fn column(&self, column: String, role: String) -> PyResult<Handle> {
        self.value(Ask::Column { column, role })
    }

    fn weight(&self, column: String) -> PyResult<()> {
        self.ask(Ask::Weight { column }).map(drop)
    }

    fn levels(&self, column: String) -> PyResult<usize> {
        match self.ask(Ask::Levels { column })? {
            Answer::Count(count) => Ok(count),
            _ => Err(message_error("model: expected a count")),
        }
    }

    fn log_density(&self, law: DistributionCall, x: ModelOperand) -> PyResult<Handle> {
        self.value(Ask::LogDensity { law, x })
    }

    fn sample(&self, name: String, law: DistributionCall) -> PyResult<Handle> {
        self.value(Ask::Sample { name, law })
    }

    fn local(&self, name: String, law: DistributionCall) -> PyResult<Handle> {
        self.value(Ask::Local { name, law })
    }

    fn param(
        &self,
        name: String,
        start: ModelOperand,
        support: (String, Vec<f64>),
    ) -> PyResult<Handle> {
        self.value(Ask::Param {
            name,
            start,
            support,
        })
    }

    fn deterministic(&self, name: String, value: ModelOperand) -> PyResult<Handle> {
        self.value(Ask::Deterministic { name, value })
    }

    fn factor(&self, name: String, value: ModelOperand) -> PyResult<()> {
        self.ask(Ask::Factor { name, value }).map(drop)
    }

    fn enter_rows(&self) -> PyResult<()> {
        self.ask(Ask::EnterRows).map(drop)
    }

    fn leave_rows(&self) -> PyResult<()> {
        self.ask(Ask::LeaveRows).map(drop)
    }

    fn observe(&self, column: String, law: DistributionCall) -> PyResult<()> {
        self.ask(Ask::Observe { column, law }).map(drop)
    }
}

#[pymethods]
impl BoundModel {
    /// The recorded program, one line per statement.
    fn __str__(&self) -> String {
        self.0.program().to_string()
    }

    /// The program as bytes, equal for equal programs.
    fn program<'py>(&self, py: Python<'py>) -> Bound<'py, pyo3::types::PyBytes> {
        pyo3::types::PyBytes::new(py, &self.0.program().to_bytes())
    }

    /// Fits the model by one method after another.
    fn fit(&self, how: FitSettings, py: Python<'_>) -> PyResult<Vec<PyFit>> {
        let fits = how.make_fits()?;
        run_watched(&how, py, |watch| {
            let each = fits.into_iter().map(|fit| {
                let posterior = fit.observer(&mut MonitorObserver(watch)).run(&self.0);
                let saved = SavedFit::of(
                    posterior.map_err(|error| refusal_error(lehr::Error::from(error)))?,
                );
                Ok(PyFit::new(saved.map_err(refusal_error)?))
            });
            each.collect()
        })
    }
}

/// Every parametrisation of every distribution: its name and the names of its parameters.
#[pyfunction]
pub(crate) fn distributions() -> Vec<(&'static str, Vec<&'static str>)> {
    let row = |one: &Parametrisation| (one.name, one.parameters.to_vec());
    RECIPES.iter().map(row).collect()
}

/// The log density of constants under a distribution of constants.
#[pyfunction]
pub(crate) fn log_density<'py>(
    law: DistributionCall,
    x: PyReadonlyArrayDyn<'py, f64>,
    py: Python<'py>,
) -> PyResult<(Vec<usize>, Bound<'py, PyArray1<f64>>)> {
    let graph = Graph::new();
    let made = law
        .make_distribution(&graph, &[])
        .map_err(|message| message_error(&message))?;
    made.check_parameters()
        .map_err(|error| message_error(&error.to_string()))?;
    let x = ModelOperand::of_array(&x)?.on_graph(&graph, &[]);
    let density = made.log_density(x);
    let shape = density.shape().dims().to_vec();
    let values = density.constant_values().unwrap_or_default();
    Ok((shape, values.into_pyarray(py)))
}
