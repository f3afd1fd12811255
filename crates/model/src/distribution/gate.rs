//! The common part of zero-inflated and hurdle counts: a logit of the zero probability beside the
//! counts' parameters.

use lehr_graph::{Expr, Graph, Shape};

use super::check::Check;
use super::{Distribution, ParameterError, Value};

/// The logit of the gate, then the parameters of the counts, all of one shape.
pub(super) fn parameters<'g>(
    gate: &Value<'g>,
    base: &dyn Distribution<'g>,
    shape: Shape,
    graph: &'g Graph,
) -> Vec<(&'static str, Expr<'g>)> {
    let mut parameters = vec![("gate", gate.on(graph))];
    parameters.extend(base.parameters(graph));
    for (_, expr) in &mut parameters {
        *expr = expr.broadcast(shape);
    }
    parameters
}

/// Checks the counts, then whether the gate fits them.
pub(super) fn check<'g>(
    name: &'static str,
    gate: &Value<'g>,
    base: &dyn Distribution<'g>,
) -> Result<(), ParameterError> {
    base.check()?;
    let check = Check::of(name).finite("gate", gate);
    let (gate, base) = (gate.shape(), base.shape());
    match gate.broadcast(base) {
        Some(_) => check,
        None => check.fail(
            format!("gate must fit the counts of shape {base}, found shape {gate}"),
            "shapes must be equal, or 1 where they differ",
        ),
    }
    .done()
}
