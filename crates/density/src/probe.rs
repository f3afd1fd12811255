//! A symbolic point and a few symbolic rows, by which a density's program is looked at.

use lehr_graph::Graph;

use crate::{Density, Point, Rows};

/// A point and a few rows, to look at what a model's program is made of.
pub fn probe<'g>(graph: &'g Graph, density: &dyn Density) -> (Point<'g>, Rows<'g>) {
    let at = Point::new(
        graph.input("latents", [density.latents().size()]),
        graph.input("params", [density.params().size()]),
    );
    let rows = Rows::inputs(graph, density.columns(), 3.min(density.n_rows()), "");
    (at, rows)
}
