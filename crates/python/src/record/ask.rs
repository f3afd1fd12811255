//! The requests of a model function to the recorder, and the answers.

use lehr::graph::{Expr, Graph, ROWS, Shape};
use lehr::model::distribution::{AnyDistribution, Distribution, Value, find_recipe};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::message_error;

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

/// An operand of an operation or a distribution.
#[derive(Clone, Debug)]
pub(crate) enum ModelOperand {
    Value(usize),
    Number(f64),
    Array(Vec<usize>, Vec<f64>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for ModelOperand {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<ModelOperand> {
        if let Ok(handle) = object.cast::<Handle>() {
            return Ok(ModelOperand::Value(handle.get().place));
        }
        if let Ok(array) = object.extract::<PyReadonlyArrayDyn<'_, f64>>() {
            return ModelOperand::of_array(&array);
        }
        Ok(ModelOperand::Number(object.extract()?))
    }
}

impl ModelOperand {
    /// The numbers of an array; one without axes is a number.
    pub(super) fn of_array(array: &PyReadonlyArrayDyn<'_, f64>) -> PyResult<ModelOperand> {
        let scattered = |_| message_error("model: expected an array in one piece");
        let values = array.as_slice().map_err(scattered)?;
        match (array.shape(), values) {
            ([], [only]) => Ok(ModelOperand::Number(*only)),
            (shape, _) if shape.len() > lehr::graph::MAX_RANK => Err(message_error(&format!(
                "model: expected an array of at most {} dimensions, found {}",
                lehr::graph::MAX_RANK,
                shape.len()
            ))),
            (shape, values) => Ok(ModelOperand::Array(shape.to_vec(), values.to_vec())),
        }
    }

    /// The operand on the graph of the model.
    pub(super) fn on_graph<'g>(&self, graph: &'g Graph, values: &[Expr<'g>]) -> Expr<'g> {
        match self {
            ModelOperand::Value(place) => values[*place],
            ModelOperand::Number(number) => graph.scalar(*number),
            ModelOperand::Array(shape, numbers) => graph.constant(Shape::new(shape), numbers),
        }
    }

    /// The operand as a parameter: numbers stay numbers.
    pub(super) fn parameter_value<'g>(&self, graph: &'g Graph, values: &[Expr<'g>]) -> Value<'g> {
        match self {
            ModelOperand::Number(number) => Value::Number(*number),
            ModelOperand::Array(shape, numbers) if shape.len() == 1 => {
                Value::Vector(numbers.clone())
            }
            other => Value::Expr(other.on_graph(graph, values)),
        }
    }
}

/// A distribution as written: its name, its parameters by name, and its batch shape if it was
/// expanded.
#[derive(FromPyObject)]
pub(crate) struct DistributionCall {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    parameters: Vec<(String, ModelOperand)>,
    #[pyo3(item)]
    batch: Option<Vec<usize>>,
}

impl DistributionCall {
    /// The distribution, or what is wrong with its parameters.
    pub(super) fn make_distribution<'g>(
        &self,
        graph: &'g Graph,
        values: &[Expr<'g>],
    ) -> Result<AnyDistribution<'g>, String> {
        let names: Vec<&str> = self.parameters.iter().map(|(name, _)| &**name).collect();
        let known = find_recipe(&self.name, &names)
            .ok_or_else(|| format!("{}: no such parameters: {}", self.name, names.join(", ")))?;
        let value = |name: &&str| {
            let found = self.parameters.iter().find(|(given, _)| given == name);
            found.map(|(_, operand)| operand.parameter_value(graph, values))
        };
        let given: Vec<Value<'g>> = known.parameters.iter().filter_map(value).collect();
        let made = known.make_distribution(&given);
        let made = made.map_err(|problem| format!("{}: {problem}", self.name))?;
        Ok(match &self.batch {
            None => made,
            Some(batch) => Box::new(made.expand(Shape::new(batch))),
        })
    }
}
