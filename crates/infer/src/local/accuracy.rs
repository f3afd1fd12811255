//! The error of quadrature.

use lehr_density::{Nodes, Point, rows_here};
use lehr_rows::{Argument, RowProgram};
use serde::{Deserialize, Serialize};

use super::IntegratedDensity;
use crate::estimate::short;

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
        let locals = density.locals().expect("a density with local latents");
        let sizes = [Argument::PerLane(size), Argument::Shared(params.len())];
        let shape = (lanes, rows);
        let mut program = RowProgram::new(density.columns(), shape, &sizes, &|inputs, rows| {
            let at = Point::new(inputs[0], inputs[1]);
            let by = |nodes: &Nodes| nodes.log_likelihood(locals, &at, rows);
            let change = by(nodes) - by(&nodes.finer_rule());
            vec![change.abs().sum().mean_lanes()]
        });
        program.place(rows_here(density).batch_order(), 0..rows);
        let found = program.run(&[&spaced(draws, size, lanes), params]);
        Integration {
            nodes: nodes.per_dimension(),
            error: found.output(0)[0] * density.n_rows() as f64 / rows as f64,
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
