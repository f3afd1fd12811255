//! The point at which a density is evaluated.

use lehr_graph::{Expr, Graph};

/// A point in the space of a model: its latents and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Point<'g> {
    /// The flat unconstrained latents z, of shape `[latents.size()]`; may be laned.
    pub latents: Expr<'g>,
    /// The flat unconstrained parameters θ, of shape `[params.size()]`; without lanes.
    pub params: Expr<'g>,
}

impl<'g> Point<'g> {
    /// A point of these coordinates.
    pub fn new(latents: Expr<'g>, params: Expr<'g>) -> Point<'g> {
        Point { latents, params }
    }

    /// A point whose latents and parameters are inputs of a graph, with these numbers of each.
    pub fn inputs(graph: &'g Graph, [latents, params]: [usize; 2]) -> Point<'g> {
        Point::new(
            graph.input("latents", [latents]),
            graph.input("params", [params]),
        )
    }

    /// The graph the point lives in.
    pub fn graph(&self) -> &'g Graph {
        self.latents.graph()
    }
}
