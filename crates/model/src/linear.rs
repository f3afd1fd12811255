//! Whether all rows read the latents through a few affine functions of them.

use lehr_density::{Layout, Point, Response};
use lehr_graph::Expr;

/// The most numbers of a row's parameters and of sites shared by all rows that still count as
/// a few predictors.
const MOST: usize = 16;

/// Expressions `[n]`, each affine in the latents, through which alone the latents enter the
/// responses. A parameter may be a function of an affine one, as a rate is of its logarithm.
/// Another, such as a noise scale, may depend on a few numbers of z, which then are predictors
/// themselves; `None` if it depends on more.
pub(crate) fn predictors<'g>(
    at: &Point<'g>,
    latents: &Layout,
    responses: &[Response<'g>],
) -> Option<Vec<Expr<'g>>> {
    let mut found: Vec<Expr<'g>> = Vec::new();
    for (_, parameter) in responses.iter().flat_map(|response| &response.parameters) {
        let parts = match affinity(at, *parameter) {
            Affinity::Constant => continue,
            Affinity::Affine => numbers_of_each_row(*parameter),
            Affinity::Curved => match linked(at, *parameter) {
                Some(predictor) => numbers_of_each_row(predictor),
                None => shared_numbers(at, latents, *parameter)?,
            },
        };
        for part in parts {
            if !found.iter().any(|known| known.is(part)) {
                found.push(part);
            }
        }
    }
    (found.len() <= MOST).then_some(found)
}

/// What the parameter is a function of, if that is affine.
fn linked<'g>(at: &Point<'g>, parameter: Expr<'g>) -> Option<Expr<'g>> {
    let inner = std::iter::successors(parameter.argument(), |expr| expr.argument());
    inner
        .into_iter()
        .find(|expr| matches!(affinity(at, *expr), Affinity::Affine))
}

enum Affinity {
    Constant,
    Affine,
    Curved,
}

/// The directional derivative of an affine function does not depend on where it is taken, and
/// the graph knows: what does not depend on z has a gradient that is zero as an expression.
fn affinity<'g>(at: &Point<'g>, value: Expr<'g>) -> Affinity {
    let graph = at.graph();
    let along = graph.input("direction", at.latents.shape());
    let slope = graph.jvp(&[value], &[at.latents], &[along])[0];
    if is_zero(slope) {
        return Affinity::Constant;
    }
    if is_zero(graph.grad(slope, &[at.latents])[0]) {
        return Affinity::Affine;
    }
    Affinity::Curved
}

fn is_zero(expr: Expr<'_>) -> bool {
    expr.as_number() == Some(0.0)
}

/// The columns of `[n, width]` one by one, or `[n]` itself.
fn numbers_of_each_row(value: Expr<'_>) -> Vec<Expr<'_>> {
    let shape = value.shape();
    let rows = shape.dims()[0];
    let flat = value.reshape([rows, shape.size() / rows.max(1)]);
    let column = |k: usize| flat.slice(1, k..k + 1).reshape([rows]);
    (0..flat.shape().dims()[1]).map(column).collect()
}

/// The numbers of z on which `value` depends, repeated over rows; `None` if they are many.
fn shared_numbers<'g>(at: &Point<'g>, latents: &Layout, value: Expr<'g>) -> Option<Vec<Expr<'g>>> {
    let graph = at.graph();
    let rows = value.shape().dims()[0];
    let mut numbers = Vec::new();
    for position in 0..latents.sites().len() {
        let range = latents.range(position);
        let moved = graph.input("moved", [range.len()]);
        let zeros = |length: usize| graph.full([length], 0.0);
        let parts = [zeros(range.start), moved, zeros(latents.size() - range.end)];
        let along = graph.concat(&parts, 0);
        if is_zero(graph.jvp(&[value], &[at.latents], &[along])[0]) {
            continue;
        }
        if numbers.len() + range.len() > MOST {
            return None;
        }
        let entry = |place: usize| at.latents.entry(place).broadcast([rows]);
        numbers.extend(range.map(entry));
    }
    Some(numbers)
}
