//! Derivatives of a density as expressions, and what they show of its dependence structure.

use lehr_density::{Density, Layout, Point, Rows};
use lehr_graph::{Expr, Graph};

/// A direction with an input for each of these sites.
fn direction<'g>(graph: &'g Graph, latents: &Layout, sites: &[usize]) -> Expr<'g> {
    let part = |position: usize| {
        let length = latents.range(position).len();
        if sites.contains(&position) {
            graph.input(&format!("along {position}"), [length])
        } else {
            graph.full([length], 0.0)
        }
    };
    let parts: Vec<Expr<'g>> = (0..latents.sites().len()).map(part).collect();
    graph.concat(&parts, 0)
}

/// The derivative along some sites.
fn along<'g>(at: &Point<'g>, latents: &Layout, value: Expr<'g>, sites: &[usize]) -> Expr<'g> {
    let direction = direction(at.graph(), latents, sites);
    at.graph().jvp(&[value], &[at.latents], &[direction])[0]
}

/// The function of which mixed derivatives are taken.
#[derive(Clone, Copy)]
pub(crate) enum ModelPart {
    Prior,
    Predictor,
}

/// Whether the slope of the function along some sites depends on others.
pub(crate) fn slope_depends_on(
    (density, of): (&dyn Density, ModelPart),
    some: &[usize],
    others: &[usize],
) -> bool {
    let graph = Graph::new();
    let latents = density.latents();
    let at = Point::inputs(&graph, [latents.size(), 0]);
    let value = match (of, density.split()) {
        (ModelPart::Predictor, Ok(split)) => {
            let rows = Rows::inputs(&graph, density.columns(), 2, "rows.");
            split.predictor(&at, &rows)
        }
        _ => density.log_prior(&at),
    };
    let once = along(&at, latents, value, some);
    let mixed = along(&at, latents, once, others);
    mixed.as_number() != Some(0.0)
}

/// Whether a named quantity of the model depends on a site.
pub(crate) fn quantity_reads_site(density: &dyn Density, site: usize) -> bool {
    let Some(predictive) = density.predictive() else {
        return false;
    };
    let graph = Graph::new();
    let latents = density.latents();
    let at = Point::inputs(&graph, [latents.size(), density.params().size()]);
    let named = predictive.deterministics(&at);
    let reads = |value: Expr<'_>| along(&at, latents, value, &[site]).as_number() != Some(0.0);
    named.into_iter().any(|(_, value)| reads(value))
}

/// The point with these latents of a density without parameters.
pub(crate) fn point_at(latents: Expr<'_>) -> Point<'_> {
    Point::new(latents, latents.graph().full([0], 0.0))
}

/// The slope and the curvature of the rows' values in their predictors.
pub(crate) fn derivatives<'g>(values: Expr<'g>, predictors: Expr<'g>) -> [Expr<'g>; 2] {
    let graph = values.graph();
    let slope = graph.grad(values.sum(), &[predictors])[0];
    let ones = graph.full(predictors.shape(), 1.0);
    let curve = graph.jvp(&[slope], &[predictors], &[ones])[0];
    [slope, curve]
}
