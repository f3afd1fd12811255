//! Detects rows that depend on the latents through a few affine functions.

use lehr_density::{Layout, Point, Predictors};
use lehr_graph::Expr;

/// The most parameters of a row, and the most latents shared by all rows, that count as few.
const MOST: usize = 16;

/// The affine functions of the latents through which alone the latents enter these parameters. A
/// parameter may be a function of an affine one, as a rate is of its logarithm. Another, such as a
/// noise scale, may depend on a few entries of z that all rows share. `None` if it depends on more.
pub(crate) fn linear_predictors<'g>(
    at: &Point<'g>,
    latents: &Layout,
    parameters: &[Expr<'g>],
) -> Option<Predictors<'g>> {
    let mut found = Predictors::default();
    for parameter in parameters {
        let parts = match affine_part(at, *parameter) {
            Affinity::Curved => linear_factors(at, *parameter).unwrap_or_else(|| vec![*parameter]),
            _ => vec![*parameter],
        };
        for part in parts {
            let affine = match affine_part(at, part) {
                Affinity::Constant => continue,
                _ if part.shape() != parameter.shape() => None,
                Affinity::Affine => Some(part),
                Affinity::Curved => linked_predictor(at, part),
            };
            match affine {
                Some(affine) => add_rows(&mut found.rows, affine),
                None => add_shared(&mut found.shared, at, latents, part)?,
            }
        }
    }
    (found.rows.len() + found.shared.len() <= MOST).then_some(found)
}

/// Both operands of a product or similar, if one is a function of an affine array and the other is
/// the same in all rows, as in a mean times a precision. An affine array times a scale is excluded,
/// because their product has no useful mode.
fn linear_factors<'g>(at: &Point<'g>, parameter: Expr<'g>) -> Option<Vec<Expr<'g>>> {
    let sides = parameter.arguments()?;
    let is_side = |side: &Expr<'g>| {
        let is_shared = side.shape() != parameter.shape();
        is_shared || linked_predictor(at, *side).is_some()
    };
    sides.iter().all(is_side).then(|| sides.to_vec())
}

/// The affine argument of the parameter, if it is a function of one. Signs are ignored, so that u
/// and −u are one argument.
fn linked_predictor<'g>(at: &Point<'g>, parameter: Expr<'g>) -> Option<Expr<'g>> {
    let inner = std::iter::successors(parameter.argument(), |expr| expr.argument());
    inner
        .filter(|expr| matches!(affine_part(at, *expr), Affinity::Affine))
        .last()
}

/// Whether replacing by `other` leaves the gradients of all these values in the latents unchanged.
pub(crate) fn is_shift<'g>(at: &Point<'g>, values: &[Expr<'g>], other: Expr<'g>) -> bool {
    let graph = at.graph();
    let along = graph.input("direction", at.latents.shape());
    let is_free = |value: &Expr<'g>| {
        let slope = graph.jvp(&[*value], &[at.latents], &[along])[0];
        is_zero(graph.grad(slope, &[other])[0])
    };
    values.iter().all(is_free)
}

/// The dependence of an expression on the latents.
pub(crate) enum Affinity {
    Constant,
    Affine,
    Curved,
}

/// The directional derivative of an affine function does not depend on the point, and the graph
/// simplifies the gradient of such a derivative to a zero expression. Functions with kinks or jumps
/// have such derivatives without being affine, so they are excluded first.
pub(crate) fn affine_part<'g>(at: &Point<'g>, value: Expr<'g>) -> Affinity {
    if !value.is_smooth_in(at.latents) {
        return Affinity::Curved;
    }
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

/// Adds the columns of `[n, width]` one by one, or `[n]` itself, unless they are present.
fn add_rows<'g>(found: &mut Vec<Expr<'g>>, value: Expr<'g>) {
    let shape = value.shape();
    let rows = shape.dims()[0];
    let flat = value.reshape([rows, shape.size() / rows.max(1)]);
    for k in 0..flat.shape().dims()[1] {
        let column = flat.slice(1, k..k + 1).reshape([rows]);
        if !found.iter().any(|known| known.is(column)) {
            found.push(column);
        }
    }
}

/// Adds the entries of z on which `value` depends; `None` if they are many.
fn add_shared<'g>(
    found: &mut Vec<usize>,
    at: &Point<'g>,
    latents: &Layout,
    value: Expr<'g>,
) -> Option<()> {
    let ranges = (0..latents.sites().len()).map(|site| latents.range(site));
    let parts: Vec<Expr<'g>> = (ranges.clone())
        .map(|range| at.latents.slice(0, range))
        .collect();
    let read = value.parts_read(at.latents, &parts)?;
    let places: Vec<usize> = (ranges.zip(read))
        .filter(|(_, is_read)| *is_read)
        .flat_map(|(range, _)| range)
        .collect();
    if places.len() > MOST {
        return None;
    }
    for place in places {
        if !found.contains(&place) {
            found.push(place);
        }
    }
    Some(())
}
