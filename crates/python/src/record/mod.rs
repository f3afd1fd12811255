//! Model functions of Python, recorded as the closures of Rust are.
//!
//! The recorder of a model and its graph live on a separate thread. The function runs where Python
//! called it and requests one value after another from the recorder. So a mistake is raised in the
//! line that makes it.

mod ask;
mod operation;
mod server;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use lehr::graph::{Expr, Graph};
use lehr::model::distribution::{Distribution, Parametrisation, RECIPES};
use lehr::model::{Model, Row};
use lehr::regression::SavedFit;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;

use crate::error::{message_error, refusal_error};
use crate::fit::PyFit;
use crate::request::{FitSettings, ReadingOptions};
use crate::source::PySource;
use crate::watch::{MonitorObserver, run_watched};

use ask::{DistributionCall, Handle, ModelOperand};
use operation::apply_operation;
use server::{Ask, RecordingServer, inside_rows, parse_support};

pub(crate) use ask::Handle as Value;

/// Python's end of the channel, through which a model function requests values.
#[pyclass(frozen, module = "lehr._lehr")]
pub(crate) struct Recorder(Mutex<Option<Sender<Ask>>>);

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
    let (asks, asked) = channel();
    let asked = Mutex::new(asked);
    let rows = Arc::clone(&table);
    let worker = std::thread::spawn(move || {
        let shared = Arc::clone(&rows);
        let model = Model::new(move |tracer| {
            let asked = asked.lock().expect("a model is recorded once");
            RecordingServer::new(tracer, &shared).serve_asks(&asked);
        });
        model.bind(&rows)
    });
    let recorder = Py::new(py, Recorder(Mutex::new(Some(asks))))?;
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
        if let Ok(mut asks) = self.0.lock() {
            asks.take();
        }
    }

    /// Sends a request, which is given the way back, and waits for its answer.
    fn ask<T>(&self, request: impl FnOnce(Sender<Result<T, String>>) -> Ask) -> PyResult<T> {
        let over =
            || message_error("model: expected a call while its function runs, found one after it");
        let asks = self.0.lock().map_err(|_| over())?;
        let (answer, answered) = channel();
        let sent = asks.as_ref().ok_or_else(over)?.send(request(answer));
        sent.map_err(|_| over())?;
        let answer = answered.recv().map_err(|_| over())?;
        answer.map_err(|message| message_error(&message))
    }

    /// What a call on the tracer returns.
    fn call<T: Send + 'static>(
        &self,
        call: impl for<'t, 'g> FnOnce(
            &mut RecordingServer<'t, 'g>,
            Option<&Row<'_, 'g>>,
        ) -> Result<T, String>
        + Send
        + 'static,
    ) -> PyResult<T> {
        self.ask(|answer| {
            Ask::Call(Box::new(move |server, row| {
                let _ = answer.send(server.check_call(|server| call(server, row)));
            }))
        })
    }

    /// The handle of the value that a call on the tracer returns.
    fn value(
        &self,
        call: impl for<'t, 'g> FnOnce(
            &RecordingServer<'t, 'g>,
            Option<&Row<'_, 'g>>,
        ) -> Result<Expr<'g>, String>
        + Send
        + 'static,
    ) -> PyResult<Handle> {
        self.call(move |server, row| {
            let value = call(server, row)?;
            Ok(server.hand_out(value))
        })
    }
}

#[pymethods]
impl Recorder {
    /// An operation on values, with the whole numbers it needs.
    fn apply(
        &self,
        operation: String,
        operands: Vec<ModelOperand>,
        numbers: Vec<i64>,
    ) -> PyResult<Handle> {
        self.value(move |server, _| {
            let operands: Vec<_> = operands.iter().map(|one| server.value_of(one)).collect();
            apply_operation(server.tracer.graph(), &operation, &operands, &numbers)
        })
    }

    /// Rows of an array by an index column.
    fn at(&self, array: ModelOperand, column: String) -> PyResult<Handle> {
        self.value(move |server, row| {
            let array = server.value_of(&array);
            Ok(array.at(inside_rows(row, &column)?.index(&column)))
        })
    }

    /// A column of the rows: `number`, `matrix`, `offset`, or `auto` for its type in the table.
    fn column(&self, column: String, role: String) -> PyResult<Handle> {
        self.value(move |server, row| {
            Ok(server.read_column(inside_rows(row, &column)?, &column, &role))
        })
    }

    fn weight(&self, column: String) -> PyResult<()> {
        self.call(move |_, row| {
            inside_rows(row, &column)?.weight(&column);
            Ok(())
        })
    }

    /// The number of levels of a column.
    fn levels(&self, column: String) -> PyResult<usize> {
        self.call(move |server, _| Ok(server.tracer.levels(&column)))
    }

    fn log_density(&self, law: DistributionCall, x: ModelOperand) -> PyResult<Handle> {
        self.value(move |server, _| Ok(server.make_law(&law)?.log_density(server.value_of(&x))))
    }

    fn sample(&self, name: String, law: DistributionCall) -> PyResult<Handle> {
        self.value(move |server, _| Ok(server.tracer.sample(&name, server.make_law(&law)?)))
    }

    fn local(&self, name: String, law: DistributionCall) -> PyResult<Handle> {
        self.value(move |server, row| {
            Ok(inside_rows(row, &name)?.local(&name, server.make_law(&law)?))
        })
    }

    /// A parameter with its start and support.
    fn param(
        &self,
        name: String,
        start: ModelOperand,
        support: (String, Vec<f64>),
    ) -> PyResult<Handle> {
        self.value(move |server, _| {
            let start = start.parameter_value(server.tracer.graph(), &server.values);
            let support = parse_support(&support.0, &support.1)?;
            Ok(server.tracer.param(&name, start, support))
        })
    }

    /// A quantity with a name.
    fn deterministic(&self, name: String, value: ModelOperand) -> PyResult<Handle> {
        self.value(move |server, _| {
            Ok((server.tracer).deterministic(&name, server.value_of(&value)))
        })
    }

    /// A term of the log prior.
    fn factor(&self, name: String, value: ModelOperand) -> PyResult<()> {
        self.call(move |server, _| {
            server.tracer.factor(&name, server.value_of(&value));
            Ok(())
        })
    }

    fn enter_rows(&self) -> PyResult<()> {
        self.ask(Ask::EnterRows)
    }

    fn leave_rows(&self) -> PyResult<()> {
        self.ask(Ask::LeaveRows)
    }

    fn observe(&self, column: String, law: DistributionCall) -> PyResult<()> {
        self.call(move |server, row| {
            let law = server.make_law(&law)?;
            inside_rows(row, &column)?.observe(&column, law);
            Ok(())
        })
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
