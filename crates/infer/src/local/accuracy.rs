//! The error of quadrature.

use lehr_density::{Nodes, Point, RowSet, Rows, rows_here};
use lehr_graph::{Graph, Plan};
use serde::{Deserialize, Serialize};

use super::IntegratedDensity;
use crate::estimate::short;
use lehr_rows::lend::{copy_rows, read_columns};

/// Rows from which the error of all is estimated.
const ROWS: usize = 512;
/// The number of draws at which it is estimated.
const DRAWS: usize = 8;
/// The nodes per latent beyond which more do not help. With more than two latents, the most nodes
/// available.
const MOST_NODES: [usize; 2] = [128, 36];

/// The quadrature over local latents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Integration {
    /// Nodes per latent.
    pub nodes: usize,
    /// The change in Σ log p(yₙ | z) over all rows if more nodes are used (twice as many for up to
    /// two latents), in nats, estimated from some of the rows at some of the draws.
    pub error: f64,
}

impl Integration {
    /// The error in nats above which more nodes are used.
    pub const MOST_ERROR: f64 = 1.0;

    /// The accuracy of the quadrature at draws of the posterior, one flat z after another.
    pub fn measured(
        integrated: &IntegratedDensity<'_>,
        draws: &[f64],
        params: &[f64],
    ) -> Integration {
        let nodes = integrated.nodes();
        let density = integrated.inner();
        let rows = density.n_rows().min(ROWS);
        let size = density.latents().size();
        let lanes = (draws.len() / size.max(1)).clamp(1, DRAWS);
        let graph = Graph::new();
        let latents = graph.laned_input("latents", [size]);
        let params_input = graph.input("params", [params.len()]);
        let at = Point::new(latents, params_input);
        let data = Rows::inputs(&graph, density.columns(), rows, "rows.");
        let locals = density.locals().expect("a density with local latents");
        let by = |nodes: &Nodes| nodes.log_likelihood(locals, &at, &data);
        let error = (by(nodes) - by(&nodes.finer_rule()))
            .abs()
            .sum()
            .mean_lanes();
        let plan = Plan::new(&[error], lanes);
        let mut workspace = plan.workspace();
        let some = RowSet::Range(0..rows);
        let columns = read_columns(&plan, &data);
        copy_rows(
            &mut workspace,
            rows_here(density).batch_order(),
            &some,
            &columns,
        );
        if let Some(slot) = plan.input(latents) {
            workspace.set(slot, &spaced(draws, size, lanes));
        }
        if let Some(slot) = plan.input(params_input) {
            workspace.set(slot, params);
        }
        plan.run(&mut workspace);
        Integration {
            nodes: nodes.per_dimension(),
            error: workspace.output(0)[0] * density.n_rows() as f64 / rows as f64,
        }
    }

    /// The integration over the latents of these names, in words.
    pub(crate) fn words(&self, names: &str) -> String {
        let Integration { nodes, error } = *self;
        format!(
            "{names} integrated out by {nodes} nodes, error {} nats",
            short(error)
        )
    }

    /// Whether more nodes are needed and available.
    pub fn asks_for_more(&self, dimensions: usize) -> bool {
        let is_small = self.error <= Integration::MOST_ERROR;
        let most = MOST_NODES.get(dimensions - 1);
        !is_small && most.is_some_and(|most| 2 * self.nodes <= *most)
    }
}

/// `count` draws, evenly spaced among all.
fn spaced(draws: &[f64], size: usize, count: usize) -> Vec<f64> {
    let stride = (draws.len() / size.max(1) / count).max(1);
    let chosen = draws.chunks_exact(size.max(1)).step_by(stride).take(count);
    chosen.flatten().copied().collect()
}
