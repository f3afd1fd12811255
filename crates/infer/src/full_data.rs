//! Sums over all rows: what a query asks for, and who answers it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use lehr_density::{Density, Point};
use serde::{Deserialize, Serialize};

use crate::pass::{Argument, Pass};

/// What is summed over all rows. It is data, and means the same to everybody who has the model: the
/// program that [`Density::origin`] stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Query {
    /// log p(yₙ | z, xₙ) of one z per lane. Arguments: z of every lane, θ.
    LogLikelihood {
        /// How many z there are.
        lanes: usize,
    },
    /// log p(yₙ | z, xₙ) and its slopes in z and in θ. Arguments: z, θ.
    Slopes,
    /// The Hessian of log p(yₙ | z, xₙ) in z times one direction per lane. Arguments: z, θ, the
    /// direction of every lane.
    HessianProducts {
        /// How many directions there are.
        lanes: usize,
    },
}

/// Somebody who can sum over all rows, wherever they are.
///
/// Rows are divided into partitions that do not depend on who computes them, and their sums are
/// added in the order of the partitions: the same query has the same answer, bit for bit.
pub trait FullData {
    /// The sums of a query's functions at these arguments, one array per function. A function that
    /// depends on no lane has one value for all of them.
    fn sum(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<f64>>;
}

/// All rows of a density in this process: one partition where they are in memory, else one after
/// another as they are read. Queries are compiled when they are first asked.
pub struct LocalRows<'d> {
    density: &'d dyn Density,
    passes: Mutex<BTreeMap<Query, Pass<'d>>>,
}

impl<'d> LocalRows<'d> {
    /// The rows behind a density.
    pub fn new(density: &'d dyn Density) -> LocalRows<'d> {
        LocalRows {
            density,
            passes: Mutex::default(),
        }
    }
}

impl FullData for LocalRows<'_> {
    fn sum(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<f64>> {
        let mut passes = self.passes.lock().expect("no query panics half-way");
        let pass = passes
            .entry(query)
            .or_insert_with(|| query.pass(self.density));
        pass.run(arguments).to_vec()
    }
}

impl Query {
    fn pass(self, density: &dyn Density) -> Pass<'_> {
        let (latents, params) = (density.latents().size(), density.params().size());
        match self {
            Query::LogLikelihood { lanes } => {
                let sizes = [Argument::PerLane(latents), Argument::Shared(params)];
                Pass::new(density, lanes, &sizes, |inputs, rows| {
                    let at = Point::new(inputs[0], inputs[1]);
                    vec![density.log_likelihood(&at, rows).sum()]
                })
            }
            Query::Slopes => {
                let sizes = [Argument::Shared(latents), Argument::Shared(params)];
                Pass::new(density, 1, &sizes, |inputs, rows| {
                    let at = Point::new(inputs[0], inputs[1]);
                    let value = density.log_likelihood(&at, rows).sum();
                    let mut outputs = vec![value];
                    outputs.extend(at.graph().grad(value, inputs));
                    outputs
                })
            }
            Query::HessianProducts { lanes } => {
                let [z, theta] = [Argument::Shared(latents), Argument::Shared(params)];
                let sizes = [z, theta, Argument::PerLane(latents)];
                Pass::new(density, lanes, &sizes, |inputs, rows| {
                    let at = Point::new(inputs[0], inputs[1]);
                    let graph = at.graph();
                    let value = density.log_likelihood(&at, rows).sum();
                    let slope = graph.grad(value, &[at.latents])[0];
                    graph.jvp(&[slope], &[at.latents], &[inputs[2]])
                })
            }
        }
    }
}
