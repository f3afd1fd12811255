//! Fits of regressions: results, predictions, scores, files and error messages.

#[path = "../../../regression/tests/fixture/mod.rs"]
mod fixture;

mod by;
mod cluster;
mod covariate;
mod distinct;
mod effect;
mod explained;
mod fit;
mod induced;
mod limited;
mod loo;
mod monotonic;
mod open;
mod prediction;
mod prior;
mod process;
mod row_effect;
mod several;
mod shrinkage;
mod smooth;
mod spared;
mod spline;
mod streamed;
mod sums;
mod varied;

use lehr_density::{Density, Point, RowSet, Rows};
use lehr_graph::Graph;
use lehr_graph::reference::evaluate;

use fixture::{
    category, coefficients, densities, names, near, normal, number, point, refusal, regression,
    row_values, sigmoid,
};

/// The rows' log likelihoods given one local latent per row.
fn joint(density: &dyn Density, z: &[f64], own: &[f64]) -> Vec<f64> {
    let graph = Graph::new();
    let at = Point::new(graph.input("z", [z.len()]), graph.input("theta", [0]));
    let set = RowSet::Range(0..density.n_rows());
    let locals = graph.input("own", [set.len(), 1]);
    let rows = Rows::inputs(&graph, density.columns(), set.len(), "row.");
    let values = row_values(density, &rows, &set).with(at.latents, z);
    let values = values.with(at.params, &[]).with(locals, own);
    let told = density.locals().expect("latents of rows");
    let output = told.log_joint(&at, &rows.with_locals(locals));
    evaluate(&[output], &values, 1).remove(0)
}
