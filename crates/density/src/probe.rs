//! A symbolic point and a few symbolic rows, for the analysis of a density's program.

use lehr_graph::Graph;

use crate::{Density, Point, Rows};

/// A point and a few rows, for the analysis of a model's program.
pub fn probe_rows<'g>(graph: &'g Graph, density: &dyn Density) -> (Point<'g>, Rows<'g>) {
    let at = Point::inputs(graph, [density.latents().size(), density.params().size()]);
    let rows = Rows::inputs(graph, density.columns(), 3.min(density.n_rows()), "");
    (at, rows)
}
