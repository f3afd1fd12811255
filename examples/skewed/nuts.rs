//! The reference: a long run of the No-U-Turn sampler on all rows.

use std::collections::HashMap;
use std::convert::Infallible;

use lehr::density::{Density, Point, RowColumn, RowSet, Rows};
use lehr::graph::{Graph, Plan, Slot, Workspace};
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, Settings, rand,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::Result;

/// The log density of a model on all its rows, with its gradient.
struct LogDensity {
    plan: Plan,
    workspace: Workspace,
    latents: Slot,
    size: usize,
}

impl LogDensity {
    fn new(density: &dyn Density) -> LogDensity {
        let graph = Graph::new();
        let size = density.latents().size();
        let at = Point::new(graph.input("z", [size]), graph.input("params", [0]));
        let rows = Rows::inputs(&graph, density.columns(), density.n_rows(), "row.");
        let value = density.log_prior(&at) + density.log_likelihood(&at, &rows).sum();
        let slope = graph.grad(value, &[at.latents])[0];
        let plan = Plan::new(&[value, slope], 1);
        let mut workspace = plan.workspace();
        let all = RowSet::Range(0..density.n_rows());
        for (place, (_, column)) in rows.columns().enumerate() {
            let Some(slot) = plan.input(column.expr()) else {
                continue;
            };
            let source = density.source();
            match column {
                RowColumn::Index(_) => {
                    source.copy_indices(place, &all, workspace.indices_mut(slot));
                }
                RowColumn::Numbers(_) => {
                    source.copy_numbers(place, &all, workspace.numbers_mut(slot));
                }
            }
        }
        let latents = plan.input(at.latents).expect("a density of its latents");
        LogDensity {
            plan,
            workspace,
            latents,
            size,
        }
    }
}

impl HasDims for LogDensity {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_owned(), self.size as u64)])
    }
}

/// The evaluation cannot fail; a value that is not finite is a divergence.
#[derive(Debug, thiserror::Error)]
#[error("the log density cannot fail")]
struct Failure(Infallible);

impl nuts_rs::LogpError for Failure {
    fn is_recoverable(&self) -> bool {
        match self.0 {}
    }
}

impl CpuLogpFunc for LogDensity {
    type LogpError = Failure;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.size
    }

    fn logp(&mut self, z: &[f64], slope: &mut [f64]) -> std::result::Result<f64, Failure> {
        self.workspace.set(self.latents, z);
        self.plan.run(&mut self.workspace);
        slope.copy_from_slice(self.workspace.output(1));
        Ok(self.workspace.output(0)[0])
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        z: &[f64],
    ) -> std::result::Result<Vec<f64>, CpuMathError> {
        Ok(z.to_vec())
    }
}

/// Returns `count` draws, one flat z after another. A quarter as many iterations tune the sampler.
pub(crate) fn draws(density: &dyn Density, start: &[f64], count: usize) -> Result<Vec<f64>> {
    let mut settings = DiagNutsSettings {
        num_tune: count as u64 / 4,
        num_draws: count as u64,
        ..DiagNutsSettings::default()
    };
    // A high target acceptance rate, so that steps are small in the narrow parts of a posterior.
    settings.adapt_options.step_size_settings.target_accept = 0.95;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let math = CpuMath::new(LogDensity::new(density));
    let mut chain = settings.new_chain(0, math, &mut random)?;
    chain.set_position(start)?;
    let mut kept = Vec::with_capacity(count * start.len());
    for step in 0..count + count / 4 {
        let (draw, _) = chain.draw()?;
        if step >= count / 4 {
            kept.extend_from_slice(&draw);
        }
    }
    Ok(kept)
}
