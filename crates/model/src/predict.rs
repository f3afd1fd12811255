//! Numeric draws of what a model has not seen: latents from the prior, responses of rows.

use std::cell::RefCell;

use lehr_density::{Columns, Density, Point, Response, RowColumn, RowSet, RowSource, Rows};
use lehr_graph::reference::{Values, evaluate};
use lehr_graph::{Expr, Graph};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use thiserror::Error;

use crate::bound::Bound;
use crate::distribution::draw_batch;
use crate::supply::{Drawn, Supply, by_name};

/// A prior from which no usable draw was found.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "site {name:?}: expected draws strictly inside the support, found none in 100\n  hint: the prior puts nearly all its mass on the edge; give it a larger scale or shape"
)]
pub struct PriorError {
    /// The site.
    pub name: String,
}

/// Draws of one observed column, one per row.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The column.
    pub name: String,
    /// Numbers per row.
    pub width: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Bound {
    /// A draw of the prior as a flat unconstrained vector, at the parameters `params` (flat
    /// and unconstrained too). Factors are not part of it: nothing can be drawn from them.
    pub fn draw_prior(&self, params: &[f64], random: &mut dyn Rng) -> Result<Vec<f64>, PriorError> {
        let graph = Graph::new();
        let theta = graph.constant([params.len()], params);
        let drawn = Drawn {
            params: by_name(self.params(), theta),
            random: RefCell::new(ChaCha8Rng::seed_from_u64(random.next_u64())),
            free: RefCell::default(),
        };
        let free = self.trace_drawn(&graph, drawn);
        let mut flat = Vec::with_capacity(self.latents().size());
        for (name, draw) in free {
            flat.extend(draw.ok_or(PriorError { name })?);
        }
        Ok(flat)
    }

    /// A draw of every observed column of some rows, given latents and parameters (flat and
    /// unconstrained). The columns and the source are those of the density, or those that
    /// [`Bound::rows_of`] makes of another table.
    pub fn draw_responses(
        &self,
        at: (&[f64], &[f64]),
        from: (&Columns, &dyn RowSource),
        rows: &RowSet<'_>,
        random: &mut dyn Rng,
    ) -> Vec<Predicted> {
        let graph = Graph::new();
        let latents = graph.constant([at.0.len()], at.0);
        let point = Point::new(latents, graph.constant([at.1.len()], at.1));
        let (inputs, values) = filled(&graph, from, rows);
        let responses = self.responses(&point, &inputs);
        let draw = |response| draw_response(response, &values, rows.len(), random);
        responses.iter().map(draw).collect()
    }

    /// One data set of all rows of the table, drawn from the prior at the parameters' start.
    pub fn prior_predictive(&self, random: &mut dyn Rng) -> Result<Vec<Predicted>, PriorError> {
        let params = self.params().start();
        let latents = self.draw_prior(params, random)?;
        Ok(self.posterior_predictive(&latents, params, random))
    }

    /// One data set of all rows of the table, given a draw of the posterior.
    pub fn posterior_predictive(
        &self,
        latents: &[f64],
        params: &[f64],
        random: &mut dyn Rng,
    ) -> Vec<Predicted> {
        let all = RowSet::Range(0..self.n_rows());
        let from = (self.columns(), self.source());
        self.draw_responses((latents, params), from, &all, random)
    }

    fn trace_drawn<'g>(
        &self,
        graph: &'g Graph,
        drawn: Drawn<'g>,
    ) -> Vec<(String, Option<Vec<f64>>)> {
        let supply = Supply::Drawn(Box::new(drawn));
        match self.trace_with(graph, supply) {
            Supply::Drawn(drawn) => drawn.free.into_inner(),
            _ => unreachable!("the supply that was given"),
        }
    }
}

/// Rows as inputs of a graph, and the values of those inputs.
fn filled<'g>(
    graph: &'g Graph,
    (columns, source): (&Columns, &dyn RowSource),
    set: &RowSet<'_>,
) -> (Rows<'g>, Values) {
    let rows = Rows::inputs(graph, columns, set.len(), "");
    let mut values = Values::new();
    for (place, (column, (_, input))) in columns.iter().zip(rows.columns()).enumerate() {
        values = match input {
            RowColumn::Numbers(expr) => {
                let mut numbers = vec![0.0; set.len() * column.kind.width()];
                source.copy_numbers(place, set, &mut numbers);
                values.with(expr, &numbers)
            }
            RowColumn::Index(indices) => {
                let mut numbers = vec![0; set.len()];
                source.copy_indices(place, set, &mut numbers);
                values.with_indices(indices.expr(), &numbers)
            }
        };
    }
    (rows, values)
}

fn draw_response(
    response: &Response<'_>,
    values: &Values,
    rows: usize,
    random: &mut dyn Rng,
) -> Predicted {
    let exprs: Vec<Expr<'_>> = response.parameters.iter().map(|(_, expr)| *expr).collect();
    let numbers = evaluate(&exprs, values, 1);
    let parameters: Vec<&[f64]> = numbers.iter().map(Vec::as_slice).collect();
    let event = response.kind.width();
    // Independent numbers of a row are events of their own.
    let events = match response.mean.map(|mean| mean.shape().size()) {
        Some(size) => size / event.max(1),
        None => rows,
    };
    let mut draw = vec![0.0; events * event];
    draw_batch(response.family, &parameters, events, random, &mut draw);
    Predicted {
        name: response.name.clone(),
        width: draw.len() / rows.max(1),
        values: draw,
    }
}
