//! Sums over all rows: those of this process, or elsewhere.

use std::collections::BTreeMap;
use std::sync::Mutex;

use lehr_density::{Density, Take};

use crate::condensed;
use crate::question::Question;
use crate::streamed::RowSums;
use lehr_density::rows_here;
use lehr_rows::{LANES, RowPass};

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
    passes: Mutex<BTreeMap<Query, RowPass<'d>>>,
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
fn pass(query: Query, density: &dyn Density) -> RowPass<'_> {
    let question = Question { query, density };
    let sizes = question.arguments();
    RowPass::new(
        rows_here(density),
        question.lanes(),
        &sizes,
        |inputs, rows| question.write(inputs, rows),
    )
}
