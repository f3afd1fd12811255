//! Parameters of distributions: numbers, arrays of numbers, or expressions.

use lehr_graph::{Expr, Graph, Shape};

/// A parameter: a number, a vector of numbers, or an expression.
#[derive(Clone, Debug)]
pub enum Value<'g> {
    /// A constant number.
    Number(f64),
    /// A constant vector.
    Vector(Vec<f64>),
    /// An array of the program.
    Expr(Expr<'g>),
}

impl<'g> Value<'g> {
    /// The value as an array of `graph`, to which it must belong if it is an expression.
    pub fn on_graph(&self, graph: &'g Graph) -> Expr<'g> {
        match self {
            Value::Number(number) => graph.scalar(*number),
            Value::Vector(numbers) => graph.constant([numbers.len()], numbers),
            Value::Expr(expr) => *expr,
        }
    }

    /// The shape, of rank zero for a number.
    pub fn shape(&self) -> Shape {
        match self {
            Value::Number(_) => Shape::SCALAR,
            Value::Vector(numbers) => Shape::from([numbers.len()]),
            Value::Expr(expr) => expr.shape(),
        }
    }

    /// The distinct numbers of a constant; empty for an expression that is not constant.
    pub(super) fn constant_values(&self) -> Vec<f64> {
        match self {
            Value::Number(number) => vec![*number],
            Value::Vector(numbers) => numbers.clone(),
            Value::Expr(expr) => expr.as_number().into_iter().collect(),
        }
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<Vec<f64>> for Value<'_> {
    fn from(numbers: Vec<f64>) -> Self {
        Value::Vector(numbers)
    }
}

impl From<&[f64]> for Value<'_> {
    fn from(numbers: &[f64]) -> Self {
        Value::Vector(numbers.to_vec())
    }
}

impl<const N: usize> From<[f64; N]> for Value<'_> {
    fn from(numbers: [f64; N]) -> Self {
        Value::Vector(numbers.to_vec())
    }
}

impl<'g> From<Expr<'g>> for Value<'g> {
    fn from(expr: Expr<'g>) -> Self {
        Value::Expr(expr)
    }
}

/// A positive parameter: the number itself, or its logarithm.
#[derive(Clone, Debug)]
pub(super) enum PositiveValue<'g> {
    Number(Value<'g>),
    Log(Value<'g>),
}

impl<'g> PositiveValue<'g> {
    pub(super) fn shape(&self) -> Shape {
        match self {
            PositiveValue::Number(value) | PositiveValue::Log(value) => value.shape(),
        }
    }

    /// The number and its logarithm.
    pub(super) fn with_log(&self, graph: &'g Graph) -> [Expr<'g>; 2] {
        match self {
            PositiveValue::Number(value) => [value.on_graph(graph), value.on_graph(graph).ln()],
            PositiveValue::Log(log) => [log.on_graph(graph).exp(), log.on_graph(graph)],
        }
    }
}

/// The shape to which all broadcast. Those that do not fit are skipped here and reported by
/// [`super::check::ParameterCheck`].
pub(super) fn joint_shape(shapes: &[Shape]) -> Shape {
    let join = |joint: Shape, own: &Shape| joint.broadcast(*own).unwrap_or(joint);
    shapes.iter().fold(Shape::SCALAR, join)
}

/// The shape without its last `count` axes.
pub(super) fn leading_shape(shape: Shape, count: usize) -> Shape {
    Shape::new(&shape.dims()[..shape.rank() - count.min(shape.rank())])
}

/// `batch` followed by `event`.
///
/// # Panics
/// With more axes than a shape may have.
pub(super) fn join_shapes(batch: Shape, event: Shape) -> Shape {
    Shape::new(&[batch.dims(), event.dims()].concat())
}

/// Named scalar parameters, each repeated to the batch shape.
pub(super) fn spread_values<'g, const N: usize>(
    graph: &'g Graph,
    shape: Shape,
    named: [(&'static str, &Value<'g>); N],
) -> Vec<(&'static str, Expr<'g>)> {
    let spread = |(name, value): (_, &Value<'g>)| (name, value.on_graph(graph).broadcast(shape));
    named.into_iter().map(spread).collect()
}

/// All parameters, repeated to one shape.
pub(super) fn spread_parameters<'g>(
    parameters: impl IntoIterator<Item = (&'static str, Expr<'g>)>,
    shape: Shape,
) -> Vec<(&'static str, Expr<'g>)> {
    let parameters = parameters.into_iter();
    parameters
        .map(|(name, expr)| (name, expr.broadcast(shape)))
        .collect()
}
