//! Sums over all rows: those of this process, or elsewhere.

use std::collections::BTreeMap;
use std::sync::Mutex;

use lehr_density::{Density, Point, Rows, Take};
use lehr_graph::Expr;

use crate::condensed;
use crate::likelihood::LANES;
use crate::pass::{Argument, Pass};
use crate::streamed::RowSums;

pub use lehr_density::{FullData, Query};

/// All rows of a density, wherever they are.
pub enum AllRows<'d> {
    /// In this process.
    Here(LocalRows<'d>),
    /// Where [`Density::elsewhere`] says.
    Elsewhere(&'d (dyn FullData + Send + Sync)),
}

impl<'d> AllRows<'d> {
    /// The rows that the density's posterior is of.
    pub fn of(density: &'d dyn Density) -> AllRows<'d> {
        match density.elsewhere() {
            Some(rows) => AllRows::Elsewhere(rows),
            None => AllRows::Here(LocalRows::new(density)),
        }
    }
}

impl FullData for AllRows<'_> {
    fn each(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<Vec<f64>>> {
        match self {
            AllRows::Here(rows) => rows.each(query, arguments),
            AllRows::Elsewhere(rows) => rows.each(query, arguments),
        }
    }

    fn in_order(&self, query: Query, arguments: &[&[f64]], take: &mut Take<'_>) {
        match self {
            AllRows::Here(rows) => rows.in_order(query, arguments, take),
            AllRows::Elsewhere(rows) => rows.in_order(query, arguments, take),
        }
    }

    fn sum(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<f64>> {
        match self {
            AllRows::Here(rows) => rows.sum(query, arguments),
            AllRows::Elsewhere(rows) => rows.sum(query, arguments),
        }
    }
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
    /// One partition. However many lanes are asked for, few are computed side by side.
    fn each(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<Vec<f64>>> {
        vec![match query {
            Query::Triangle => condensed::triangle(self.density),
            Query::GroupSums => {
                let mut sums = RowSums::default();
                let mut passing = sums.ask(self.density, query, arguments);
                passing.see(self.density.source());
                passing.finish()
            }
            Query::LogLikelihood { lanes } if lanes > LANES => self.by_lanes(lanes, arguments),
            _ => self.sum(query, arguments),
        }]
    }

    fn sum(&self, query: Query, arguments: &[&[f64]]) -> Vec<Vec<f64>> {
        let mut passes = self.passes.lock().expect("no query panics half-way");
        let pass = passes
            .entry(query)
            .or_insert_with(|| pass(query, self.density));
        pass.run(arguments).to_vec()
    }
}

impl LocalRows<'_> {
    /// Log likelihoods of many z, some at a time.
    fn by_lanes(&self, lanes: usize, arguments: &[&[f64]]) -> Vec<Vec<f64>> {
        let size = self.density.latents().size();
        let query = Query::LogLikelihood { lanes: LANES };
        let mut block = vec![0.0; LANES * size];
        let mut values = Vec::with_capacity(lanes);
        for some in arguments[0].chunks(LANES * size) {
            block[..some.len()].copy_from_slice(some);
            let sums = self.sum(query, &[&block, arguments[1]]);
            // A likelihood that does not depend on z is the same for every lane.
            values.extend(sums[0].iter().cycle().take(some.len() / size));
        }
        vec![values]
    }
}

/// The pass that computes a query.
fn pass(query: Query, density: &dyn Density) -> Pass<'_> {
    let question = Question { query, density };
    let sizes = question.arguments();
    Pass::new(density, question.lanes(), &sizes, |inputs, rows| {
        question.write(inputs, rows)
    })
}

const TALLIED: &str = "rows are tallied by a reader of their own";

/// A query about a model: what it takes, and what it computes of some rows.
pub(crate) struct Question<'d> {
    pub(crate) query: Query,
    pub(crate) density: &'d dyn Density,
}

impl Question<'_> {
    /// Arrays that are computed side by side.
    pub(crate) fn lanes(&self) -> usize {
        match self.query {
            Query::LogLikelihood { lanes } | Query::HessianProducts { lanes } => lanes,
            Query::Slopes => 1,
            Query::GroupSums => unreachable!("{TALLIED}"),
            Query::Triangle => condensed::width(self.density),
        }
    }

    pub(crate) fn arguments(&self) -> Vec<Argument> {
        let latents = self.density.latents().size();
        let params = Argument::Shared(self.density.params().size());
        match self.query {
            Query::LogLikelihood { .. } => vec![Argument::PerLane(latents), params],
            Query::Slopes => vec![Argument::Shared(latents), params],
            Query::GroupSums => unreachable!("{TALLIED}"),
            Query::HessianProducts { .. } => {
                let z = Argument::Shared(latents);
                vec![z, params, Argument::PerLane(latents)]
            }
            Query::Triangle => vec![Argument::Shared(latents), Argument::PerLane(latents)],
        }
    }

    /// The functions of some rows; those of a triangle are numbers of each row.
    pub(crate) fn write<'g>(&self, inputs: &[Expr<'g>], rows: &Rows<'g>) -> Vec<Expr<'g>> {
        if self.query == Query::Triangle {
            let own = self.density.gaussian().expect("it was asked before");
            return condensed::row_terms(own, inputs, rows);
        }
        let at = Point::new(inputs[0], inputs[1]);
        let value = self.density.log_likelihood(&at, rows).sum();
        let graph = at.graph();
        match self.query {
            Query::Slopes => {
                let slopes = graph.grad(value, inputs);
                std::iter::once(value).chain(slopes).collect()
            }
            Query::HessianProducts { .. } => {
                let slope = graph.grad(value, &[at.latents])[0];
                graph.jvp(&[slope], &[at.latents], &[inputs[2]])
            }
            Query::LogLikelihood { .. } | Query::Triangle => vec![value],
            Query::GroupSums => unreachable!("{TALLIED}"),
        }
    }
}
