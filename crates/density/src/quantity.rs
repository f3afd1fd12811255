//! Named quantities of a model besides its sites, for each of many draws.

use lehr_graph::{Expr, Graph, Plan};

use crate::{Point, SiteValue};

/// Flat, unconstrained draws, of which quantities are functions.
#[derive(Clone, Copy, Debug)]
pub struct FlatDraws<'a> {
    /// One z after another.
    pub latents: &'a [f64],
    /// Numbers in one z.
    pub size: usize,
    /// θ, which all draws share.
    pub params: &'a [f64],
}

/// The values of quantities for each draw, draw after draw. `build` writes them at a point.
pub fn quantities(
    draws: FlatDraws<'_>,
    build: impl for<'g> Fn(&Point<'g>) -> Vec<(String, Expr<'g>)>,
) -> Vec<SiteValue> {
    let graph = Graph::new();
    let point = Point::inputs(&graph, [draws.size, draws.params.len()]);
    let named = build(&point);
    if named.is_empty() {
        return Vec::new();
    }
    let outputs: Vec<Expr<'_>> = named.iter().map(|(_, value)| *value).collect();
    let plan = Plan::new(&outputs, 1);
    let mut workspace = plan.workspace();
    workspace.set_input(plan.input(point.params), draws.params);
    let empty = |(name, value): (String, Expr<'_>)| SiteValue {
        name,
        dims: value.shape().dims().to_vec(),
        values: Vec::new(),
    };
    let mut values: Vec<SiteValue> = named.into_iter().map(empty).collect();
    for draw in draws.latents.chunks_exact(draws.size.max(1)) {
        workspace.set_input(plan.input(point.latents), draw);
        plan.run(&mut workspace);
        for (place, value) in values.iter_mut().enumerate() {
            value.values.extend_from_slice(workspace.output(place));
        }
    }
    values
}
