//! Operations by name.

use lehr::graph::{Expr, Graph, ROWS, Shape};

/// The result of an operation, or the error that no operation has this name and number of operands.
pub(super) fn apply_operation<'g>(
    graph: &'g Graph,
    operation: &str,
    operands: &[Expr<'g>],
    numbers: &[i64],
) -> Result<Expr<'g>, String> {
    let found = match (operands, numbers) {
        ([x, y], []) => apply_binary(operation, *x, *y),
        ([test, x, y], []) if operation == "select" => Some(test.select(*x, *y)),
        ([x], numbers) => {
            apply_numbered(operation, *x, numbers).or_else(|| apply_unary(operation, *x))
        }
        _ => None,
    };
    let found = found.or_else(|| apply_joined(graph, operation, operands, numbers));
    found.ok_or_else(|| {
        format!(
            "{operation}: no such operation of {} values",
            operands.len()
        )
    })
}

fn apply_unary<'g>(operation: &str, x: Expr<'g>) -> Option<Expr<'g>> {
    Some(match operation {
        "neg" => -x,
        "abs" => x.abs(),
        "sign" => x.sign(),
        "exp" => x.exp(),
        "expm1" => x.expm1(),
        "ln" => x.ln(),
        "log1p" => x.log1p(),
        "sqrt" => x.sqrt(),
        "recip" => x.recip(),
        "square" => x.square(),
        "sigmoid" => x.sigmoid(),
        "softplus" => x.softplus(),
        "tanh" => x.tanh(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "atan" => x.atan(),
        "elu" => x.elu(),
        "lgamma" => x.lgamma(),
        "digamma" => x.digamma(),
        "erf" => x.erf(),
        "erfc" => x.erfc(),
        "normal_log_cdf" => x.normal_log_cdf(),
        "sum" => x.sum(),
        "mean" => x.mean(),
        "maximum" => x.maximum(),
        "cumulative_sum" => x.cumulative_sum(),
        "transpose" => x.transpose(),
        "cholesky" => x.cholesky(),
        "diagonal" => x.diagonal(),
        "diagonal_matrix" => x.diagonal_matrix(),
        "log_determinant_of_factor" => x.log_determinant_of_factor(),
        "stop_gradient" => x.stop_gradient(),
        _ => return None,
    })
}

fn apply_binary<'g>(operation: &str, x: Expr<'g>, y: Expr<'g>) -> Option<Expr<'g>> {
    Some(match operation {
        "add" => x + y,
        "sub" => x - y,
        "mul" => x * y,
        "div" => x / y,
        "pow" => x.pow(y),
        "min" => x.min(y),
        "max" => x.max(y),
        "less" => x.less(y),
        "less_equal" => x.less_equal(y),
        "equal" => x.equal(y),
        "dot" => x.dot(y),
        "outer" => x.outer(y),
        "solve_lower" => x.solve_lower(y),
        "solve_lower_transposed" => x.solve_lower_transposed(y),
        _ => return None,
    })
}

/// Operations on one value that need whole numbers: axes, places, lengths.
fn apply_numbered<'g>(operation: &str, x: Expr<'g>, numbers: &[i64]) -> Option<Expr<'g>> {
    let place = |number: i64| usize::try_from(number).ok();
    Some(match (operation, numbers) {
        ("sum_axis", [axis]) => x.sum_axis(place(*axis)?),
        ("max_axis", [axis]) => x.max_axis(place(*axis)?),
        ("log_sum_exp", [axis]) => x.log_sum_exp(place(*axis)?),
        ("entry", [at]) => x.entry(place(*at)?),
        ("slice", [axis, start, end]) => x.slice(place(*axis)?, place(*start)?..place(*end)?),
        ("tril", [offset]) => x.tril(i32::try_from(*offset).ok()?),
        ("reshape", dims) => x.reshape(to_shape(dims)),
        ("broadcast", dims) => x.broadcast(to_shape(dims)),
        _ => return None,
    })
}

/// Operations on any number of values.
fn apply_joined<'g>(
    graph: &'g Graph,
    operation: &str,
    operands: &[Expr<'g>],
    numbers: &[i64],
) -> Option<Expr<'g>> {
    match (operation, numbers) {
        ("concat", [axis]) => Some(graph.concat(operands, usize::try_from(*axis).ok()?)),
        ("stack", []) => Some(graph.stack(operands)),
        _ => None,
    }
}

/// A shape in which −1 stands for the rows.
fn to_shape(dims: &[i64]) -> Shape {
    let length = |&dim: &i64| usize::try_from(dim).unwrap_or(ROWS);
    Shape::new(&dims.iter().map(length).collect::<Vec<_>>())
}
