//! What a model function asks of the recorder, and what it is told.

use lehr::graph::{Expr, Graph, ROWS, Shape};
use lehr::model::distribution::{AnyDistribution, Distribution, Value, recipe};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::said;

/// A value of the model: its number, and its shape, in which the axis of rows has no length.
#[pyclass(frozen, module = "lehr._lehr", name = "Value", from_py_object)]
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(super) place: usize,
    #[pyo3(get)]
    shape: Vec<Option<usize>>,
}

impl Handle {
    /// The value at this place.
    pub(super) fn new(place: usize, expr: Expr<'_>) -> Handle {
        let length = |&length: &usize| (length < ROWS).then_some(length);
        Handle {
            place,
            shape: expr.shape().dims().iter().map(length).collect(),
        }
    }
}

/// What an operation or a distribution is given.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Value(usize),
    Number(f64),
    Array(Vec<usize>, Vec<f64>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Operand {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Operand> {
        if let Ok(handle) = object.cast::<Handle>() {
            return Ok(Operand::Value(handle.get().place));
        }
        if let Ok(array) = object.extract::<PyReadonlyArrayDyn<'_, f64>>() {
            return Operand::of_array(&array);
        }
        Ok(Operand::Number(object.extract()?))
    }
}

impl Operand {
    /// The numbers of an array; one without axes is a number.
    pub(super) fn of_array(array: &PyReadonlyArrayDyn<'_, f64>) -> PyResult<Operand> {
        let scattered = |_| said("model: expected an array in one piece");
        let values = array.as_slice().map_err(scattered)?;
        match (array.shape(), values) {
            ([], [only]) => Ok(Operand::Number(*only)),
            (shape, _) if shape.len() > lehr::graph::MAX_RANK => Err(said(&format!(
                "model: expected an array of at most {} dimensions, found {}",
                lehr::graph::MAX_RANK,
                shape.len()
            ))),
            (shape, values) => Ok(Operand::Array(shape.to_vec(), values.to_vec())),
        }
    }

    /// The operand on the graph of the model.
    pub(super) fn on<'g>(&self, graph: &'g Graph, values: &[Expr<'g>]) -> Expr<'g> {
        match self {
            Operand::Value(place) => values[*place],
            Operand::Number(number) => graph.scalar(*number),
            Operand::Array(shape, numbers) => graph.constant(Shape::new(shape), numbers),
        }
    }

    /// The operand as a parameter: numbers stay numbers.
    pub(super) fn parameter<'g>(&self, graph: &'g Graph, values: &[Expr<'g>]) -> Value<'g> {
        match self {
            Operand::Number(number) => Value::Number(*number),
            Operand::Array(shape, numbers) if shape.len() == 1 => Value::Vector(numbers.clone()),
            other => Value::Expr(other.on(graph, values)),
        }
    }
}

/// A distribution as it was written: its name, parameters by name, and its batch shape if it was
/// expanded.
#[derive(FromPyObject)]
pub(crate) struct Law {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    parameters: Vec<(String, Operand)>,
    #[pyo3(item)]
    batch: Option<Vec<usize>>,
}

impl Law {
    /// The distribution, or what is wrong with its parameters.
    pub(super) fn distribution<'g>(
        &self,
        graph: &'g Graph,
        values: &[Expr<'g>],
    ) -> Result<AnyDistribution<'g>, String> {
        let names: Vec<&str> = self.parameters.iter().map(|(name, _)| &**name).collect();
        let known = recipe(&self.name, &names)
            .ok_or_else(|| format!("{}: no such parameters: {}", self.name, names.join(", ")))?;
        let value = |name: &&str| {
            let found = self.parameters.iter().find(|(given, _)| given == name);
            found.map(|(_, operand)| operand.parameter(graph, values))
        };
        let given: Vec<Value<'g>> = known.parameters.iter().filter_map(value).collect();
        let made = known.make(&given);
        let made = made.map_err(|problem| format!("{}: {problem}", self.name))?;
        Ok(match &self.batch {
            None => made,
            Some(batch) => Box::new(made.expand(Shape::new(batch))),
        })
    }
}

/// One thing that a model function asks for.
pub(super) enum Ask {
    /// An operation on values, with the whole numbers it needs.
    Apply {
        operation: String,
        operands: Vec<Operand>,
        numbers: Vec<i64>,
    },
    /// Rows of an array by an index column.
    At { array: Operand, column: String },
    /// A column of the rows: `number`, `matrix`, `offset`, or `auto` as the table has it.
    Column { column: String, role: String },
    /// A column that weighs the rows.
    Weight { column: String },
    /// How many levels a column has.
    Levels { column: String },
    /// The log density of a value.
    LogDensity { law: Law, x: Operand },
    /// A latent.
    Sample { name: String, law: Law },
    /// A latent of each row's own.
    Local { name: String, law: Law },
    /// A parameter with its start and support.
    Param {
        name: String,
        start: Operand,
        support: (String, Vec<f64>),
    },
    /// A quantity with a name.
    Deterministic { name: String, value: Operand },
    /// A term of the log prior.
    Factor { name: String, value: Operand },
    /// What follows belongs to each row.
    EnterRows,
    /// The rows end.
    LeaveRows,
    /// An observed column.
    Observe { column: String, law: Law },
}

/// What the recorder says.
pub(super) enum Answer {
    Value(Handle),
    Count(usize),
    Done,
    Refused(String),
}
